"""Numbers and names of devices where the package's own functions take contexts."""

import enum
import re

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import DeviceArray, Event, IpcArrayHandle, Stream


class Named(enum.StrEnum):
    DEVICE = "cuda:0"


CPU = pa.default_cpu_memory_manager()
# Each shows the device that it was told.
CALLS = {
    "context": lambda place: place if isinstance(place, compat.Context) else compat.Context(place),
    "stream": lambda place: Stream(place).context,
    "event": lambda place: Event(place).context,
    "empty": lambda place: DeviceArray.empty(3, context=place).context,
    "from_host": lambda place: DeviceArray.from_host([1, 2], context=place).context,
    "memory_report": lambda place: compat.Context(compat.memory_report(place).device),
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
        for place in (number, np.int8(number), context, f"cuda:{number}"):
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


@pytest.mark.parametrize("name", CALLS)
def test_a_name_without_a_number_is_the_first_device(ctx, name):
    assert CALLS[name]("cuda") == ctx


def test_the_host_is_a_destination(ctx):
    batch = pa.record_batch({"x": [1, None]})
    for data in (batch["x"], pa.chunked_array([batch["x"]]), batch, pa.table(batch)):
        for each in (data, data.copy_to(ctx)):
            back = each.copy_to("cpu")
            assert back.is_cpu
            assert back.equals(data)
        assert data.copy_to(ctx).copy_to("cpu", stream=Stream(ctx)).equals(data)
    there = pa.table(batch).copy_to(ctx)
    assert there.to_reader().copy_to("cpu").read_all().equals(pa.table(batch))
    assert ctx.buffer_from_data(b"bytes").copy("cpu").to_pybytes() == b"bytes"
    assert pa.py_buffer(b"bytes").view("cpu").is_cpu


@pytest.mark.parametrize(
    "name", [*sorted(OTHERS.keys() - {"reader.copy_to"}), "context", "stream", "empty"]
)
def test_the_host_is_no_device(name):
    with pytest.raises(ValueError, match="'cpu' is the host"):
        (CALLS | OTHERS)[name]("cpu")


@pytest.mark.parametrize("name", CALLS | OTHERS)
@pytest.mark.parametrize("place", ["gpu", "", "0", "cuda:", "cuda:-1", "cuda:01", "cuda:+1", "CPU"])
def test_other_names(name, place):
    with pytest.raises(TypeError, match=f"'{re.escape(place)}' names no place"):
        (CALLS | OTHERS)[name](place)


@pytest.mark.parametrize("name", CALLS | OTHERS)
def test_a_name_of_no_device(contexts, name):
    text = f"^device cuda:99 does not exist: there (is|are) {len(contexts)} device"
    with pytest.raises(ValueError, match=text):
        (CALLS | OTHERS)[name]("cuda:99")


@pytest.mark.parametrize("name", [name for name in CALLS | OTHERS if name != "context"])
@pytest.mark.parametrize("number", [-1, 99, 1 << 40, 1 << 200, -(1 << 200)])
def test_a_wrong_number_is_refused_with_how_many_there_are(contexts, name, number):
    count = len(contexts)
    devices = "there is 1 device" if count == 1 else f"there are {count} devices"
    with pytest.raises(ValueError, match=f"^device {number} does not exist: {devices}"):
        (CALLS | OTHERS)[name](number)


@pytest.mark.parametrize("name", [name for name in CALLS | OTHERS if name != "context"])
@pytest.mark.parametrize("place", [True, 0.0, b"", object(), Named.DEVICE])
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
