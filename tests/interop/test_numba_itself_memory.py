"""Numba's arrays in our memory, with Numba itself."""

import importlib.util

import pytest

PACKAGES = [
    package
    for package, top in (("numba.cuda", "numba_cuda"), ("numba_cuda_mlir.cuda", "numba_cuda_mlir"))
    if importlib.util.find_spec(top)
]

NUMBAS = """
import gc, pickle, subprocess, sys, warnings
warnings.simplefilter("ignore")
import importlib
import numpy as np
numba_cuda = importlib.import_module(sys.argv[1])
from pyarrow import cuda
ctx = cuda.Context(0)
"""

KERNEL = (
    NUMBAS
    + """
@numba_cuda.jit
def increment(values):
    place = numba_cuda.grid(1)
    if place < values.size:
        values[place] += 1
array = numba_cuda.to_device(np.arange(1000, dtype=np.int32))
print(ctx.bytes_allocated)
increment[8, 128](array)
buf = cuda.CudaBuffer.from_numba(array[10:20].gpu_data)
del array
gc.collect()
print(ctx.bytes_allocated, np.frombuffer(buf.to_pybytes(), np.int32).tolist())
del buf
print(ctx.bytes_allocated)
host = np.zeros(100, dtype=np.int32)
increment[1, 128](host)
print(host.sum(), ctx.bytes_allocated)
"""
)


@pytest.fixture
def run_with_manager(run_python, tmp_path):
    """Runs a program with a Numba package that has our memory manager."""

    def run(code, package):
        program = tmp_path / "program.py"
        program.write_text(code)  # a compiler of kernels may ask for their source
        start = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
        manager = {"NUMBA_CUDA_MEMORY_MANAGER": "pyarrow_cuda_compat.numba"}
        return run_python(start, program, package, **manager)

    return run


@pytest.mark.hardware
@pytest.mark.parametrize("package", PACKAGES)
def test_numba_allocates_here(run_with_manager, package):
    code, out, err = run_with_manager(KERNEL, package)
    assert (code, err) == (0, "")
    assert out == f"4000\n4000 {list(range(11, 21))}\n0\n100 0\n"


EXPORT = (
    NUMBAS
    + """
script = '''
import importlib, pickle, sys
import numpy as np
numba_cuda = importlib.import_module(sys.argv[1])
handle = pickle.loads(sys.stdin.buffer.read())
with handle as array:
    print(array.copy_to_host().tolist())
'''
import os
for manager in ("default", "pyarrow_cuda_compat.numba"):
    array = numba_cuda.to_device(np.arange(20))
    handle = pickle.dumps(array[5:10].get_ipc_handle())
    del array
    gc.collect()
    others = [numba_cuda.to_device(np.zeros(20)) for _ in range(10)]
    other = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, sys.argv[1]],
        input=handle,
        env=os.environ | {"NUMBA_CUDA_MEMORY_MANAGER": manager},
        capture_output=True,
        check=False,
    )
    print(other.stdout.decode(), other.stderr.decode(), end="")
    del others
    gc.collect()
    print(ctx.bytes_allocated)
"""
)


@pytest.mark.parametrize("package", PACKAGES)
def test_numba_exports_from_here(run_with_manager, package):
    code, out, err = run_with_manager(EXPORT, package)
    assert (code, err) == (0, "")
    assert out == "[5, 6, 7, 8, 9]\n 160\n[5, 6, 7, 8, 9]\n 320\n"


NO_ROOM = (
    NUMBAS
    + """
info = numba_cuda.current_context().get_memory_info()
try:
    numba_cuda.device_array(info.total * 2, np.uint8)
except Exception as error:
    print(type(error).__name__, int(error.code))
kept = numba_cuda.to_device(np.arange(10))
with numba_cuda.defer_cleanup():
    numba_cuda.to_device(np.arange(10))
    print(ctx.bytes_allocated)
print(ctx.bytes_allocated)
numba_cuda.current_context().reset()
print(ctx.bytes_allocated)
kept = numba_cuda.to_device(np.arange(10))
"""
)


@pytest.mark.alone
@pytest.mark.parametrize("package", PACKAGES)
def test_numba_hears_of_no_room_and_releases(run_with_manager, package):
    code, out, err = run_with_manager(NO_ROOM, package)
    assert (code, err) == (0, "")
    assert out == "CudaAPIError 2\n160\n80\n0\n"
