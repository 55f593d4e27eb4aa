"""Device memory between the workers of Dask by UCX."""

import numpy as np
import pytest

from support.libraries.dask_tasks import (
    ALL,
    LARGE,
    content_of,
    look_at,
    look_at_all_batches,
    make_all_batches,
    make_batch,
    make_buffer,
    same_batch,
)

pytest.importorskip("distributed_ucxx")
pytest.importorskip("rmm")

from support.libraries.dask_cluster import started

pytestmark = pytest.mark.hardware


@pytest.fixture(scope="module")
def cluster():
    import pyarrow_cuda_compat.dask

    # Else UCX would be made ready before there is a context, and would leave devices out.
    with started("ucx", **{"distributed.comm.ucx.create-cuda-context": True}) as cluster:
        cluster.client.register_plugin(pyarrow_cuda_compat.dask.Plugin())
        cluster.client.run(count_received)
        yield cluster


def count_received():
    import rmm.statistics

    rmm.statistics.enable_statistics()


def received():
    """How many bytes of device memory this worker has received, and how many of them live."""
    import gc

    import rmm.statistics

    gc.collect()
    statistics = rmm.statistics.get_statistics()
    return statistics.total_bytes, statistics.current_bytes


@pytest.mark.parametrize("size", [0, 1, 1000, LARGE, 64 * LARGE])
def test_a_buffer(cluster, size):
    before, _ = cluster.run(cluster.second, received)
    buffer = cluster.on_first(make_buffer, size)
    assert cluster.on_second(look_at, buffer) == ("CudaBuffer", size, 0, True)
    after, _ = cluster.run(cluster.second, received)
    assert after - before == size, "it has come as a frame on the device"


def make_array():
    from pyarrow_cuda_compat import DeviceArray

    return DeviceArray.from_host(content_of(1000).reshape(10, 100))[:, ::2]


def content(array):
    return array.copy_to_host()


def test_a_device_array(cluster):
    array = cluster.on_first(make_array)
    expected = content_of(1000).reshape(10, 100)[:, ::2]
    np.testing.assert_array_equal(cluster.on_second(content, array), expected)


@pytest.mark.parametrize("name", ALL)
def test_a_batch(cluster, name):
    batch = cluster.on_first(make_batch, name)
    assert cluster.on_second(same_batch, batch, name)


def test_batches_of_all_types(cluster):
    batches = cluster.on_first(make_all_batches)
    assert cluster.on_second(look_at_all_batches, batches) > 50


def test_what_was_received_is_released(cluster):
    buffer = cluster.on_first(make_buffer)
    cluster.on_second(look_at, buffer)
    _, living = cluster.run(cluster.second, received)
    assert living >= LARGE
    del buffer
    cluster.settle()
    for _ in range(100):
        _, living = cluster.run(cluster.second, received)
        if not living:
            return
    raise AssertionError(f"{living} bytes are left")
