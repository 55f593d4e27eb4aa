"""Memory and contexts, to Numba and back.

Tests that compile kernels run with Numba itself, on hardware.  The rest is tried
with stand-ins that have the attributes of Numba's classes, in each of the forms that its
versions have given them.
"""

import ctypes
import gc
import sys
from types import ModuleType, SimpleNamespace

import pyarrow as pa
import pytest

from support.libraries.numba_stand_ins import Context, CUcontext, CUdeviceptr, MemoryPointer

PACKAGES = ("numba.cuda", "numba_cuda_mlir.cuda")


class Gpu:
    """A Numba device, with its one context."""

    def __init__(self, driver, kind, number):
        self.driver, self.kind, self.id = driver, kind, number
        self.context = None

    def get_primary_context(self):
        if self.context is None:
            handle = ctypes.c_void_p()
            self.driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(handle), self.id)
            self.driver.set_current(handle.value)  # which 0.28 does as well
            self.context = Context(self, self.kind(handle.value))
        return self.context


class Gpus(list):
    @property
    def current(self):
        if not self[0].driver.current():
            return None
        number = ctypes.c_int()
        self[0].driver.call("cuCtxGetDevice", ctypes.byref(number))
        return self[number.value]


def stand_in(package, driver, kind, count):
    """The modules of a Numba package, by their names."""
    cuda = ModuleType(package)
    cuda.gpus = Gpus(Gpu(driver, kind, number) for number in range(count))

    def current_context():
        # As Numba's, this leaves the first device's context current when there was none.
        return (cuda.gpus.current or cuda.gpus[0]).get_primary_context()

    cuda.current_context = current_context
    low = ModuleType(f"{package}.cudadrv.driver")
    low.binding = SimpleNamespace(CUdeviceptr=CUdeviceptr)
    low.Context, low.MemoryPointer = Context, MemoryPointer
    parents = {package.split(".")[0], f"{package}.cudadrv"}
    return {name: ModuleType(name) for name in parents} | {package: cuda, low.__name__: low}


def install(modules, monkeypatch):
    for name in PACKAGES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture(params=[ctypes.c_void_p, CUcontext], ids=["c_void_p", "CUcontext"])
def kind(request):
    return request.param


@pytest.fixture(params=PACKAGES)
def numba(request, driver, kind, contexts, monkeypatch):
    modules = stand_in(request.param, driver, kind, len(contexts))
    install(modules, monkeypatch)
    return modules[request.param]


@pytest.fixture
def none_current(driver):
    """The thread has no current context, and must have none afterwards."""
    was = driver.current()
    driver.set_current(0)
    yield
    assert driver.current() == 0
    if was:
        driver.set_current(was)


@pytest.mark.usefixtures("none_current")
def test_the_primary_context_is_numbas_own(cuda, numba, contexts):
    for number, ctx in reversed(list(enumerate(contexts))):
        theirs = ctx.to_numba()
        assert theirs is numba.gpus[number].get_primary_context()
        assert theirs.handle.value == ctx.handle
        assert ctx.to_numba() is theirs
        back = cuda.Context.from_numba(theirs)
        assert (back.handle, back.device_number) == (ctx.handle, number)


@pytest.mark.usefixtures("numba")
def test_the_current_context_stays(driver, own_context, contexts):
    driver.set_current(own_context)
    for ctx in contexts:
        ctx.to_numba()
        ctx.new_buffer(0).to_numba()
        assert driver.current() == own_context


def test_another_context_gets_an_object_of_its_own(cuda, numba, kind, own_context):
    theirs = cuda.Context(0, own_context).to_numba()
    assert theirs is not numba.gpus[0].get_primary_context()
    assert isinstance(theirs.handle, kind)
    assert theirs.handle.value == own_context
    assert theirs.device.id == 0
    assert cuda.Context.from_numba(theirs).handle == own_context


@pytest.mark.usefixtures("none_current")
def test_numbas_current_context_by_default(cuda, numba, ctx):
    assert cuda.Context.from_numba().handle == ctx.handle
    assert cuda.Context.from_numba(None).handle == ctx.handle


@pytest.mark.usefixtures("numba")
def test_the_current_context_may_be_another_devices(cuda, driver, other_ctx):
    driver.set_current(other_ctx.handle)
    context = cuda.Context.from_numba()
    assert driver.current() == other_ctx.handle
    driver.set_current(0)
    assert (context.handle, context.device_number) == (other_ctx.handle, 1)


