"""Dask with a device for each worker, as `CUDA_VISIBLE_DEVICES` gives it."""

import pytest

from support.libraries.dask_tasks import LARGE, look_at, make_batch, make_buffer, same_batch

pytest.importorskip("distributed")

from support.libraries.dask_cluster import started

pytestmark = [pytest.mark.hardware, pytest.mark.subprocesses]

PRELOAD = {"distributed.worker.preload": ["pyarrow_cuda_compat.dask"]}
# The devices that the second worker sees: dask-cuda gives a worker all of them, its own first.
SEEN = {"its own first": ("1,0", "ipc"), "its own alone": ("1", "host")}


@pytest.fixture(scope="module", params=SEEN)
def cluster(request, contexts):
    if len(contexts) < 2:
        pytest.skip("needs two devices")
    seen, way = SEEN[request.param]
    with started(**PRELOAD, visible=("0,1" if "," in seen else "0", seen)) as cluster:
        yield cluster, way


def test_each_worker_has_its_device(cluster):
    def first_device():
        from pyarrow_cuda_compat import _native

        return _native._uuid(0).hex()

    assert len(set(cluster[0].client.run(first_device).values())) == 2


def test_data_comes_to_the_receivers_own_device(cluster):
    def make_slice():
        return make_buffer(2 * LARGE).slice(251 * 16, 251 * 1024)

    cluster, way = cluster
    for make, size in ((make_buffer, LARGE), (make_slice, 251 * 1024)):
        with cluster.expect(**{way: 1}):
            found = cluster.on_second(look_at, cluster.on_first(make))
            assert found == ("CudaBuffer", size, 0, True)
    with cluster.expect(**{way: 1}):
        assert cluster.on_second(same_batch, cluster.on_first(make_batch))
