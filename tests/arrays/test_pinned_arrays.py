"""Arrays of the host that are pinned or mapped, for a time or for good."""

import gc
import mmap
import tempfile
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import empty_pinned_cache, memory


@pytest.fixture
def pages():
    """A factory for arrays with pages of their own, so that nothing else is pinned with them."""
    return lambda count, dtype="i4": np.frombuffer(mmap.mmap(-1, 1 << 16), dtype)[:count]


@pytest.fixture
def is_pinned(ctx):
    def is_pinned(array):
        with suppress(OSError, pa.ArrowException):
            return ctx.get_device_address(array.ctypes.data) > 0
        return False

    return is_pinned


def test_a_body_that_raises_unpins_too(pages, is_pinned):
    array = pages(1000)
    for block in (memory.pinned(array), memory.mapped(array)):
        with pytest.raises(KeyError, match="True"), block:
            raise KeyError(is_pinned(array))
        assert not is_pinned(array)


def test_an_array_that_cannot_be_pinned_unpins_the_others(pages, is_pinned):
    one, other = pages(1000), pages(1000)
    with memory.pinned(other):
        for block in (memory.pinned(one, other), memory.mapped(one, other)):
            with pytest.raises(OSError, match="CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"), block:
                pytest.fail("pinned twice")
            assert not is_pinned(one)
        assert is_pinned(other)


def test_an_abandoned_block_unpins(pages, is_pinned):
    array = pages(1000)
    block = memory.pinned(array)
    block.__enter__()
    assert is_pinned(array)
    del block
    gc.collect()
    assert not is_pinned(array)


def test_leaving_waits_for_queued_copies(begin, pages):
    host = pages(1000, "u1")
    array = memory.to_device(np.full(1000, 7, "u1"))
    with memory.pinned(host):
        stream = begin()
        array.copy_to_host(host, stream)
        assert not stream.query()
    assert stream.query()
    assert (host == 7).all()


def test_a_pinned_array_stays_where_it_is(pages):
    array = np.zeros(1000)
    with memory.pinned(array), pytest.raises(ValueError, match="references"):
        array.resize(10**6)
    array.resize(2000)


@pytest.fixture(params=["/dev/shm", None], ids=["in memory", "on a disk"])
def column(request, tmp_path):
    """A column of a mapped file, as an array of NumPy: its own place begins within a page."""
    folder = request.param or tmp_path
    batch = pa.record_batch({"a": np.arange(100_000)})
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".arrow") as file:
        with pa.ipc.new_file(file.name, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.ipc.open_file(pa.memory_map(file.name)).get_batch(0).column("a").to_numpy()


def test_columns_of_mapped_files_are_pinned_for_reading(column, is_pinned):
    array = memory.device_array_like(column)
    with memory.pinned(column):
        assert is_pinned(column)
        array.copy_to_device(column)
        with pytest.raises(ValueError, match="read-only"):
            array.copy_to_host(column)
    assert not is_pinned(column)
    assert array.copy_to_host().tolist() == column.tolist()
    with memory.mapped(column) as there:
        assert (there.is_mutable, there.copy_to_host().tolist()) == (False, column.tolist())
        with pytest.raises(ValueError, match="read-only"):
            there.fill(0)


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("is_mutable", "text"), [(True, "map it for reading only, or copy"), (False, "only, .*: copy")]
)
def test_what_the_driver_does_not_pin_says_what_to_do(fault, pages, is_mutable, text):
    array = pages(1000)
    array.flags.writeable = is_mutable
    fault("cuMemHostRegister:1+=1")
    with pytest.raises(OSError, match=rf"error 1 in function .* {text} the array$") as raised:
        memory.pinned(array).__enter__()
    assert raised.value.code == 1


def test_mapped_arrays_are_the_memory_of_the_host(pages):
    array = pages(6).reshape(2, 3)
    array[:] = range(3)
    with memory.mapped(array[:, ::-1], stream=0) as mapped:
        assert mapped.copy_to_host().tolist() == [[2, 1, 0]] * 2
        mapped[0] = 7
        array[1, 0] = 9
        assert mapped.copy_to_host().tolist() == [[7, 7, 7], [2, 1, 9]]
    assert array.tolist() == [[7, 7, 7], [9, 1, 2]]
    with memory.mapped(pages(2), np.empty((0, 2)), pages(3)) as several:
        assert [each.shape for each in several] == [(2,), (0, 2), (3,)]


def test_what_is_computed_from_a_mapped_array_is_not_mapped():
    array = memory.mapped_array(4)
    array[:] = 1
    assert memory.is_cuda_array(array[1:].reshape(3, 1))
    whole, part = memory.as_cuda_array(array), memory.as_cuda_array(array[1:])
    assert memory.to_device(array).address == whole.address == part.address - array.itemsize
    assert memory.as_cuda_array(memory.mapped_array((0, 3))).shape == (0, 3)
    for computed in (array + 1, np.sqrt(array), array * array[0]):
        assert type(computed) is np.ndarray
    for copied in (array.copy(), array[[0, 1]], array.astype("f4")):
        assert not memory.is_cuda_array(copied)


@pytest.mark.simulator
def test_pinned_and_mapped_memory_is_released(driver):
    empty_pinned_cache()
    before = driver.library.cuda_sim_live_host_allocations()
    size = 4 << 20  # so large that each has a driver allocation of its own
    arrays = [memory.pinned_array(size), memory.mapped_array(size)[1:]]
    arrays.append(memory.pinned_array(size)[::2])
    assert driver.library.cuda_sim_live_host_allocations() == before + 3
    del arrays
    empty_pinned_cache()
    assert driver.library.cuda_sim_live_host_allocations() == before
