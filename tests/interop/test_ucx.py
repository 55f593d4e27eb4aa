"""Device memory between the workers of Dask by UCX."""

import numpy as np
import pytest

from support.libraries.dask_tasks import (
    ALL,
    LARGE,
    content_of,
    copy_to_host,
    count_received,
    look_at,
    look_at_all_batches,
    make_all_batches,
    make_array,
    make_batch,
    make_buffer,
    received,
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


@pytest.mark.parametrize("size", [0, 1, 1000, LARGE, 64 * LARGE])
def test_a_buffer(cluster, size):
    before, _ = cluster.run(cluster.second, received)
    buffer = cluster.on_first(make_buffer, size)
    assert cluster.on_second(look_at, buffer) == ("CudaBuffer", size, 0, True)
    after, _ = cluster.run(cluster.second, received)
    assert after - before == size, "it has come as a frame on the device"


def test_a_device_array(cluster):
    array = cluster.on_first(make_array)
    expected = content_of(1000).reshape(10, 100)[:, ::2]
    np.testing.assert_array_equal(cluster.on_second(copy_to_host, array), expected)


# Nulls alone have no memory, on whichever side.
@pytest.mark.parametrize("name", [name for name in ALL if name != "null"])
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
    cluster.wait_for_release()
    for _ in range(100):
        _, living = cluster.run(cluster.second, received)
        if not living:
            return
    raise AssertionError(f"{living} bytes are left")
