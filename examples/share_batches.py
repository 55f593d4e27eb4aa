"""A second process computes with a record batch that the first one has put on the device.

Only a handle of some bytes and the schema go from process to process: the batch is not copied.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import cuda


def total_of(handle: bytes, schema: bytes) -> int:
    """Runs in the second process."""
    opaque = cuda.IpcMemHandle.from_buffer(pa.py_buffer(handle))
    message = cuda.Context(0).open_ipc_buffer(opaque)
    batch = cuda.read_record_batch(message, pa.ipc.read_schema(pa.py_buffer(schema)))
    assert not batch.is_cpu  # the first process's memory
    amounts = batch.column("amount").copy_to("cpu")
    total: int = pc.sum(amounts).as_py()
    return total


def main() -> None:
    batch = pa.record_batch({"name": ["a", "b", None], "amount": [10, 20, 12]})
    message = cuda.serialize_record_batch(batch, cuda.Context(0))
    handle = message.export_for_ipc().serialize().to_pybytes()
    # With `spawn`: CUDA does not survive a fork.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as second:
        # `message` exists until the other process is done.
        total = second.submit(total_of, handle, batch.schema.serialize().to_pybytes()).result()
    print(f"{len(handle)} bytes were sent; the second process found a total of {total}")


if __name__ == "__main__":
    main()
