"""Numba kernels take arrays and streams of its classes, and notify SmartArrays of launches.

With a stand-in for Numba, in processes of their own: classes change for good.
"""

import pytest

from pyarrow_cuda_compat._interop.numba import kernels

LAUNCHES = """
import sys, warnings
warnings.simplefilter("ignore", RuntimeWarning)  # the stand-in has no compiler for the host
import numpy as np
from support.libraries import numba_launches
numba_launches.install()
from pyarrow_cuda_compat import DeviceArray, SmartArray, memory
from support.driver import the_driver
early, stream = SmartArray(np.zeros(4)), memory.stream()
assert "numba" not in sys.modules
import numba.cuda
from numba.cuda.typing.typeof import typeof_impl
count = the_driver().library.cuda_sim_call_count

@numba.cuda.jit
def add_one(array):
    assert type(array) is DeviceArray
    array.copy_to_device(array.copy_to_host() + 1)

def transfers(action):
    names = b"cuMemcpyHtoDAsync_v2", b"cuMemcpyDtoH_v2"
    before = [count(name) for name in names]
    action()
    return [count(name) - was for name, was in zip(names, before)]

in_kernel = transfers(lambda: add_one[1, 1](memory.to_device(np.zeros(4))))
in_kernel[0] -= 1  # which was to_device
def beside(action):
    return [all - own for all, own in zip(transfers(action), in_kernel)]
"""

pytestmark = pytest.mark.simulator  # which counts calls


@pytest.fixture
def run_launches(run_python):
    def run(code):
        # Not on the main thread, where copies begin again on a busy machine, for Ctrl-C.
        work = f"""import threading
thread = threading.Thread(target=exec, args=({LAUNCHES + code!r}, {{}}))
thread.start()
thread.join()
"""
        code, out, error = run_python(work)
        assert (code, error) == (0, "")
        return out.splitlines()

    return run


def test_a_launch_moves_what_is_stale_and_marks_it(run_launches):
    assert run_launches("""
print(beside(lambda: add_one[1, 1](early)))
print(beside(lambda: add_one[1, 1, stream](early)))  # it is on the device already
print(early)
print(beside(lambda: add_one[1, 1](early)))  # nobody else refers to the host's array
held = early.get()
print(beside(lambda: add_one[1, 1, memory.default_stream()](early)))
print(held)
early[0] = 9
print(beside(lambda: add_one[1, 1](early[::2])))
print(held)
""") == [
        "[1, 0]",
        "[0, 0]",
        "[2. 2. 2. 2.]",
        "[0, 0]",
        "[0, 1]",
        "[4. 4. 4. 4.]",
        "[1, 1]",
        "[10.  4.  5.  4.]",
    ]


def test_a_launch_that_fails_marks_nothing(run_launches):
    assert run_launches("""
@numba.cuda.jit
def fail(array):
    raise KeyError
try:
    fail[1, 1](early)
except KeyError:
    print(early._sides.stale)
""") == ["None"]


def test_types_of_arguments(run_launches):
    assert run_launches("""
records = np.zeros((3, 4), [("a", "i4"), ("b", "f8")])
for array in (
    memory.to_device(records), memory.to_device(records).T, memory.to_device(records)[:, ::2],
    memory.to_device(np.broadcast_to(np.zeros(3, "f4"), (2, 3))),
    memory.to_device(np.zeros((), "M8[s]")),
    SmartArray(records), SmartArray(records).T, SmartArray(records)["b"], SmartArray(records)[:, 0],
):
    print(typeof_impl(array, None))
kept = memory.to_device(np.zeros(3))
class ReadOnly:
    __cuda_array_interface__ = kept.__cuda_array_interface__ | {"data": (kept.address, True)}
print(typeof_impl(memory.as_cuda_array(ReadOnly()), None))
""") == [
        "array([('a', '<i4'), ('b', '<f8')], 2d, C)",
        "array([('a', '<i4'), ('b', '<f8')], 2d, F)",
        "array([('a', '<i4'), ('b', '<f8')], 2d, A)",
        "array(float32, 2d, A)",
        "array(datetime64[s], 0d, C)",
        "array([('a', '<i4'), ('b', '<f8')], 2d, C)",
        "array([('a', '<i4'), ('b', '<f8')], 2d, F)",
        "array(float64, 2d, A)",
        "array([('a', '<i4'), ('b', '<f8')], 1d, A)",
        "readonly array(float64, 1d, C)",
    ]


def test_streams_of_this_package_only_by_numbas_class(run_launches):
    assert run_launches("""
from pyarrow_cuda_compat import Stream
try:
    add_one[1, 1, Stream()](early)
except TypeError as error:
    print(error)
print(isinstance(stream, numba.cuda.cudadrv.driver.Stream), int(stream) == stream.handle.value)
""") == ["Expected a Stream object or 0, got Stream", "True True"]


def test_classes_of_several_packages_become_bases():
    class Placeholder:
        pass

    class Operators:
        __slots__ = ()

    class Ours(Placeholder, Operators):
        pass

    class Theirs:
        def theirs(self):
            return "theirs"

    class Others:
        pass

    early = Ours()
    kernels.rebase(Ours, Placeholder, Theirs)
    kernels.rebase(Ours, Placeholder, Others)
    assert Ours.__bases__ == (Theirs, Others, Operators)
    assert isinstance(early, Theirs)
    assert isinstance(early, Others)
    assert early.theirs() == "theirs"
