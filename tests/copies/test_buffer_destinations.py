"""`Buffer.copy` and `Buffer.view`, and NumPy's arrays of buffers."""

import numpy as np
import pyarrow as pa
import pytest

from support.samples import CPU

BYTES = bytes(range(100))


def sources(cuda, ctx):
    pinned = cuda.new_host_buffer(len(BYTES))
    np.frombuffer(pinned, np.uint8)[:] = list(BYTES)
    there = ctx.buffer_from_data(BYTES)
    array = pa.array(np.frombuffer(BYTES, np.uint8)).copy_to(ctx.device)
    whole = ctx.buffer_from_data(b"--" + BYTES + b"--")
    return [
        pa.py_buffer(BYTES),
        pa.py_buffer(b"--" + BYTES).slice(2),
        pinned,
        there,
        whole.slice(2, len(BYTES)),
        array.buffers()[1],
        ctx.foreign_buffer(there.address, there.size, base=there),
    ]


def test_a_copy_has_the_bytes_and_memory_of_its_own(cuda, ctx, other_ctx):
    for source in sources(cuda, ctx):
        for context in (ctx, other_ctx):
            for destination in (context.device, context.memory_manager):
                copy = source.copy(destination)
                assert isinstance(copy, cuda.CudaBuffer)
                assert copy.device == context.device
                assert copy.is_mutable
                assert copy.to_pybytes() == BYTES
                assert copy.address != source.address
        for destination in (CPU, CPU.device):
            copy = source.copy(destination)
            assert copy.is_cpu
            assert copy.to_pybytes() == BYTES
            assert copy.address != source.address


def test_what_has_no_bytes_is_copied(cuda, ctx):
    for source in (pa.py_buffer(b""), ctx.new_buffer(0), cuda.new_host_buffer(0)):
        assert source.copy(ctx.device).size == source.copy(CPU).size == 0


def test_a_view_is_the_same_memory(cuda, ctx):
    for source in sources(cuda, ctx):
        here = CPU if source.is_cpu else ctx.memory_manager
        view = source.view(here)
        assert (view.address, view.size) == (source.address, source.size)


def test_what_the_destination_does_not_see(ctx, other_ctx):
    there = ctx.buffer_from_data(BYTES)
    unseen = ((pa.py_buffer(BYTES), ctx), (there, other_ctx))
    for source, context in unseen:
        with pytest.raises(NotImplementedError, match="not supported"):
            source.view(context.device)


@pytest.mark.parametrize("name", ["copy", "view"])
def test_wrong_arguments(ctx, name):
    method = getattr(pa.Buffer, name)
    with pytest.raises(TypeError, match="'gpu' names no place"):
        method(pa.py_buffer(b"x"), "gpu")
    with pytest.raises(TypeError, match="expected a pyarrow Device or MemoryManager"):
        method(pa.py_buffer(b"x"), 0.5)
    for destination in (pa.Device.__new__(pa.Device), pa.MemoryManager.__new__(pa.MemoryManager)):
        with pytest.raises(TypeError, match="initialised"):
            method(pa.py_buffer(b"x"), destination)
    for source in (pa.Buffer.__new__(pa.Buffer), b"x", None):
        with pytest.raises(TypeError):
            method(source, ctx.device)


@pytest.mark.simulator
def test_numpy_gets_the_bytes_by_one_copy(ctx, calls):
    content = bytes(range(256)) * 256
    there = ctx.buffer_from_data(content)
    array, made = calls(lambda: np.asarray(there), b"cuMemcpyDtoH", b"cuMemcpyDtoHAsync")
    assert sum(made) == 1
    assert (array.dtype, array.shape) == (np.uint8, (len(content),))
    assert array.tobytes() == content


def test_the_bytes_of_slices_as_another_dtype(ctx):
    there = ctx.buffer_from_data(bytes(range(10)))
    part = np.asarray(there[2:5])
    part += 1
    assert part.tolist() == [3, 4, 5]
    assert there.to_pybytes() == bytes(range(10)), "NumPy has a copy"
    assert np.asarray(there.slice(8), float).tolist() == [8.0, 9.0]
    assert np.asarray(there, "u1").dtype == np.uint8
    assert np.asarray(ctx.new_buffer(0)).shape == (0,)
    assert np.array(there, copy=True).tolist() == list(range(10))


def test_numpy_is_refused_what_takes_a_copy(ctx):
    there = ctx.buffer_from_data(b"x")
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="without a copy"):
            np.array(there, copy=False)
    with pytest.raises(NotImplementedError):
        np.asarray(pa.array([1]).copy_to(ctx.device).buffers()[1])
