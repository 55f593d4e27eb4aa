"""Device memory between the workers of Dask."""

import time
from itertools import product

import pyarrow as pa
import pytest

from support.libraries.dask_tasks import (
    ALL,
    LARGE,
    allocated,
    content_of,
    empty_arrays,
    failed_transfer,
    hide_devices,
    long_batch,
    look_at,
    look_at_all_batches,
    look_at_empty_batches,
    make_all_batches,
    make_batch,
    make_buffer,
    make_empty_batches,
    make_pinned,
    on_host,
    same_batch,
    sent,
    set_threshold,
    watch_transfers,
)
from support.samples import shapes

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from support.libraries.dask_cluster import started  # noqa: E402

pytestmark = pytest.mark.foreign
#: What `look_at` finds of a buffer that has arrived.
INTACT = ("CudaBuffer", LARGE, 0, True)
PRELOAD = {"distributed.worker.preload": ["pyarrow_cuda_compat.dask"]}


@pytest.fixture(scope="module")
def shared_cluster():
    import pyarrow_cuda_compat.dask

    with started() as cluster:
        cluster.client.register_plugin(pyarrow_cuda_compat.dask.Plugin())
        yield cluster


@pytest.fixture
def cluster(shared_cluster):
    yield shared_cluster
    shared_cluster.wait_for_release()


@pytest.fixture
def threshold(cluster, request):
    """From which size on IPC is used."""
    [before] = set(cluster.client.run(set_threshold, request.param).values())
    yield
    cluster.client.run(set_threshold, before)


def look_there(cluster, make=make_buffer, *arguments):
    """What the second worker finds of the buffer that the first one makes."""
    return cluster.on_second(look_at, cluster.on_first(make, *arguments))


@pytest.mark.parametrize("size", [0, 1, (1 << 16) - 1, 1 << 16, LARGE, 20 << 20])
def test_buffers_go_by_ipc_unless_they_are_small(cluster, size):
    with cluster.expect(**{"ipc" if size >= 1 << 16 else "host": 1}):
        assert look_there(cluster, make_buffer, size) == ("CudaBuffer", size, 0, True)


def test_slices_and_read_only_memory(cluster):
    def make():
        from pyarrow_cuda_compat import _native

        return _native._read_only(make_buffer(251 * 4096).slice(251 * 1024, 251 * 2048))

    with cluster.expect(ipc=1):
        assert look_there(cluster, make) == ("CudaBuffer", 251 * 2048, 0, False)


def test_each_device(cluster, other_ctx):
    with cluster.expect(ipc=2):
        for device in (0, 1):
            found = look_there(cluster, make_buffer, LARGE, device)
            assert found == ("CudaBuffer", LARGE, device, True)


@pytest.mark.usefixtures("threshold")
@pytest.mark.parametrize("threshold", [0], indirect=True)
def test_batches_of_all_types(cluster):
    with_data = sum(
        any(buffer for column in batch.columns for buffer in column.buffers())
        for each in ALL.values()
        for array in shapes(each)
        for batch in [pa.record_batch({"a": array})]
    )
    count = sum(len(shapes(each)) for each in ALL.values())
    before = cluster.run(cluster.first, sent)
    future = cluster.on_first(make_all_batches)
    assert cluster.on_second(look_at_all_batches, future) == count
    after = cluster.run(cluster.first, sent)
    # None of them fell back to host frames.  Batches without any buffer are host batches.
    assert (after["ipc"] - before["ipc"], after["host"] - before["host"]) == (with_data, 0)


@pytest.mark.usefixtures("threshold")
@pytest.mark.parametrize("threshold", [0, 1 << 16], indirect=True)
def test_batches_and_tables_of_nothing(cluster):
    future = cluster.on_first(make_empty_batches)
    assert cluster.on_second(look_at_empty_batches, future) == len(empty_arrays())


