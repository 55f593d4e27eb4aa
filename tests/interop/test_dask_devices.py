"""Dask with a device for each worker, as `CUDA_VISIBLE_DEVICES` gives it."""

import pytest

from support.libraries.dask_tasks import LARGE, look_at, make_buffer

pytest.importorskip("distributed")

from support.libraries.dask_cluster import started

pytestmark = [pytest.mark.hardware, pytest.mark.subprocesses]

PRELOAD = {"distributed.worker.preload": ["pyarrow_cuda_compat.dask"]}
# What the second worker sees: dask-cuda gives a worker all devices, its own first.
SEEN = {"its own first": ("1,0", "ipc"), "its own alone": ("1", "host")}


@pytest.fixture(scope="module", params=SEEN)
def cluster(request, contexts):
    if len(contexts) < 2:
        pytest.skip("needs two devices")
    seen, way = SEEN[request.param]
    with started(**PRELOAD, visible=("0,1" if "," in seen else "0", seen)) as cluster:
        yield cluster, way


def device_of_number_0():
    from pyarrow_cuda_compat import _native

    return _native._uuid(0).hex()


def make_slice():
    return make_buffer(2 * LARGE).slice(251 * 16, 251 * 1024)


def make_table():
    import pyarrow as pa
    from pyarrow import cuda

    chunks = [pa.record_batch({"a": range(n, n + 50_000)}) for n in (0, 50_000)]
    return pa.Table.from_batches(chunks).copy_to(cuda.Context(0))


def look_at_table(table):
    import pyarrow as pa

    places = {batch.device_type for batch in table.to_batches()}
    host = table.copy_to(pa.default_cpu_memory_manager())
    return len(places), host["a"].to_pylist() == list(range(100_000))


def test_each_worker_has_its_device(cluster):
    cluster, _way = cluster
    first, second = (
        cluster.run(worker, device_of_number_0) for worker in (cluster.first, cluster.second)
    )
    assert first != second


def test_data_comes_to_the_receivers_own_device(cluster):
    cluster, way = cluster
    for make, size in ((make_buffer, LARGE), (make_slice, 251 * 1024)):
        with cluster.expect(**{way: 1}):
            found = cluster.on_second(look_at, cluster.on_first(make))
            assert found == ("CudaBuffer", size, 0, True)
    with cluster.expect(**{way: 1}):
        assert cluster.on_second(look_at_table, cluster.on_first(make_table)) == (1, True)
