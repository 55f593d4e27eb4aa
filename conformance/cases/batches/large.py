# A large batch, and one of many columns.
# shows: pyarrow_cuda
#   serialize_record_batch: large batches, and batches of many columns
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()


def is_same(batch):
    message = cuda.serialize_record_batch(batch, ctx)
    back = cuda.read_record_batch(message, batch.schema).copy_to(host)
    return message.to_pybytes() == batch.serialize().to_pybytes(), back.equals(batch)


numbers = np.arange(300_000)
words = pa.array(numbers).cast(pa.string())
is_same(pa.record_batch({"n": numbers, "half": numbers / 2, "s": words}))
is_same(pa.record_batch({f"column {index}": [index, None, 1] for index in range(1000)}))
