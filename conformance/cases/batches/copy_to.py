# Arrow copies arrays, batches and tables to a device and back.
# shows: pyarrow_devices, Arrays
#   pyarrow.Array.copy_to: arrays are copied to a device and back
#   pyarrow.Array.copy_to(destination): a memory manager or a device
# shows: pyarrow_devices, Record batches
#   pyarrow.RecordBatch.copy_to: record batches are copied to a device and back
import copy

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
before = ctx.bytes_allocated
array = pa.array([1, None, 3])
there = array.copy_to(ctx.memory_manager)
(there.type, len(there), there.is_cpu)
there.device_type == pa.DeviceAllocationType.CUDA
[buf.device == ctx.device for buf in there.buffers()]
values = cuda.CudaBuffer.from_buffer(there.buffers()[1])
(values.size, values.context.handle == ctx.handle)
values.to_pybytes()[:8]
there.copy_to(host).equals(array)
array.copy_to(destination=ctx.device).copy_to(host).to_pylist()
there.slice(1).copy_to(host).to_pylist()
words = pa.array(["one", None, "three"]).copy_to(ctx.memory_manager)
words.copy_to(host).to_pylist()
words = pa.array([f"{number:03}" for number in range(300)]).copy_to(ctx)
words.slice(290, 2).copy_to(ctx.device).copy_to(host).to_pylist()
pa.array([1] * 90 + [None] * 10).copy_to(ctx).slice(80).null_count
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
on_device = batch.copy_to(ctx.memory_manager)
(on_device.is_cpu, on_device.copy_to(host).equals(batch))
# Everything is released again.
ctx.bytes_allocated > before
del there, values, words, on_device
ctx.bytes_allocated - before
# A copy of arrays within others has what these reach.
numbers = pa.array(range(1000))
there = pa.StructArray.from_arrays([numbers.slice(500, 2)], ["x"]).copy_to(ctx)
(ctx.bytes_allocated - before, there.copy_to(host).to_pylist())
there = pa.RunEndEncodedArray.from_arrays([300, 1000], ["a", "b"]).copy_to(ctx).slice(299, 2)
there.copy_to(host).to_pylist()
# Python's own copies are new memory with the same bytes.
array = pa.array(["one", None, "three"]).copy_to(ctx)
twin = copy.deepcopy(array)
twin.buffers()[2].address == array.buffers()[2].address, twin.copy_to(host).to_pylist()
# Offsets that lead outside hide nothing: then all that there is of that column is copied.
offsets = np.arange(0, 301, 3, "i4")
offsets[92] = 5000
buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"abc" * 100)]
wrong, right = pa.Array.from_buffers(pa.string(), 100, buffers), pa.array(["abc"] * 100)
for column in pa.record_batch([wrong, right], ["w", "r"]).slice(91, 1).copy_to(ctx):
    print([buffer and buffer.size for buffer in column.buffers()], column.offset, len(column))