def test_tables_and_arrays(cluster):
    def make(kind):
        batch = make_batch()
        table = pa.Table.from_batches([batch, batch])
        if kind == "slice":
            return table.slice(20_000)
        return {"table": table, "chunks": table.column("b"), "array": batch.column(0)}[kind]

    def look(kind, there):
        batch = long_batch("int64", 20_000)
        table = pa.Table.from_batches([batch] * (1 if kind == "slice" else 2))
        if kind == "array":
            assert on_host(there).equals(batch.column(0))
            return type(there).__name__
        columns = [there] if kind == "chunks" else there.columns
        for column in columns:
            assert [on_host(chunk) for chunk in column.chunks] == table.column("a").chunks
            assert not column.is_cpu
        return type(there).__name__

    with cluster.expect(ipc=2):
        for kind in ("table", "slice"):
            assert cluster.on_second(look, kind, cluster.on_first(make, kind)) == "Table"
    # Arrays on their own are pickled.
    with cluster.expect():
        for kind, name in (("array", "Int64Array"), ("chunks", "ChunkedArray")):
            assert cluster.on_second(look, kind, cluster.on_first(make, kind)) == name


def test_collections(cluster):
    def make():
        return {"buffer": make_buffer(), "batch": make_batch(), "host": [1]}

    def look(there):
        assert there["host"] == [1]
        return look_at(there["buffer"]), same_batch(there["batch"])

    with cluster.expect(ipc=2):
        assert cluster.on_second(look, cluster.on_first(make)) == (INTACT, True)


def test_shared_memory_is_copied_once(cluster):
    def make():
        column = make_batch().column(0)
        return pa.record_batch([column, column], ["x", "y"])

    def look(there):
        addresses = {column.buffers()[1].address for column in there.columns}
        return len(addresses), sum(allocated())

    there, size = cluster.on_second(look, cluster.on_first(make))
    assert there == 1
    assert size == sum(buffer.size for buffer in long_batch("int64", 20_000).column(0).buffers())


def test_memory_goes_when_nobody_needs_it(cluster):
    with cluster.expect(ipc=1):
        future = cluster.on_first(make_buffer)
        there = cluster.client.submit(lambda buffer: buffer, future, workers=[cluster.second])
        distributed.wait(there, timeout=60)
    assert sum(cluster.run(cluster.first, allocated)) == LARGE
    assert sum(cluster.run(cluster.second, allocated)) == LARGE
    future.release()
    there.release()
    # The fixture waits for both.


def test_the_receiver_has_memory_of_its_own(cluster):
    future = cluster.on_first(make_buffer)
    there = cluster.client.submit(
        lambda buffer: buffer.slice(0), future, workers=[cluster.second], pure=False
    )
    distributed.wait(there, timeout=60)

    def overwrite(buffer):
        buffer.copy_from_host(bytes(LARGE))

    cluster.on_first(overwrite, future).result(timeout=60)
    assert cluster.on_second(look_at, there) == INTACT
    # It can be lent on, and back.
    assert cluster.on_first(look_at, there).result(timeout=60) == INTACT


def test_clients_get_host_frames(cluster, ctx):
    with cluster.expect(host=2):
        buffer = cluster.on_first(make_buffer).result(timeout=60)
        batch = cluster.on_first(make_batch).result(timeout=60)
    assert look_at(buffer) == INTACT
    assert same_batch(batch)
    with cluster.expect(host=1):
        [other] = cluster.client.gather([cluster.on_first(make_buffer)], direct=True)
    assert look_at(other) == INTACT


@pytest.mark.parametrize("direct", [True, False])
def test_clients_send_host_frames(cluster, ctx, direct):
    sent_before = sent()
    future = cluster.client.scatter(
        make_buffer(), workers=[cluster.first], direct=direct, hash=False
    )
    with cluster.expect(ipc=1):
        assert cluster.on_second(look_at, future) == INTACT
    assert sent()["ipc"] == sent_before["ipc"] == 0


def test_memory_that_cannot_be_lent(cluster):
    with cluster.expect(host=1):
        assert look_there(cluster, make_pinned) == INTACT


def test_part_of_the_memory_cannot_be_lent(cluster):
    def make():
        columns = [
            pa.Array.from_buffers(pa.uint8(), LARGE, [None, buffer])
            for buffer in (make_pinned(), make_buffer())
        ]
        return pa.record_batch(columns, ["foreign", "own"])

    def look(batch):
        expected = pa.array(content_of(LARGE))
        assert not batch.column(0).is_cpu
        return [on_host(column).equals(expected) for column in batch.columns]

    with cluster.expect(ipc=1):
        assert cluster.on_second(look, cluster.on_first(make)) == [True, True]


