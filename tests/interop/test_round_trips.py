"""Memory to the other libraries of a GPU and back, without a copy, with these libraries themselves.

Each library stands here with what these tests need of it, in its own words.  Numba needs a GPU for
kernels only.
"""

import gc
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat import DeviceArray, from_dlpack
from pyarrow_cuda_compat.conformance import replay

pytestmark = [pytest.mark.foreign, pytest.mark.filterwarnings("default")]

# Long enough that what does not wait is seen: about a tenth of a second on any GPU.
CYCLES = 200_000_000

SPIN = r"""
extern "C" __global__ void spin_then_fill(unsigned char* out, long long size, int value,
                                          long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
    for (long long at = 0; at < size; ++at) out[at] = value;
}
"""


class CuPy:
    """Arrays of CuPy."""

    can_write = True

    def __init__(self):
        self.cupy = pytest.importorskip("cupy")
        self.kernel = self.cupy.RawKernel(SPIN, "spin_then_fill")

    def array(self, values):
        return self.cupy.asarray(values)

    def address(self, array):
        return array.data.ptr

    def host(self, array):
        return array.get()

    def by_dlpack(self, thing):
        return self.cupy.from_dlpack(thing)

    def by_array_interface(self, thing):
        return self.cupy.asarray(thing)

    def fill(self, array, value):
        array.fill(value)

    @contextmanager
    def side_stream(self):
        with self.cupy.cuda.Stream(non_blocking=True):
            yield

    def fill_late(self, array, value):
        # A launch needs a current context, which CuPy leaves to the runtime's calls before it.
        self.cupy.cuda.runtime.setDevice(0)
        self.kernel((1,), (1,), (array, array.nbytes, np.int32(value), np.int64(CYCLES)))


class PyTorch:
    """Tensors of PyTorch."""

    can_write = True

    def __init__(self):
        self.torch = pytest.importorskip("torch")

    def array(self, values):
        return self.torch.from_numpy(values).cuda()

    def address(self, array):
        return array.data_ptr()

    def host(self, array):
        return array.cpu().numpy()

    def by_dlpack(self, thing):
        return self.torch.from_dlpack(thing)

    def by_array_interface(self, thing):
        return self.torch.as_tensor(thing, device="cuda")

    def fill(self, array, value):
        array.fill_(value)

    @contextmanager
    def side_stream(self):
        with self.torch.cuda.stream(self.torch.cuda.Stream()):
            yield

    def fill_late(self, array, value):
        self.torch.cuda._sleep(CYCLES)
        array.fill_(value)


