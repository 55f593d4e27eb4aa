"""First imports by several threads at once.  This module does not import the package itself.

Each import of a module is tried at each moment of another thread's import: whenever that one looks
for a module.  Imports at random moments come on top.
"""

import random
import subprocess
import sys
import threading
import time
from functools import partial

import numpy as np  # noqa: F401  (both are there before each case, which forks from here)
import pyarrow as pa  # noqa: F401

from .children import Case

PICKLE = "PICKLE"
#: Statements that programs may import by, with a use of the imported names.
IMPORTS = {
    "pyarrow.cuda": "from pyarrow import cuda; cuda.Context; cuda.CudaBuffer",
    "pyarrow._cuda": "import pyarrow._cuda as cuda; cuda.Context; cuda.new_host_buffer",
    "the package": "import pyarrow_cuda_compat as cuda; cuda.IpcArrayHandle; cuda.__all__",
    "names": "from pyarrow_cuda_compat import DeviceArray, Stream, from_dlpack",
    "all names": "from pyarrow_cuda_compat import *; DeviceArray",
    "SmartArray": "from pyarrow_cuda_compat import SmartArray; SmartArray",
    "smart_array": "import pyarrow_cuda_compat.smart_array as module; module.SmartArray",
    "memory": "import pyarrow_cuda_compat.memory as module; module.device_array",
    "numba": "import pyarrow_cuda_compat.numba as module; module.memory_manager",
    "info": "import pyarrow_cuda_compat._tools.info, pyarrow_cuda_compat.conformance",
    "pygpu": "import pyarrow_cuda_compat.pygpu as module; module.GPUArray",
    "pygpu.gpuarray": "from pyarrow_cuda_compat.pygpu import gpuarray; gpuarray.GPUArray",
    "a pickle": f"import pickle; assert pickle.loads({PICKLE}).to_pybytes() == b'here'",
    "another package": "import zipfile, importlib.metadata, importlib.util, importlib.resources",
}
USE = """
from pyarrow import cuda
assert cuda.Context().buffer_from_data(b"abc").to_pybytes() == b"abc"
"""
#: How many times the package's import is interrupted at most.
MOMENTS = 40


def a_pickle():
    """Of a buffer; made by a process that has imported the package."""
    code = (
        "import pickle, sys; from pyarrow import cuda;"
        "sys.stdout.buffer.write(pickle.dumps(cuda.Context().buffer_from_data(b'here')))"
    )
    command = [sys.executable, "-c", code]
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


class Importing(threading.Thread):
    """A thread that imports something, and keeps what went wrong."""

    def __init__(self, code, pickled, delay=0.0):
        super().__init__()
        self._code, self._names = code, {PICKLE: pickled}
        self._delay, self.failure = delay, None

    def run(self):
        time.sleep(self._delay)
        try:
            exec(self._code, self._names)
        except BaseException as failure:
            self.failure = failure

    def is_blocked(self):
        """Whether it waits for an import of another thread, as far as its stack tells."""
        frame = sys._current_frames().get(self.ident)
        return frame is not None and frame.f_code.co_name in ("acquire", "_lock_unlock_module")

    def check(self):
        self.join()
        if self.failure is not None:
            raise self.failure


def forget():
    """Has what other packages import, too, imported anew: this process has needed it."""
    kept = ("importlib.machinery", "importlib._bootstrap")
    for name in [*sys.modules]:
        if name.startswith(("importlib.", "zipfile")) and not name.startswith(kept):
            del sys.modules[name]


def at_a_moment(first, second, moment, pickled):
    """Another thread begins its import when the first one looks for its `moment`th module."""
    forget()
    other = Importing(IMPORTS[second], pickled)
    seen, main = [], threading.get_ident()

    def hook(event, arguments):
        if event != "import" or threading.get_ident() != main or other.ident is not None:
            return
        seen.append(arguments[0])
        if len(seen) == moment + 1:
            other.start()
            deadline = time.monotonic() + 0.2
            while other.is_alive() and not other.is_blocked() and time.monotonic() < deadline:
                time.sleep(0.001)

    sys.addaudithook(hook)
    exec(IMPORTS[first], {PICKLE: pickled})
    if other.ident is None:
        return  # there is no such moment
    other.check()
    exec(USE, {})


def at_random(seed, pickled):
    """Many threads at once."""
    forget()
    chance = random.Random(seed)
    sys.setswitchinterval(1e-5)
    wanted = chance.choices([*IMPORTS.values()], k=chance.choice([2, 3, 5, 8]))
    threads = [
        Importing(code, pickled, chance.random() * 0.02 * chance.randrange(2)) for code in wanted
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.check()
    exec(USE, {})


def in_many_processes():
    """Each imports for itself."""
    command = [sys.executable, "-c", USE]
    running = [subprocess.Popen(command) for _ in range(6)]
    assert [process.wait() for process in running] == [0] * len(running)


def cases(is_quick):
    assert "pyarrow_cuda_compat" not in sys.modules
    pickled = a_pickle()
    firsts = ["pyarrow.cuda", "another package", "the package", "a pickle", "memory"]
    found = []
    for place, first in enumerate(firsts):
        for order, second in enumerate(IMPORTS):
            for moment in range(MOMENTS):
                run = partial(at_a_moment, first, second, moment, pickled)
                if not is_quick or (moment < 24 and (moment + order) % 8 == 0 and place < 2):
                    found.append(Case(f"{second} at moment {moment} of {first}", run))
    for seed in range(8 if is_quick else 1000):
        found.append(Case(f"at random, {seed}", partial(at_random, seed, pickled)))
    found.append(Case("many processes", in_many_processes))
    return found
