# Device memory between the workers of Dask: by CUDA IPC, and as host frames where that is wanted.
# needs: distributed
# environment: DASK_LOGGING={'distributed':'critical','tornado.application':'critical'}
# shows: additions, Dask
#   pyarrow_cuda_compat.dask: workers exchange device memory through CUDA IPC, and release it
#     afterwards
#   pyarrow_cuda_compat.dask.Plugin: workers with the plugin use CUDA IPC from their first transfer
#     on
#   pyarrow_cuda_compat.dask.transfers: how often objects were sent in which way
#   pyarrow_cuda_compat.dask.THRESHOLD: smaller buffers go as host frames
#   pyarrow-cuda-compat.ipc: the Dask setting that sends everything through the host
import logging
import time

import dask
import distributed
import pyarrow as pa

import pyarrow_cuda_compat.dask


def make(size):
    from pyarrow import cuda  # on the worker

    return cuda.Context(0).buffer_from_data(bytes(range(256)) * (size // 256))


def make_batch(rows):
    from pyarrow import cuda

    return pa.record_batch({"x": range(rows)}).copy_to(cuda.Context(0).memory_manager)


def make_table(rows):
    return pa.Table.from_batches([make_batch(rows)])


def look(buf):
    intact = buf.to_pybytes() == bytes(range(256)) * (buf.size // 256)
    return type(buf).__name__, buf.size, buf.is_cpu, intact


def look_at_batch(batch):
    there = [column.is_cpu for column in batch.columns]
    last = batch.column(0).slice(len(batch) - 1).copy_to(pa.default_cpu_memory_manager())
    return there, last.to_pylist()


def transfers():
    return pyarrow_cuda_compat.dask.transfers()


def allocated():
    import gc

    from pyarrow import cuda

    gc.collect()
    return cuda.Context(0).bytes_allocated


def frees():
    return pyarrow_cuda_compat.memory_stats()["driver_frees"]


def send(first, second):
    """Makes data on the first worker, and looks at it on the second."""
    tables = [(function, look_at_batch, 100_000) for function in (make_batch, make_table)]
    for function, other, size in ((make, look, 1 << 20), *tables):
        made = client.submit(function, size, workers=[first], pure=False)
        print(client.submit(other, made, workers=[second], pure=False).result(timeout=60))
    small = client.submit(make, 1024, workers=[first], pure=False)
    print(client.submit(look, small, workers=[second], pure=False).result(timeout=60))
    return client.run(transfers, workers=[first])[first]


# On a busy machine, Dask logs lost heartbeats.
logging.disable(logging.CRITICAL)
options = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
pyarrow_cuda_compat.dask.THRESHOLD
with (
    distributed.LocalCluster(**options) as cluster,
    distributed.Client(cluster) as client,
):
    _ = client.register_plugin(pyarrow_cuda_compat.dask.Plugin())
    client.wait_for_workers(2)
    first, second = client.scheduler_info()["workers"]
    print(send(first, second))
    # A client gets host frames.
    print(look(client.submit(make, 1 << 20, workers=[first], pure=False).result()))
    # Memory that was lent is released when nobody needs it any more.
    deadline = time.monotonic() + 30
    while any(client.run(allocated).values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    print(sum(client.run(allocated).values()))
    # The driver gets it back, because another process may still have it mapped.
    print(client.run(frees, workers=[first])[first] > 0)
# With the setting there are host frames only.
with (
    dask.config.set({"pyarrow-cuda-compat.ipc": False}),
    distributed.LocalCluster(**options) as cluster,
    distributed.Client(cluster) as client,
):
    client.wait_for_workers(2)
    print(send(*client.scheduler_info()["workers"]))
