"""Memory and contexts, to Numba and back, with Numba itself.  What it warns of is its own affair.

`support.libraries.numba_itself` says which package; one process uses one.  With
NUMBA_CUDA_MEMORY_MANAGER the same holds.

Tests that compile kernels need a GPU.  The rest needs only the host side of Numba.
"""

import ctypes
import gc
import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from support.libraries.numba_itself import PACKAGE

pytestmark = [pytest.mark.foreign, pytest.mark.filterwarnings("default")]


def array_over(mem, shape, dtype):
    array = importlib.import_module(f"{PACKAGE}.cudadrv.devicearray").DeviceNDArray
    host = np.empty(shape, dtype)
    return array(host.shape, host.strides, host.dtype, gpu_data=mem)


@pytest.mark.hardware
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.int64])
def test_a_kernel_over_a_buffer(ctx, increment, dtype):
    host = np.arange(1000, dtype=dtype)
    buf = ctx.buffer_from_data(host)
    increment[8, 128](array_over(buf.to_numba(), 1000, dtype))
    # The copy waits for the default stream, where the kernel runs.
    assert (np.frombuffer(buf.copy_to_host(), dtype) == host + dtype(1)).all()


@pytest.mark.hardware
def test_a_kernel_after_the_buffer_was_dropped(ctx, allocated, increment):
    array = array_over(ctx.buffer_from_data(np.zeros(1 << 20, np.int32)).to_numba(), 1 << 20, "i4")
    gc.collect()
    # Memory that was free would be handed out again.
    others = [ctx.buffer_from_data(np.full(1 << 20, 7, np.int32)) for _ in range(4)]
    increment[4096, 256](array)
    assert (array.copy_to_host() == 1).all()
    for other in others:
        assert (np.frombuffer(other.copy_to_host(), np.int32) == 7).all()
    part = array[10:20]
    del array, others, other
    gc.collect()
    assert allocated() == 4 << 20
    increment[1, 32](part)
    assert (part.copy_to_host() == 2).all()


def test_a_buffer_over_an_array_that_was_dropped(cuda, numba_cuda, ctx):
    host = np.arange(1 << 20, dtype=np.int32)
    array = numba_cuda.to_device(host)
    buf = cuda.CudaBuffer.from_numba(array.gpu_data)
    part = cuda.CudaBuffer.from_numba(array[100:200].gpu_data)
    assert buf.address == array.__cuda_array_interface__["data"][0]
    assert (buf.size, part.size) == (4 << 20, 400)
    del array
    gc.collect()
    numba_cuda.current_context().deallocations.clear()
    others = [numba_cuda.to_device(np.full(1 << 20, 7, np.int32)) for _ in range(4)]
    assert (np.frombuffer(buf.copy_to_host(), np.int32) == host).all()
    del buf, others
    gc.collect()
    assert (np.frombuffer(part.copy_to_host(), np.int32) == host[100:200]).all()


def test_nothing_both_ways(cuda, numba_cuda, ctx):
    mem = ctx.new_buffer(0).to_numba()
    assert (mem.device_pointer_value, mem.size) == (None, 0)
    assert array_over(mem, 0, np.int32).copy_to_host().size == 0
    for given in (mem, numba_cuda.to_device(np.empty(0, np.int32)).gpu_data):
        assert cuda.CudaBuffer.from_numba(given).size == 0


def test_contexts_both_ways(cuda, numba_cuda, ctx):
    theirs = ctx.to_numba()
    assert theirs is numba_cuda.current_context()
    assert theirs.handle.value == int(theirs.handle.value) == ctx.handle
    assert cuda.Context.from_numba().handle == ctx.handle
    assert cuda.Context.from_numba(theirs).handle == ctx.handle
    # Numba goes on working with the handle that it got.
    with numba_cuda.gpus[0]:
        assert (numba_cuda.to_device(np.arange(3)).copy_to_host() == np.arange(3)).all()


@pytest.mark.hardware
def test_a_kernel_on_the_second_device(cuda, numba_cuda, other_ctx, increment, driver):
    was = driver.current()
    buf = other_ctx.buffer_from_data(np.arange(10, dtype=np.int32))
    mem = buf.to_numba()
    assert driver.current() == was
    assert mem.context is other_ctx.to_numba()
    assert (mem.context.device.id, mem.device_pointer_value) == (1, buf.address)
    with numba_cuda.gpus[1]:
        array = array_over(mem, 10, np.int32)
        increment[1, 32](array)
        assert (array.copy_to_host() == np.arange(1, 11)).all()
        theirs = cuda.CudaBuffer.from_numba(numba_cuda.to_device(np.arange(5)).gpu_data)
    assert theirs.context.device_number == 1
    assert (np.frombuffer(theirs.copy_to_host(), np.int64) == np.arange(5)).all()


