"""Device memory between the workers of Dask.

What tasks are made of runs on the workers, which import it from here.
"""

import contextvars
import doctest
import gc
import inspect
import os
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from samples import ARRAYS, CPU, DICTIONARY, empty_of, shapes

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

ALL = ARRAYS | {"dictionary": DICTIONARY}
LARGE = 1 << 20
# Nothing about what fails on purpose.
PRELOAD = {"distributed.worker.preload": ["pyarrow_cuda_compat.dask"]}
QUIET = {"distributed.logging": {"distributed": "critical"}}


# --- on the workers ------------------------------------------------------------------------------


def make_buffer(size=LARGE, device=0):
    from pyarrow import cuda

    return cuda.Context(device).buffer_from_data(content_of(size))


def content_of(size):
    return (np.arange(size) % 251).astype(np.uint8)


def look_at(buffer):
    content = buffer.to_pybytes()
    assert content == content_of(len(content)).tobytes()
    return type(buffer).__name__, buffer.size, buffer.context.device_number, buffer.is_mutable


def make_batch(name="int64", rows=20_000, device=0):
    from pyarrow import cuda

    return long_batch(name, rows).copy_to(cuda.Context(device).memory_manager)


def long_batch(name, rows):
    array = ALL[name]
    array = pa.concat_arrays([array] * (rows // len(array)))
    return pa.record_batch({"a": array, "b": array}, metadata={"of": "schema"})


def same_batch(there, name="int64", rows=20_000):
    batch = long_batch(name, rows)
    assert all(not column.is_cpu for column in there.columns)
    back = there.copy_to(CPU)
    back.validate(full=True)
    assert back.schema.equals(batch.schema, check_metadata=True)
    return back.equals(batch)


def make_all_batches():
    from pyarrow import cuda

    manager = cuda.Context(0).memory_manager
    return [
        pa.record_batch({"a": array, "b": array}).copy_to(manager)
        for each in ALL.values()
        for array in shapes(each)
    ]


def look_at_all_batches(batches):
    expected = [array for each in ALL.values() for array in shapes(each)]
    for batch, array in zip(batches, expected, strict=True):
        back = batch.copy_to(CPU)
        back.validate(full=True)
        assert back.column(0).equals(array)
        assert back.column(1).equals(array)
    return len(batches)


def empty_arrays():
    bare = pa.StructArray.from_arrays([pa.nulls(2), pa.array(["a", "b"])], ["first", "second"])
    arrays = [bare, pa.array(["", ""]), pa.array([], pa.json_())]
    for each in ALL.values():
        arrays += [empty_of(each.type), pa.nulls(2, each.type)]
    return arrays


def make_empty_batches():
    from pyarrow import cuda

    manager = cuda.Context(0).memory_manager
    batches = [pa.record_batch({"a": each}).copy_to(manager) for each in empty_arrays()]
    return batches, [pa.Table.from_batches([batch, batch]) for batch in batches]


def look_at_empty_batches(there):
    batches, tables = there
    for batch, table, array in zip(batches, tables, empty_arrays(), strict=True):
        assert on_host(batch.column(0)).equals(array)
        # What has no memory at all goes as a host table, which loses chunks of no rows.
        chunks = [on_host(chunk) for chunk in table.column(0).chunks]
        assert chunks == [array] * 2 or not (chunks or any(array.buffers()) or len(array))
    return len(batches)


def on_host(there):
    return there.copy_to(CPU)


def sent():
    import pyarrow_cuda_compat.dask

    return pyarrow_cuda_compat.dask.transfers()


def allocated():
    from pyarrow import cuda

    gc.collect()
    return [
        cuda.Context(number).bytes_allocated for number in range(cuda.Context.get_num_devices())
    ]


def set_threshold(size):
    import pyarrow_cuda_compat.dask as module

    before, module.THRESHOLD = module.THRESHOLD, size
    return before


# --- a cluster -----------------------------------------------------------------------------------


class Cluster:
    """Two workers, and what has gone from the first to others."""

    def __init__(self, client):
        self.client = client
        self.first, self.second = client.scheduler_info()["workers"]

    def on_first(self, function, *arguments):
        return self.client.submit(function, *arguments, workers=[self.first], pure=False)

    def on_second(self, function, *arguments):
        """The result there."""
        future = self.client.submit(function, *arguments, workers=[self.second], pure=False)
        return future.result(timeout=60)

    def run(self, worker, function, *arguments):
        return self.client.run(function, *arguments, workers=[worker])[worker]

    @contextmanager
    def expect(self, **ways):
        """What the first worker sends meanwhile."""
        before = self.run(self.first, sent)
        yield
        after = self.run(self.first, sent)
        assert {way: after[way] - before[way] for way in after} == {"ipc": 0, "host": 0} | ways

    def settle(self):
        """Waits until the workers have released what nobody needs any more."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            left = list(self.client.run(allocated).values())
            if not any(map(any, left)):
                return
            time.sleep(0.02)
        raise AssertionError(f"bytes that stay allocated on the workers: {left}")


@contextmanager
def started(**configuration):
    with (
        dask.config.set(QUIET | configuration),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        processes = client.run(os.getpid).values()
        yield Cluster(client)
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]


@pytest.fixture(scope="module")
def shared_cluster():
    import pyarrow_cuda_compat.dask

    with started() as cluster:
        cluster.client.register_plugin(pyarrow_cuda_compat.dask.Plugin())
        yield cluster


@pytest.fixture
def cluster(shared_cluster):
    yield shared_cluster
    shared_cluster.settle()


@pytest.fixture
def no_threshold(cluster):
    [before] = set(cluster.client.run(set_threshold, 0).values())
    yield
    cluster.client.run(set_threshold, before)


# --- tests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1 << 16, LARGE, 20 << 20])
def test_buffers_go_by_ipc(cluster, size):
    with cluster.expect(ipc=1):
        future = cluster.on_first(make_buffer, size)
        assert cluster.on_second(look_at, future) == ("CudaBuffer", size, 0, True)


@pytest.mark.parametrize("size", [0, 1, (1 << 16) - 1])
def test_small_buffers_go_as_host_frames(cluster, size):
    with cluster.expect(host=1):
        future = cluster.on_first(make_buffer, size)
        assert cluster.on_second(look_at, future) == ("CudaBuffer", size, 0, True)


def test_slices_and_read_only_memory(cluster):
    def make():
        from pyarrow_cuda_compat import _native

        return _native._read_only(make_buffer(251 * 4096).slice(251 * 1024, 251 * 2048))

    with cluster.expect(ipc=1):
        future = cluster.on_first(make)
        expected = ("CudaBuffer", 251 * 2048, 0, False)
        assert cluster.on_second(look_at, future) == expected


def test_each_device(cluster, other_ctx):
    with cluster.expect(ipc=2):
        for device in (0, 1):
            future = cluster.on_first(make_buffer, LARGE, device)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, device, True)


@pytest.mark.parametrize("name", ["int64", "string", "deeply nested", "dictionary", "extension"])
def test_batches_go_by_ipc(cluster, name):
    with cluster.expect(ipc=1):
        future = cluster.on_first(make_batch, name)
        assert cluster.on_second(same_batch, future, name)


def test_batches_of_all_types(cluster, no_threshold):
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


@pytest.mark.parametrize("threshold", [0, 1 << 16])
def test_batches_and_tables_of_nothing(cluster, threshold):
    [before] = set(cluster.client.run(set_threshold, threshold).values())
    try:
        future = cluster.on_first(make_empty_batches)
        assert cluster.on_second(look_at_empty_batches, future) == len(empty_arrays())
    finally:
        cluster.client.run(set_threshold, before)


def test_tables_and_arrays(cluster):
    def make(kind):
        batch = make_batch()
        table = pa.Table.from_batches([batch, batch])
        return {"table": table, "chunks": table.column("b"), "array": batch.column(0)}[kind]

    def look(kind, there):
        batch = long_batch("int64", 20_000)
        table = pa.Table.from_batches([batch, batch])
        if kind == "array":
            assert on_host(there).equals(batch.column(0))
            return type(there).__name__
        columns = [there] if kind == "chunks" else there.columns
        for column in columns:
            assert [on_host(chunk) for chunk in column.chunks] == table.column("a").chunks
            assert not column.is_cpu
        return type(there).__name__

    with cluster.expect(ipc=1):
        future = cluster.on_first(make, "table")
        assert cluster.on_second(look, "table", future) == "Table"
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
        future = cluster.on_first(make)
        assert cluster.on_second(look, future) == (("CudaBuffer", LARGE, 0, True), True)


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
    assert cluster.on_second(look_at, there) == ("CudaBuffer", LARGE, 0, True)
    # It can be lent on, and back.
    back = cluster.client.submit(look_at, there, workers=[cluster.first], pure=False)
    assert back.result(timeout=60) == ("CudaBuffer", LARGE, 0, True)


def test_clients_get_host_frames(cluster, ctx):
    with cluster.expect(host=2):
        buffer = cluster.on_first(make_buffer).result(timeout=60)
        batch = cluster.on_first(make_batch).result(timeout=60)
    assert look_at(buffer) == ("CudaBuffer", LARGE, 0, True)
    assert same_batch(batch)
    with cluster.expect(host=1):
        [other] = cluster.client.gather([cluster.on_first(make_buffer)], direct=True)
    assert look_at(other) == ("CudaBuffer", LARGE, 0, True)


@pytest.mark.parametrize("direct", [True, False])
def test_clients_send_host_frames(cluster, ctx, direct):
    sent_before = sent()
    future = cluster.client.scatter(
        make_buffer(), workers=[cluster.first], direct=direct, hash=False
    )
    with cluster.expect(ipc=1):
        assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)
    assert sent()["ipc"] == sent_before["ipc"] == 0


def test_host_data_goes_as_ever(cluster):
    batch = long_batch("string", 20_000)
    table = pa.Table.from_batches([batch])
    with cluster.expect():
        for value in (batch, table):
            future = cluster.on_first(lambda value: value, value)
            assert cluster.on_second(lambda there, value: there.equals(value), future, value)


def test_memory_that_cannot_be_lent(cluster):
    def make():
        from pyarrow import cuda

        ctx = cuda.Context(0)
        pinned = cuda.new_host_buffer(LARGE)
        np.frombuffer(pinned, np.uint8)[:] = content_of(LARGE)
        address = ctx.get_device_address(pinned.address)
        return ctx.foreign_buffer(address, LARGE, base=pinned)

    with cluster.expect(host=1):
        future = cluster.on_first(make)
        assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)


def test_part_of_the_memory_cannot_be_lent(cluster):
    def make():
        from pyarrow import cuda

        ctx = cuda.Context(0)
        pinned = cuda.new_host_buffer(LARGE)
        np.frombuffer(pinned, np.uint8)[:] = content_of(LARGE)
        address = ctx.get_device_address(pinned.address)
        foreign = ctx.foreign_buffer(address, LARGE, base=pinned)
        columns = [
            pa.Array.from_buffers(pa.uint8(), LARGE, [None, buffer])
            for buffer in (foreign, make_buffer(LARGE))
        ]
        return pa.record_batch(columns, ["foreign", "own"])

    def look(batch):
        expected = pa.array(content_of(LARGE))
        assert not batch.column(0).is_cpu
        return [on_host(column).equals(expected) for column in batch.columns]

    with cluster.expect(ipc=1):
        assert cluster.on_second(look, cluster.on_first(make)) == [True, True]


def test_ipc_can_be_turned_off(cluster):
    def use_ipc(value):
        dask.config.set({"pyarrow-cuda-compat.ipc": value})

    cluster.run(cluster.first, use_ipc, False)
    try:
        with cluster.expect(host=1):
            future = cluster.on_first(make_buffer)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)
    finally:
        cluster.run(cluster.first, use_ipc, True)


def test_only_held_replies_lend(cluster):
    """The reply to other requests is dropped as soon as it is written."""

    async def ask(address, dask_worker):
        function = distributed.protocol.pickle.dumps(make_buffer)
        reply = await dask_worker.rpc(address).run(function=function)
        return look_at(reply["result"])

    with cluster.expect(host=1):
        assert cluster.run(cluster.second, ask, cluster.first) == ("CudaBuffer", LARGE, 0, True)


def hide_devices(times):
    """Handles cannot be opened so many times."""
    import pyarrow_cuda_compat.dask as module

    shown, left = module.devices, iter(range(times))
    module.devices = lambda: shown() if next(left, None) is None else range(0)


def test_handles_that_cannot_be_opened():
    """The transfer goes on with host frames, and so do later ones."""
    # A cluster of its own: `distributed` logs the failed transfer, and the log keeps its data.
    with started(**PRELOAD) as cluster:
        cluster.run(cluster.second, hide_devices, 1000)
        with cluster.expect(ipc=1, host=1):
            future = cluster.on_first(make_buffer)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)
        with cluster.expect(host=1):
            future = cluster.on_first(make_buffer)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)
        # The other way is as open as before.
        there = cluster.client.submit(make_buffer, workers=[cluster.second], pure=False)
        back = cluster.client.submit(look_at, there, workers=[cluster.first], pure=False)
        assert back.result(timeout=60) == ("CudaBuffer", LARGE, 0, True)
        assert cluster.run(cluster.second, sent) == {"ipc": 1, "host": 0}
        logs = str(cluster.client.get_worker_logs(workers=[cluster.second]))
        assert "device memory of another worker cannot be opened by CUDA IPC" in logs
        assert "pyarrow-cuda-compat.ipc: false" in logs


@pytest.mark.simulator
@pytest.mark.parametrize("size", [1 << 15, LARGE])
def test_nothing_is_lost_while_a_device_is_full(monkeypatch, size):
    """`distributed` asks again until there is room."""
    monkeypatch.setenv("CUDA_SIM_MEMORY", str(16 * LARGE))
    with started(**PRELOAD) as cluster:
        hog = cluster.client.submit(make_buffer, 16 * LARGE - 4096, workers=[cluster.second])
        distributed.wait(hog, timeout=60)
        future = cluster.on_first(make_buffer, size)
        waiting = cluster.client.submit(look_at, future, workers=[cluster.second])
        deadline, logs = time.monotonic() + 30, ""
        while "Cuda error 2 " not in logs and time.monotonic() < deadline:
            time.sleep(0.1)
            logs = str(cluster.client.get_worker_logs(workers=[cluster.second]))
        assert "out of memory" in logs
        assert not waiting.done()
        del hog
        assert waiting.result(timeout=60) == ("CudaBuffer", size, 0, True)


def test_one_failure_is_no_reason_to_give_up():
    with started(**PRELOAD) as cluster:
        with cluster.expect(ipc=1):
            future = cluster.on_first(make_buffer)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)
        cluster.run(cluster.second, hide_devices, 1)
        with cluster.expect(ipc=2):
            future = cluster.on_first(make_buffer)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)
        cluster.run(cluster.second, hide_devices, 1000)
        with cluster.expect(ipc=3, host=1):
            future = cluster.on_first(make_buffer)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)


def test_without_any_preparation(ctx):
    """The workers import the package when the first task does."""
    with started() as cluster:
        for attempt in range(100):
            future = cluster.on_first(make_buffer)
            assert cluster.on_second(look_at, future) == ("CudaBuffer", LARGE, 0, True)
            ways = cluster.run(cluster.first, sent)
            if ways["ipc"]:
                break
            assert ways["host"] == attempt + 1
            time.sleep(0.1)  # connections are renewed when they are idle
        assert ways == {"ipc": 1, "host": attempt}
        assert attempt > 0
        del future
        cluster.settle()


def test_preloaded():
    with started(**PRELOAD) as cluster, cluster.expect(ipc=1):
        future = cluster.on_first(make_batch)
        assert cluster.on_second(same_batch, future)


# --- in this process -----------------------------------------------------------------------------


@pytest.mark.simulator
def test_what_cannot_be_lent_is_copied_once(ctx, driver, monkeypatch):
    from distributed.protocol import serialize

    import pyarrow_cuda_compat._dask_peers as peers

    announced = peers.announcement() | {"process": 1, "devices": ["00" * 16]}
    monkeypatch.setattr(peers, "_is_held", contextvars.ContextVar("_is_held", default=True))

    def copies():
        return driver.library.cuda_sim_call_count(b"cuMemcpyDtoH_v2")

    before, sent_before = copies(), sent()
    header, _ = serialize(make_buffer(), context={"recipient": {peers.NAME: announced}})
    assert copies() - before == 1
    assert sent()["host"] - sent_before["host"] == 1
    # A process that has not imported this package can load it.
    assert header["serializer"] == "pickle"


def test_sizes_and_frames_of_what_calls_itself_a_host_object(ctx):
    from dask.sizeof import sizeof
    from distributed.protocol import deserialize, serialize

    import pyarrow_cuda_compat.dask  # noqa: F401

    struct = pa.StructArray.from_arrays([pa.nulls(2), pa.array(["a", "b"])], ["first", "second"])
    host = pa.record_batch({"c": struct})
    batch = host.copy_to(ctx.memory_manager)
    size = sum(buffer.size for buffer in batch.column(0).buffers() if buffer)
    table = pa.Table.from_batches([batch])
    for value in (batch, batch.column(0), table, table.column(0)):
        assert size <= sizeof(value) < size + 3000
    for value in (batch, table):
        back = deserialize(*serialize(value))
        chunks = back.columns if value is batch else back.column(0).chunks
        assert [on_host(chunk) for chunk in chunks] == [struct]


def test_spilling_makes_host_frames(ctx):
    from distributed.protocol import deserialize_bytes, serialize_bytes

    before = sent()
    for value in (make_buffer(), make_batch()):
        back = deserialize_bytes(serialize_bytes(value))
        assert type(back) is type(value)
        assert look_at(back) if back is not None and hasattr(back, "hex") else same_batch(back)
    assert sent() == before


def test_host_batches_are_serialized_by_distributed_itself():
    from distributed.protocol import arrow, deserialize, serialize

    for value, own in (
        (long_batch("int64", 100), arrow.serialize_batch),
        (pa.table({"x": [1, None]}), arrow.serialize_table),
    ):
        header, frames = serialize(value)
        own_header, own_frames = own(value)
        assert header["sub-header"] == own_header
        assert [bytes(frame) for frame in frames] == [bytes(frame) for frame in own_frames]
        assert deserialize(header, frames).equals(value)


def test_sizes(ctx):
    from dask.sizeof import sizeof

    import pyarrow_cuda_compat.dask  # noqa: F401

    assert LARGE <= sizeof(make_buffer()) < LARGE + 1000
    batch = make_batch()
    size = sum(buffer.size for column in batch.columns for buffer in column.buffers() if buffer)
    assert size <= sizeof(batch) < size + 1000
    assert size // 2 <= sizeof(batch.column(0)) < size // 2 + 1000
    assert size <= sizeof(pa.Table.from_batches([batch])) < size + 3000
    host = long_batch("int64", 100)
    assert sizeof(host) == host.__sizeof__() + 16 or sizeof(host) >= host.nbytes


@pytest.mark.parametrize(
    "order", [("pyarrow.cuda", "distributed"), ("distributed", "pyarrow.cuda")]
)
def test_either_may_be_imported_first(run_python, order):
    code = f"""if True:
        import sys
        import {order[0]}
        assert "pyarrow_cuda_compat.dask" not in sys.modules
        import {order[1]}
        assert "pyarrow_cuda_compat.dask" in sys.modules
        from distributed.protocol import dask_serialize
        import distributed, pyarrow as pa, pyarrow_cuda_compat.dask as ours
        assert dask_serialize.dispatch(pa.cuda.CudaBuffer) is ours._serialize
        # What `distributed` registers for pyarrow when it first needs it comes before.
        for kind in (pa.RecordBatch, pa.Table):
            assert dask_serialize.dispatch(kind).__module__ == ours.__name__
        assert not [each for each in sys.meta_path if type(each).__module__.endswith("_watch")]
        assert type(distributed.__loader__).__name__ == "SourceFileLoader"
    """
    assert run_python(code) == (0, "", "")


def test_nothing_else_is_imported(run_python):
    code = """if True:
        import sys
        from pyarrow import cuda
        cuda.Context(0).new_buffer(1)
        names = ("dask", "distributed", "pyarrow_cuda_compat.dask")
        assert not [name for name in names if name in sys.modules]
    """
    assert run_python(code) == (0, "", "")


def test_an_import_that_fails_may_be_tried_again(run_python, tmp_path):
    package = tmp_path / "distributed"
    package.mkdir()
    (package / "__init__.py").write_text("import os; assert os.environ.get('WORKS'), 'not now'")
    code = f"""if True:
        import os, sys, warnings
        from pyarrow import cuda
        sys.path.insert(0, {str(tmp_path)!r})
        try:
            import distributed
        except AssertionError as error:
            print(error)
        os.environ["WORKS"] = "1"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import distributed
        # This one is not Dask's.
        print(distributed.__file__ == {str(package / "__init__.py")!r}, len(caught))
        print(str(caught[0].message)[:50])
    """
    expected = "not now\nTrue 1\npyarrow_cuda_compat.dask does not work here: Modul\n"
    assert run_python(code, WORKS=None) == (0, expected, "")


@pytest.mark.parametrize("first", ["pyarrow.cuda", "distributed"])
def test_no_import_fails_where_warnings_are_errors(run_python, tmp_path, first):
    package = tmp_path / "distributed"
    package.mkdir()
    (package / "__init__.py").write_text("")
    last = "distributed" if first == "pyarrow.cuda" else "pyarrow.cuda"
    code = f"""if True:
        import sys, warnings
        warnings.simplefilter("error", RuntimeWarning)
        sys.path.insert(0, {str(tmp_path)!r})
        import {first}
        import {last}
        print(sys.modules["distributed"].__file__ == {str(package / "__init__.py")!r})
    """
    status, out, err = run_python(code)
    assert (status, out) == (0, "True\n")
    assert err.startswith("pyarrow_cuda_compat.dask does not work here: Modul")


@pytest.mark.parametrize("name", ["Plugin", "transfers"])
def test_an_example_runs(name):
    import pyarrow_cuda_compat.dask as module

    text = inspect.getdoc(getattr(module, name))
    example = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert example.examples
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
