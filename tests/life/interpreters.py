"""Further interpreters in one process: pyarrow refuses them, and so does the package."""

import sys
from contextlib import contextmanager
from functools import partial

from support.threads import in_thread

from . import states, work
from .children import Case

#: Programs for the other interpreter.
ATTEMPT = """
try:
    {}
except (ImportError, OSError) as error:
    assert str(error), "an error without a text"
else:
    raise AssertionError("it works: the package can do more than its documentation says")
"""
IMPORTS = {
    "pyarrow.cuda": "from pyarrow import cuda",
    "the package": "import pyarrow_cuda_compat",
    "its extension": """
    import importlib.util, sys, types
    package = types.ModuleType("pyarrow_cuda_compat")
    package.__path__ = importlib.util.find_spec("pyarrow_cuda_compat").submodule_search_locations
    sys.modules["pyarrow_cuda_compat"] = package
    from pyarrow_cuda_compat import _native
    _native._start("/nowhere/bridge.so")
    """,
}


class Interpreter:
    """Another interpreter of this process, by the module that this Python has for them."""

    def __init__(self, isolated):
        if sys.version_info >= (3, 13):
            import _interpreters

            self._module = _interpreters
            self._id = _interpreters.create("isolated" if isolated else "legacy")
        else:
            import _xxsubinterpreters

            self._module = _xxsubinterpreters
            self._id = _xxsubinterpreters.create(isolated=isolated)

    def run(self, code):
        failure = self._module.run_string(self._id, code)
        assert failure is None, failure

    def destroy(self):
        self._module.destroy(self._id)


@contextmanager
def unharmed():
    """The main interpreter goes on as before."""
    kept = states.buffer()
    yield
    assert kept.to_pybytes() == states.CONTENT
    for name in ("batches", "streams", "files"):
        work.ALL[name]()


def imported(isolated, code, times, is_destroyed):
    with unharmed():
        for _ in range(times):
            interpreter = Interpreter(isolated)
            interpreter.run(ATTEMPT.format(code))
            if is_destroyed:
                interpreter.destroy()


def beside_threads(isolated):
    """Threads of the main interpreter work while others come and go."""
    threads = work.Threads(work.small_copies, 2)
    with unharmed():
        for _ in range(5):
            interpreter = Interpreter(isolated)
            interpreter.run("import json, threading")
            interpreter.destroy()
    threads.stop()


def in_a_thread(isolated):
    """It lives in a thread of the main interpreter."""

    def run():
        interpreter = Interpreter(isolated)
        interpreter.run(ATTEMPT.format(IMPORTS["the package"]))
        interpreter.destroy()

    with unharmed():
        in_thread(run)


def cases(is_quick):
    found = []
    for isolated in (False, True):
        kind = "an isolated" if isolated else "another"
        for name, code in IMPORTS.items():
            for is_destroyed in (False, True):
                end = "is destroyed" if is_destroyed else "is alive at the exit"
                run = partial(imported, isolated, code, 3 if is_destroyed else 1, is_destroyed)
                found.append(Case(f"{kind} interpreter that imports {name} {end}", run))
        found.append(Case(f"{kind} interpreter beside threads", partial(beside_threads, isolated)))
        found.append(Case(f"{kind} interpreter in a thread", partial(in_a_thread, isolated)))
    return found