@pytest.mark.usefixtures("numba_cuda")
def test_a_context_of_ones_own(cuda, driver, own_context):
    theirs = cuda.Context(0, own_context).to_numba()
    assert (theirs.handle.value, theirs.device.id) == (own_context, 0)
    theirs.push()
    assert driver.current() == own_context
    theirs.pop()
    assert cuda.Context.from_numba(theirs).handle == own_context


@pytest.mark.usefixtures("numba_cuda")
def test_the_current_context_stays(cuda, driver, own_context, contexts):
    driver.set_current(own_context)
    for ctx in contexts:
        ctx.to_numba()
        ctx.new_buffer(0).to_numba()
        assert driver.current() == own_context
    # Numba knows no such context, and has an error of its own for it.
    with pytest.raises(RuntimeError, match="non-primary CUDA context"):
        cuda.Context.from_numba()
    assert driver.current() == own_context
    assert contexts[0].to_numba().device.id == 0
    assert driver.current() == own_context


@pytest.mark.subprocesses
@pytest.mark.usefixtures("numba_cuda")
def test_numbas_first_call_leaves_the_current_context(run_python):
    code, out, err = run_python("""
from pyarrow import cuda
from support.driver import the_driver

driver = the_driver()
cuda.Context(0)
driver.set_current(driver.create_context())
before = driver.current()
try:
    cuda.Context.from_numba()
except RuntimeError as error:
    print("non-primary" in str(error), driver.current() == before)
""")
    assert (code, out) == (0, "True True\n"), err


@pytest.mark.usefixtures("numba_cuda")
def test_no_context_is_left_current(cuda, driver, ctx):
    mem = ctx.new_buffer(4).to_numba()
    mem.context = None  # an external memory manager of Numba may leave it open
    driver.set_current(0)
    assert cuda.Context.from_numba().handle == ctx.handle
    assert cuda.CudaBuffer.from_numba(mem).size == 4
    assert driver.current() == 0


def test_numba_of_another_driver_is_refused(numba_cuda, ctx, monkeypatch):
    class Handle:
        def __int__(self):
            return 0x1230

    theirs = SimpleNamespace(device=SimpleNamespace(id=0), handle=Handle())
    gpus = [SimpleNamespace(get_primary_context=lambda: theirs)]
    monkeypatch.setattr(numba_cuda, "gpus", gpus)
    for thing in (ctx, ctx.new_buffer(10)):
        with pytest.raises(RuntimeError, match="another CUDA driver"):
            thing.to_numba()
    gpus.clear()
    with pytest.raises(RuntimeError, match="PYARROW_CUDA_DRIVER"):
        ctx.to_numba()


def test_numba_without_bindings_is_refused(numba_driver, ctx, monkeypatch):
    monkeypatch.setattr(numba_driver, "binding", None)
    with pytest.raises(ImportError, match="NUMBA_ENABLE_CUDASIM"):
        ctx.to_numba()


def test_the_imported_package_is_used(ctx, monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda_mlir.cuda", ModuleType("not Numba"))
    monkeypatch.delitem(sys.modules, "numba.cuda", raising=False)
    with pytest.raises(ModuleNotFoundError, match="numba_cuda_mlir"):
        ctx.to_numba()


@pytest.mark.parametrize("kind", [int, ctypes.c_void_p])
def test_a_context_without_a_handle_is_refused(cuda, ctx, kind):
    context = SimpleNamespace(device=SimpleNamespace(id=0), handle=kind(0))
    with pytest.raises(ValueError, match="no handle"):
        cuda.Context.from_numba(context)
    context.handle = kind(ctx.handle)
    assert cuda.Context.from_numba(context).handle == ctx.handle


NOT_INSTALLED = """
import sys
for name in ("numba", "numba.cuda"):
    sys.modules[name] = None
    from pyarrow import cuda
    ctx = cuda.Context(0)
    for call in (ctx.to_numba, ctx.new_buffer(4).to_numba, cuda.Context.from_numba):
        try: call()
        except ImportError as error: print(type(error), "pip install numba-cuda" in str(error))
    del sys.modules[name]
    sys.modules["numba"] = type(sys)("numba")
"""


def test_without_numba_the_error_says_what_to_install(run_python):
    assert run_python(NOT_INSTALLED) == (0, "<class 'ImportError'> True\n" * 6, "")


BROKEN = """
import sys
class Broken:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "numba.cuda": raise {error}
sys.meta_path.insert(0, Broken)
sys.modules["numba"] = type(sys)("numba")
sys.modules["numba"].__path__ = []
from pyarrow import cuda
try: cuda.Context(0).to_numba()
except Exception as error: print(repr(error))
"""


@pytest.mark.parametrize(
    "error", ["RuntimeError('no libcudart')", "ModuleNotFoundError('no llvmlite', name='llvmlite')"]
)
def test_numbas_own_errors_are_not_hidden(error, run_python):
    assert run_python(BROKEN.format(error=error)) == (0, f"{eval(error)!r}\n", "")