def test_only_held_replies_lend(cluster):
    """The reply to other requests is dropped as soon as it is written."""

    async def ask(address, dask_worker):
        function = distributed.protocol.pickle.dumps(make_buffer)
        reply = await dask_worker.rpc(address).run(function=function)
        return look_at(reply["result"])

    with cluster.expect(host=1):
        assert cluster.run(cluster.second, ask, cluster.first) == INTACT


def test_handles_that_cannot_be_opened():
    """The transfer goes on with host frames, and the next ones by IPC; if those fail, too, more and
    more of the later ones go through the host at once."""
    # A cluster of its own: `distributed` logs the failed transfer, and the log keeps its data.
    with started(**PRELOAD) as cluster:
        cluster.run(cluster.second, hide_devices, 1)
        with cluster.expect(ipc=1, host=1):
            assert look_there(cluster) == INTACT
        with cluster.expect(ipc=1):
            future = cluster.on_first(make_batch)
            assert cluster.on_second(same_batch, future)
        cluster.run(cluster.second, watch_transfers)
        cluster.run(cluster.second, hide_devices, 1000)
        for ways in ({"ipc": 1, "host": 1}, {"ipc": 1, "host": 1}, {"host": 1}):
            with cluster.expect(**ways):
                assert look_there(cluster) == INTACT
        # The other way is as open as before.
        there = cluster.client.submit(make_buffer, workers=[cluster.second], pure=False)
        assert cluster.on_first(look_at, there).result(timeout=60) == INTACT
        assert cluster.run(cluster.second, sent) == {"ipc": 1, "host": 0}
        failure = cluster.run(cluster.second, failed_transfer)
        assert "device memory of another worker cannot be opened by CUDA IPC" in failure
        assert "pyarrow-cuda-compat.ipc: false" in failure


def test_clients_without_a_device_are_told_what_to_do(monkeypatch):
    def no_devices():
        raise OSError("the CUDA driver library 'libcuda.so.1' could not be loaded")

    # A cluster of its own: `distributed` keeps the failures with what they are about.
    with started(**PRELOAD) as cluster:
        futures = [cluster.on_first(make) for make in (make_buffer, make_batch)]
        with monkeypatch.context() as patched:
            patched.setattr("pyarrow_cuda_compat._methods.pickling._device_count", no_devices)
            for future, direct in product(futures, (False, True)):
                with pytest.raises(OSError, match="With Dask, have a worker make it"):
                    cluster.client.gather(future, direct=direct)
        # As the text says.
        assert cluster.on_first(on_host, futures[1]).result(timeout=60).is_cpu


@pytest.mark.simulator
@pytest.mark.parametrize("size", [1 << 15, LARGE])
def test_nothing_is_lost_while_a_device_is_full(monkeypatch, size):
    """`distributed` asks again until there is room."""
    monkeypatch.setenv("CUDA_SIM_MEMORY", str(16 * LARGE))
    with started(**PRELOAD) as cluster:
        hog = cluster.client.submit(make_buffer, 16 * LARGE - 4096, workers=[cluster.second])
        distributed.wait(hog, timeout=60)
        cluster.run(cluster.second, watch_transfers)
        future = cluster.on_first(make_buffer, size)
        waiting = cluster.client.submit(look_at, future, workers=[cluster.second])
        failure = cluster.run(cluster.second, failed_transfer)
        assert "Cuda error 2 " in failure
        assert "out of memory" in failure
        assert not waiting.done()
        del hog
        assert waiting.result(timeout=60) == ("CudaBuffer", size, 0, True)


def test_without_any_preparation(ctx):
    """The workers import the package when the first task does."""
    with started() as cluster:
        for attempt in range(100):
            assert look_there(cluster) == INTACT
            ways = cluster.run(cluster.first, sent)
            if ways["ipc"]:
                break
            assert ways["host"] == attempt + 1
            time.sleep(0.1)  # connections are renewed when they are idle
        assert ways == {"ipc": 1, "host": attempt}
        assert attempt > 0
        cluster.wait_for_release()