class Numba:
    """Device arrays of Numba."""

    can_write = True

    def __init__(self):
        lacking = replay.lacking("# needs: numba.cuda")
        if lacking:
            pytest.skip(lacking)
        self.lacks_kernels = replay.lacking("# needs: gpu, numba kernels")
        self.stream = 0

        from numba import cuda

        self.cuda = cuda

        @cuda.jit
        def fill(array, value):
            place = cuda.grid(1)
            if place < array.size:
                array[place] = value

        @cuda.jit
        def fill_late(array, value, nanoseconds):
            for _ in range(nanoseconds // 1000):
                cuda.nanosleep(1000)
            for place in range(array.size):
                array[place] = value

        self.kernel, self.late_kernel = fill, fill_late

    def need_kernels(self):
        if self.lacks_kernels:
            pytest.skip(f"needs {self.lacks_kernels}")

    def array(self, values):
        return self.cuda.to_device(values, stream=self.stream)

    def address(self, array):
        return array.__cuda_array_interface__["data"][0]

    def host(self, array):
        copy = array.copy_to_host(stream=self.stream)
        self.cuda.synchronize()  # on a stream, Numba does not wait for the copy
        return copy

    def by_dlpack(self, thing):
        pytest.skip("Numba takes DLPack for the arguments of kernels only")

    def by_array_interface(self, thing):
        return self.cuda.as_cuda_array(thing)

    def fill(self, array, value):
        self.need_kernels()
        self.kernel[array.size // 256 + 1, 256, self.stream](array, value)

    @contextmanager
    def side_stream(self):
        self.stream = self.cuda.stream()
        try:
            yield
        finally:  # also when a test is skipped within it
            self.stream = 0

    def fill_late(self, array, value):
        self.need_kernels()
        self.late_kernel[1, 1, self.stream](array, value, 100_000_000)


class Jax:
    """Arrays of JAX, which never change."""

    can_write = False

    def __init__(self):
        self.jax = pytest.importorskip("jax")
        if self.jax.default_backend() != "gpu":
            pytest.skip("JAX has no GPU here")

    def array(self, values):
        return self.jax.device_put(values)

    def address(self, array):
        return array.unsafe_buffer_pointer()

    def host(self, array):
        return np.asarray(array)

    def by_dlpack(self, thing):
        return self.jax.dlpack.from_dlpack(thing)

    def by_array_interface(self, thing):
        return self.jax.numpy.asarray(thing)


LIBRARIES = [
    Numba,
    *(pytest.param(each, marks=pytest.mark.hardware) for each in (CuPy, PyTorch, Jax)),
]


@pytest.fixture(params=LIBRARIES, scope="module", ids=lambda kind: kind.__name__)
def library(request):
    return request.param()


@pytest.fixture(params=["by_dlpack", "by_array_interface"])
def take(request, library):
    """Makes an array of the library of a thing, in one of the two ways."""
    return getattr(library, request.param)


@pytest.fixture(params=["from_dlpack", "DeviceArray"])
def view(request, library):
    """Makes a device array of an array of the library, in one of the two ways."""
    if request.param == "from_dlpack" and isinstance(library, Numba):
        pytest.skip("Numba's arrays have no DLPack")
    return getattr(pyarrow_cuda_compat, request.param)


@pytest.fixture(params=["array", "buffer"])
def give(request, library, ctx):
    """Makes a buffer of an array of the library, in one of the two ways."""
    if request.param == "buffer":
        return ctx.buffer_from_object
    return lambda array: DeviceArray(array).buffer


DTYPES = [np.uint8, np.int8, np.int16, np.uint32, np.int64, np.float16, np.float32, np.float64]


def values(dtype, count=1000):
    return (np.arange(count) % 100).astype(dtype)


def wide(library, dtype):
    """JAX makes 64-bit numbers 32 bits wide."""
    if isinstance(library, Jax) and np.dtype(dtype).itemsize == 8:
        pytest.skip("JAX has 32-bit numbers unless it is told otherwise")


@pytest.mark.parametrize("dtype", [*DTYPES, np.complex64, np.bool_])
def test_their_arrays_are_our_arrays(library, view, dtype):
    wide(library, dtype)
    host = values(dtype).reshape(10, 100)
    array = library.array(host)
    ours = view(array)
    assert (ours.address, ours.shape, ours.dtype) == (library.address(array), (10, 100), host.dtype)
    assert (ours.copy_to_host() == host).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_their_arrays_are_our_buffers(library, give, dtype):
    wide(library, dtype)
    host = values(dtype)
    array = library.array(host)
    buf = give(array)
    assert (buf.address, buf.size) == (library.address(array), host.nbytes)
    assert buf.to_pybytes() == host.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_our_arrays_are_theirs(library, take, ctx, dtype):
    host = values(dtype)
    array = pa.array(host).copy_to(ctx.memory_manager)
    part = array.slice(10, 500)
    # Arrow's arrays have DLPack alone.
    theirs = take(part if take == library.by_dlpack else DeviceArray(part))
    # JAX copies what is not aligned as it likes, or is wider than it likes.
    if library.can_write:
        assert library.address(theirs) == array.buffers()[1].address + 10 * host.itemsize
    assert (library.host(theirs) == host[10:510]).all()


def test_our_buffers_are_theirs(library, take, ctx):
    host = values(np.uint8)
    buf = ctx.buffer_from_data(host)
    array = take(buf)
    assert library.address(array) == buf.address
    assert (library.host(array) == host).all()
    if library.can_write:
        library.fill(array, 9)
        assert buf.to_pybytes() == b"\x09" * 1000


@pytest.mark.parametrize(
    "part",
    [
        lambda array: array,
        lambda array: array.T,
        lambda array: array[:, 1:, ::2],
        lambda array: array[1],
    ],
    ids=["all", "columns", "gaps", "row"],
)
def test_rows_columns_and_parts(library, take, part):
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    if isinstance(library, Jax) and not part(host).flags.c_contiguous:
        pytest.skip("JAX takes contiguous arrays only")
    array = take(part(DeviceArray.from_host(host)))
    assert tuple(array.shape) == part(host).shape
    assert (library.host(array) == part(host)).all()


def test_a_dropped_buffer_stays_under_their_array(library, take, ctx):
    if take == library.by_array_interface and isinstance(library, Jax):
        pytest.skip("JAX keeps nothing that it takes by this interface")
    before = ctx.bytes_allocated
    array = take(ctx.buffer_from_data(values(np.uint8, 1 << 20)))
    gc.collect()
    assert ctx.bytes_allocated == before + (1 << 20)
    _others = [ctx.buffer_from_data(b"\xff" * (1 << 20)) for _ in range(4)]
    assert (library.host(array) == values(np.uint8, 1 << 20)).all()


def test_a_dropped_array_stays_under_our_buffer(library, give, ctx):
    host = values(np.uint8, 1 << 20)
    buf = give(library.array(host))
    part = buf.slice(100, 50)
    gc.collect()
    others = [library.array(np.full(1 << 20, 255, np.uint8)) for _ in range(4)]
    assert buf.to_pybytes() == host.tobytes()
    del buf, others
    gc.collect()
    assert part.to_pybytes() == host[100:150].tobytes()


def test_what_a_side_stream_still_writes_is_waited_for(library, give, ctx):
    if not library.can_write:
        pytest.skip("its arrays never change")
    array = library.array(np.zeros(4096, np.uint8))
    ctx.synchronize()
    with library.side_stream():
        library.fill_late(array, 7)
        buf = give(array)
        assert buf.to_pybytes() == b"\x07" * 4096


def test_a_side_stream_sees_what_the_default_stream_still_writes(library, take, ctx):
    if not library.can_write:
        pytest.skip("its arrays never change")
    buf = ctx.new_buffer(4096)
    on_default_stream = take(buf)
    library.fill_late(on_default_stream, 3)
    with library.side_stream():
        assert (library.host(take(buf)) == 3).all()


@pytest.mark.hardware
def test_work_that_jax_has_queued_is_waited_for(ctx):
    library = Jax()
    jax = library.jax
    numbers = jax.numpy.ones((4096, 4096))

    @jax.jit
    def late(numbers):
        for _ in range(20):
            numbers = (numbers @ numbers) / 4096
        return numbers

    for read in (
        lambda queued: from_dlpack(queued).copy_to_host(),
        lambda queued: np.frombuffer(ctx.buffer_from_object(queued).copy_to_host(), np.float32),
    ):
        queued = late(numbers)
        assert (read(queued).ravel() == np.asarray(queued).ravel()).all()


def test_empty(library, take, give, ctx):
    array = take(ctx.new_buffer(0))
    assert library.host(array).size == 0
    assert give(array).size == 0


def test_memory_of_theirs_in_an_arrow_array(library, give):
    host = values(np.int32)
    buf = give(library.array(host))
    array = pa.Array.from_buffers(pa.int32(), len(host), [None, buf])
    assert array.copy_to(pa.default_cpu_memory_manager()).to_pylist() == host.tolist()


def test_their_parts_with_gaps(library, view, ctx):
    host = np.arange(100, dtype=np.int32).reshape(10, 10)
    part = library.array(host)[:, 2:5]
    ours = view(part)
    assert ours.address == library.address(part)
    assert (ours.copy_to_host() == host[:, 2:5]).all()
    if isinstance(library, Jax):
        return  # its arrays never have gaps
    assert ours.strides == (40, 4)
    ours[:] = ours[::-1]
    assert (library.host(part) == host[::-1, 2:5]).all()
    with pytest.raises(ValueError, match="non-contiguous"):
        ctx.buffer_from_object(part)
