"""Numbers of devices where the package's own functions take contexts."""

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import DeviceArray, Event, IpcArrayHandle, Stream

CPU = pa.default_cpu_memory_manager()
# Each shows the device that it was told.
CALLS = {
    "stream": lambda place: Stream(place).context,
    "event": lambda place: Event(place).context,
    "empty": lambda place: DeviceArray.empty(3, context=place).context,
    "from_host": lambda place: DeviceArray.from_host([1, 2], context=place).context,
    "array.copy_to": lambda place: _where(pa.array([1, 2]).copy_to(place)),
    "batch.copy_to": lambda place: _where(pa.record_batch({"x": [1]}).copy_to(place)["x"]),
    "table.copy_to": lambda place: _where(pa.table({"x": [1]}).copy_to(place)["x"].chunk(0)),
    "buffer.copy": lambda place: pa.py_buffer(b"bytes").copy(place).context,
}
# Only their errors tell which device they have understood.
OTHERS = {
    "mem_get_info": compat.mem_get_info,
    "memory_stats": compat.memory_stats,
    "reset_peak_memory_stats": compat.reset_peak_memory_stats,
    "empty_cache": compat.empty_cache,
    "set_cache_limit": lambda place: compat.set_cache_limit(1 << 20, place),
    "priority_range": Stream.priority_range,
    "reader.copy_to": lambda place: pa.table({"x": [1]}).to_reader().copy_to(place),
    "from_dlpack": lambda place: compat.from_dlpack(compat.DeviceArray.empty(1), device=place),
}


def _where(array):
    return compat.CudaBuffer.from_buffer(array.buffers()[1]).context


@pytest.mark.parametrize("name", CALLS)
def test_a_number_is_that_device(contexts, name):
    for number, context in enumerate(contexts):
        for place in (number, np.int8(number), context):
            assert CALLS[name](place) == context


def test_numbers_of_buffers_and_readers(ctx):
    view = ctx.new_buffer(5).view(0)
    assert view.context == ctx
    reader = pa.table({"x": [1, 2]}).to_reader().copy_to(0)
    assert reader.read_all().copy_to(CPU).to_pydict() == {"x": [1, 2]}
    assert compat.from_dlpack(DeviceArray.from_host([7]), device=0).item() == 7


def test_statistics_of_a_device(contexts):
    limits = [compat.memory_stats(number)["cache_limit"] for number in range(len(contexts))]
    assert compat.mem_get_info(0)[1] > 0
    last = len(contexts) - 1
    compat.set_cache_limit(12345, last)
    try:
        assert compat.memory_stats(contexts[last])["cache_limit"] == 12345
        assert compat.empty_cache(last) == 0
    finally:
        compat.set_cache_limit(limits[last], last)


@pytest.mark.parametrize("name", CALLS | OTHERS)
@pytest.mark.parametrize("number", [-1, 99, 1 << 40, 1 << 200, -(1 << 200)])
def test_a_wrong_number_is_refused_with_how_many_there_are(contexts, name, number):
    count = len(contexts)
    devices = "there is 1 device" if count == 1 else f"there are {count} devices"
    with pytest.raises(ValueError, match=f"^device {number} does not exist: {devices}"):
        (CALLS | OTHERS)[name](number)


@pytest.mark.parametrize("name", CALLS | OTHERS)
@pytest.mark.parametrize("place", [True, 0.0, "0", b"", object()])
def test_what_is_no_number(name, place):
    with pytest.raises(TypeError):
        (CALLS | OTHERS)[name](place)


def test_an_index_that_raises():
    class Raises:
        def __index__(self):
            raise KeyError("mine")

    for call in (CALLS | OTHERS).values():
        with pytest.raises(KeyError, match="mine"):
            call(Raises())


def test_a_list_that_shrinks_while_the_device_is_asked(ctx):
    """The number's Python code runs before the data is looked at."""
    data = np.arange(1000)

    class Shrinks:
        def __index__(self):
            data.resize(10, refcheck=False)
            return 0

    array = DeviceArray.from_host(data, context=Shrinks())
    assert array.copy_to_host().tolist() == list(range(10))


def test_upstreams_functions_take_no_numbers():
    with pytest.raises(TypeError, match="expected Context instance, got int"):
        compat.serialize_record_batch(pa.record_batch({"x": [1]}), 0)


def test_a_handle_is_opened_by_number():
    size = (8).to_bytes(8, "little")
    memory = compat.IpcMemHandle.from_buffer(pa.py_buffer(size + bytes(64)))
    handle = IpcArrayHandle(memory, np.dtype("i8"), (1,), (8,), offset=0, device_number=0)
    with pytest.raises(ValueError, match="device 99 does not exist"):
        handle.open(99)