@pytest.mark.usefixtures("numba")
def test_pointers_name_the_memory(cuda, contexts):
    for number, ctx in enumerate(contexts):
        buf = ctx.buffer_from_data(b"0123456789").slice(2, 6)
        mem = buf.to_numba()
        assert (mem.device_pointer_value, mem.size) == (buf.address, 6)
        assert mem.context is ctx.to_numba()
        back = cuda.CudaBuffer.from_numba(mem)
        assert (back.address, back.to_pybytes()) == (buf.address, b"234567")
        assert back.context.device_number == number


@pytest.mark.usefixtures("numba")
def test_immutable_memory_gets_no_pointer(cuda, ctx):
    frozen = cuda.CudaBuffer.from_buffer(pa.Buffer.slice(ctx.buffer_from_data(b"0123"), 1))
    with pytest.raises(pa.ArrowInvalid, match="buffer is immutable"):
        frozen.to_numba()


@pytest.mark.usefixtures("numba")
def test_views_of_pointers_and_slices_of_buffers_keep_the_memory(cuda, ctx):
    # Here the pointer keeps the memory as Numba's would.
    before = ctx.bytes_allocated
    view = ctx.buffer_from_data(b"0123456789").to_numba().view(3, 7)
    gc.collect()
    assert ctx.bytes_allocated == before + 10
    part = cuda.CudaBuffer.from_numba(view).slice(1, 2)
    del view
    gc.collect()
    assert ctx.bytes_allocated == before + 10
    assert part.to_pybytes() == b"45"
    del part
    gc.collect()
    assert ctx.bytes_allocated == before


@pytest.mark.usefixtures("none_current")
def test_a_pointer_may_leave_its_context_open(cuda, numba, ctx):
    buf = ctx.buffer_from_data(b"abc")
    mem = buf.to_numba()
    mem.context = None
    # Of a class of mlir's only when that package is the one in use.
    kind = type("Pointer", (MemoryPointer,), {"__module__": f"{numba.__name__}.cudadrv.driver"})
    mem.__class__ = kind
    assert cuda.CudaBuffer.from_numba(mem).to_pybytes() == b"abc"


def test_numba_of_another_driver_is_refused(numba, ctx):
    numba.gpus[0].get_primary_context = lambda: Context(numba.gpus[0], CUcontext(0x1230))
    for thing in (ctx, ctx.new_buffer(10)):
        with pytest.raises(RuntimeError, match="another CUDA driver"):
            thing.to_numba()
    numba.gpus.clear()
    with pytest.raises(RuntimeError, match="PYARROW_CUDA_DRIVER"):
        ctx.to_numba()


def test_numba_without_bindings_is_refused(numba, ctx):
    sys.modules[f"{numba.__name__}.cudadrv.driver"].binding = None
    with pytest.raises(ImportError, match="NUMBA_ENABLE_CUDASIM"):
        ctx.to_numba()


def test_the_imported_package_is_used(driver, contexts, ctx, monkeypatch):
    both = {name: stand_in(name, driver, CUcontext, len(contexts)) for name in PACKAGES}
    install(both[PACKAGES[0]] | both[PACKAGES[1]], monkeypatch)
    assert ctx.to_numba() is both[PACKAGES[0]][PACKAGES[0]].gpus[0].context
    monkeypatch.delitem(sys.modules, PACKAGES[0])
    assert ctx.to_numba() is both[PACKAGES[1]][PACKAGES[1]].gpus[0].context


@pytest.mark.parametrize("nothing", [0, ctypes.c_void_p(0), CUcontext(0)], ids=type)
def test_a_context_without_a_handle_is_refused(cuda, nothing):
    with pytest.raises(ValueError, match="no handle"):
        cuda.Context.from_numba(Context(SimpleNamespace(id=0), nothing))


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
    "error",
    ["RuntimeError('no libcudart')", "ModuleNotFoundError('no llvmlite', name='llvmlite')"],
)
def test_numbas_own_errors_are_not_hidden(error, run_python):
    code, out, err = run_python(BROKEN.format(error=error))
    assert (code, out, err) == (0, f"{eval(error)!r}\n", "")
