"""A stand-in for `numba.cuda` that has what a launch needs, and runs kernels on the host.

Made after numba-cuda 0.27 to 0.30: which class an argument and a stream must be of, who is asked
for the type and for the array of an argument, and what is called after the launch.  A kernel here
is a function that gets the arrays on the device, once for each launch.

`install()` has ``import numba.cuda`` find it in this process, instead of Numba itself; what watches
imports has to come afterwards.
"""

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.util import spec_from_loader

SOURCES = {
    "numba": "",
    "numba.cuda": """
from .args import ArgHint, InOut
from .cudadrv import driver
from .typing.typeof import typeof_impl

class jit:
    def __init__(self, function):
        self.function = function

    def __getitem__(self, configuration):
        stream = driver._to_core_stream((*configuration, 0)[2])

        def launch(*arguments):
            retr = []
            for argument in arguments:
                assert typeof_impl(argument, None) is not None
            hints = [each if isinstance(each, ArgHint) else InOut(each) for each in arguments]
            self.function(*(hint.to_device(retr, stream) for hint in hints))
            for clean_up in retr:
                clean_up()

        return launch
""",
    "numba.cuda.args": """
class ArgHint:
    def __init__(self, value):
        self.value = value

    def to_device(self, retr, stream=0):
        raise NotImplementedError

    @property
    def _numba_type_(self):
        raise TypeError("asked a hint without a value")

class In(ArgHint):
    def to_device(self, retr, stream=0):
        assert hasattr(self.value, "__dlpack__")
        retr.append(lambda: self.value)
        return self.value

class InOut(In):
    pass
""",
    "numba.cuda.cudadrv": "",
    "numba.cuda.cudadrv.driver": """
class driver:
    is_available = False

class Stream:
    def __init__(self, handle):
        self.handle = handle

def _to_core_stream(stream):
    if stream and not isinstance(stream, Stream):
        raise TypeError(f"Expected a Stream object or 0, got {type(stream).__name__}")
    return stream
""",
    "numba.cuda.np": "",
    "numba.cuda.np.numpy_support": "from_dtype = str",
    "numba.cuda.types": """
def Array(dtype, ndim, layout, readonly):
    return f"{'readonly ' if readonly else ''}array({dtype}, {ndim}d, {layout})"
""",
    "numba.cuda.typing": "",
    "numba.cuda.typing.typeof": """
from functools import singledispatch

@singledispatch
def typeof_impl(value, context):
    return getattr(value, "_numba_type_", None)
""",
}


class _Source(Loader):
    def __init__(self, text):
        self.text = text

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(self.text, vars(module))


class _Finder(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name not in SOURCES:
            return None
        return spec_from_loader(name, _Source(SOURCES[name]), is_package=True)


def install():
    sys.meta_path.insert(0, _Finder())
