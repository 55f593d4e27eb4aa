"""Events of exported arrays: one where work is pending, none where it is not."""

import ctypes

import pyarrow as pa
import pytest

from support.c_device import (
    CUDA,
    ArrowDeviceArray,
    ArrowSchema,
    Exported,
    array_of,
    batch_of,
    exported_capsule,
    exported_structure,
    structure,
)
from support.threads import in_thread
from support.work import NON_BLOCKING, Producer

BLOCKING = 0
#: The answers of a query for an event that is not reached, and for one that is.
PENDING, REACHED = 600, 0

both_kinds = pytest.mark.parametrize("kind", [array_of, batch_of])
both_ways = pytest.mark.parametrize("export", [exported_capsule, exported_structure])


@both_kinds
@both_ways
def test_what_is_ready_has_no_event(ctx, default_stream, kind, export):
    _memory, data = kind(ctx)
    with export(data) as array:
        assert (array.device_type, array.device_id) == (CUDA, 0)
        assert (array.sync_event, list(array.reserved)) == (None, [0, 0, 0])


@both_kinds
@both_ways
def test_what_is_pending_has_an_event(ctx, driver, is_simulator, default_stream, kind, export):
    memory, data = kind(ctx)
    before = ctx.bytes_allocated
    default_stream.sleep()
    default_stream.fill(memory, 7)
    with export(data) as array:
        assert not default_stream.is_idle(), "the export does not wait"
        event = ctypes.c_void_p(array.event.value)
        assert driver.library.cuEventQuery(event) == PENDING
        driver.call("cuEventSynchronize", event)
        assert driver.read(memory.address, memory.size) == b"\x07" * memory.size
        assert ctx.bytes_allocated == before
    if is_simulator:  # a real driver may read through the handle
        assert driver.library.cuEventQuery(event) not in (PENDING, REACHED), "the event is gone"


def test_work_of_other_streams_is_pending_too(ctx, driver, make_stream):
    memory, data = array_of(ctx)
    side = make_stream(BLOCKING)
    side.sleep()
    side.fill(memory, 7)
    with exported_capsule(data) as array:
        driver.call("cuEventSynchronize", array.event)
        assert side.is_idle()
    # Of streams that are independent of the default one nothing is known.
    free = make_stream(NON_BLOCKING)
    free.sleep()
    with exported_capsule(data) as array:
        assert not free.is_idle()
        assert array.sync_event is None


def test_a_moved_structure_is_released_on_any_thread(ctx, driver, is_simulator, default_stream):
    memory, data = array_of(ctx)
    before = ctx.bytes_allocated - 1000
    default_stream.sleep()
    capsules = data.__arrow_c_device_array__()
    moved = structure(capsules[1]).move()
    event = ctypes.c_void_p(moved.event.value)
    del capsules, memory, data
    assert ctx.bytes_allocated == before + 1000

    def work():
        moved.release()
        return driver.current()

    assert (in_thread(work), moved.array.release, ctx.bytes_allocated) == (0, None, before)
    if is_simulator:  # a real driver may read through the handle
        assert driver.library.cuEventQuery(event) not in (PENDING, REACHED)


def test_an_import_that_is_passed_on_keeps_its_event(ctx, driver, producer):
    memory, data = array_of(ctx)
    producer.fill_later(memory, 7)
    there = pa.array(Exported(data, sync_event=producer.place))
    for part in (there, there.slice(3), pa.RecordBatch.from_arrays([there], ["a"])):
        with exported_capsule(part) as array:
            assert array.event.value == producer.event.value
            assert not producer.is_idle()
    driver.call("cuEventSynchronize", producer.event)
    with exported_capsule(there) as array:
        assert array.sync_event is None


def test_an_event_stands_for_all_that_is_pending(
    ctx, driver, default_stream, make_stream, make_event
):
    arrays = [array_of(ctx), array_of(ctx)]
    # Making these waits for work that is queued already.
    streams = [make_stream(NON_BLOCKING), make_stream(NON_BLOCKING)]
    producers = [Producer(driver, side.stream, make_event()) for side in streams]
    columns = []
    for (memory, data), producer in zip(arrays, producers, strict=True):
        producer.fill_later(memory, 7)
        columns.append(pa.array(Exported(data, sync_event=producer.place)))
    batch = pa.RecordBatch.from_arrays(columns, ["a", "b"])
    with exported_capsule(batch) as array:
        assert array.event.value not in [producer.event.value for producer in producers]
        driver.call("cuEventSynchronize", array.event)
        assert all(producer.is_done() for producer in producers)
    # The default stream's work is waited for as well.
    memory, data = array_of(ctx)
    producer.fill_later(memory, 7)
    there = pa.array(Exported(data, sync_event=producer.place))
    default_stream.sleep(400)
    with exported_capsule(there) as array:
        driver.call("cuEventSynchronize", array.event)
        assert default_stream.is_idle()
        assert producer.is_done()


@pytest.mark.simulator
@both_kinds
@pytest.mark.parametrize("function", ["cuStreamQuery", "cuEventRecord", "cuEventQuery"])
def test_a_failing_driver_fails_the_export(ctx, fault, default_stream, kind, function):
    _memory, data = kind(ctx)
    text = f"^Cuda error 999 in function '{function}': "
    array, schema = ArrowDeviceArray(), ArrowSchema()
    fault(f"{function}:1+=999")
    with pytest.raises(OSError, match=text):
        data.__arrow_c_device_array__()
    with pytest.raises(OSError, match=text):
        data._export_to_c_device(array.address, schema.address)
    fault("")
    assert (array.array.release, schema.release) == (None, None)


@pytest.mark.simulator
def test_only_events_that_consumers_have_are_new(ctx, calls, fault, default_stream):
    _memory, data = array_of(ctx)

    def export():
        with exported_capsule(data) as array:
            assert array.sync_event is None

    export()
    assert calls(export, b"cuEventCreate", b"cuEventDestroy_v2") == (None, [0, 0])
    default_stream.sleep()
    fault("cuEventCreate:1+=999")
    capsules = []
    with pytest.raises(OSError, match=r"^Cuda error 999 in function 'cuEventCreate': "):
        # Until none is left that an earlier export has used.
        capsules.extend(iter(data.__arrow_c_device_array__, None))
    fault("")
    events = {structure(array).event.value for _schema, array in capsules}
    assert len(events) == len(capsules) > 0


@pytest.mark.simulator
def test_the_host_is_left_alone(calls, default_stream):
    data = pa.array([1, 2, 3])
    default_stream.sleep()

    def work():
        with exported_capsule(data) as array:
            assert (array.device_type, array.sync_event) == (1, None)
            assert list(array.reserved) == [0, 0, 0]
        assert pa.array(Exported(data)).equals(data)

    assert calls(work, b"*") == (None, [0])
