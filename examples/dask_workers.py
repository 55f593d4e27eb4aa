"""Two Dask workers on one machine pass a record batch from device to device.

The package sends it by CUDA IPC, with nothing to configure: it does not go through the host.
"""
# needs: distributed

from __future__ import annotations

import distributed
import pyarrow as pa

import pyarrow_cuda_compat.dask


def make() -> pa.RecordBatch:
    from pyarrow import cuda  # where the task runs

    batch = pa.record_batch({"x": pa.array(range(100_000))})
    return batch.copy_to(cuda.Context(0).memory_manager)


def rows_of(batch: pa.RecordBatch) -> int:
    assert not batch.is_cpu
    rows: int = batch.num_rows
    return rows


def main() -> None:
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, distributed.Client(cluster) as client:
        client.register_plugin(pyarrow_cuda_compat.dask.Plugin())
        first, second = client.scheduler_info()["workers"]
        batch = client.submit(make, workers=[first])
        rows = client.submit(rows_of, batch, workers=[second]).result()
        sent = client.run(pyarrow_cuda_compat.dask.transfers, workers=[first])[first]
    print(f"the second worker got {rows} rows")
    print(f"sent by CUDA IPC: {sent['ipc']}, through the host: {sent['host']}")


if __name__ == "__main__":
    main()
