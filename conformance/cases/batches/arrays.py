# Arrays on a device: copied there and back, made of buffers, passed on and printed.
# shows: pyarrow_devices, Arrays
#   pyarrow.Array.copy_to: arrays are copied to a device and back
#   pyarrow.Array.copy_to(destination): a memory manager or a device
#   pyarrow.Array.from_buffers: arrays are made of device buffers
#   pyarrow.Array.__arrow_c_device_array__: arrays on a device are exported and imported through the
#     C Device interface
#   pyarrow.Array.__repr__: arrays, batches and tables on a device are printed
# shows: pyarrow_devices, Record batches
#   pyarrow.RecordBatch.copy_to: record batches are copied to a device and back
import copy

import numpy as np
import pyarrow as pa
from pyarrow import cuda

# Arrow copies arrays, batches and tables to a device and back.
ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
before = ctx.bytes_allocated
array = pa.array([1, None, 3])
there = array.copy_to(ctx.memory_manager)
there.type, len(there), there.is_cpu, there.device_type == pa.DeviceAllocationType.CUDA
[buf.device == ctx.device for buf in there.buffers()]
values = cuda.CudaBuffer.from_buffer(there.buffers()[1])
values.size, values.context.handle == ctx.handle, values.to_pybytes()[:8]
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

# Arrays are made of device buffers.
values = ctx.buffer_from_data(np.arange(4, dtype=np.int32))
valid = ctx.buffer_from_data(b"\x0d")
array = pa.Array.from_buffers(pa.int32(), 4, [valid, values])
array.is_cpu, array.device_type == pa.DeviceAllocationType.CUDA, array.copy_to(host).to_pylist()
array.slice(2).copy_to(host).to_pylist(), array.buffers()[1].address == values.address
# The array keeps the memory.
del values, valid
array.copy_to(host).to_pylist()

# The C Device interface: arrays on a device pass from library to library.
there = pa.array([1, None, 3]).copy_to(ctx.memory_manager)


class Wrapper:
    def __init__(self, inner):
        self.__arrow_c_device_array__ = inner.__arrow_c_device_array__


back = pa.array(Wrapper(there))
(back.is_cpu, back.device_type == pa.DeviceAllocationType.CUDA)
[a.address == b.address for a, b in zip(back.buffers(), there.buffers(), strict=True)]
cuda.CudaBuffer.from_buffer(back.buffers()[1]).size
del there
back.copy_to(host).to_pylist()
batch = pa.record_batch({"x": [1, None], "s": ["one", "two"]})
back = pa.record_batch(Wrapper(batch.copy_to(ctx.memory_manager)))
(back.is_cpu, back.copy_to(host).equals(batch))

# Arrays that lie on a device can be printed.
there = pa.array([1, None, 3]).copy_to(ctx.memory_manager)
print(there)
print(pa.array(["one", None]).copy_to(ctx.memory_manager))
batch = pa.record_batch({"x": [1, 2]}).copy_to(ctx.memory_manager)
print(batch)
print(pa.Table.from_batches([batch]))
print(pa.chunked_array([there, there]))
