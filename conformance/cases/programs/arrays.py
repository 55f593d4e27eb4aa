# A class of arrays over device buffers: elements are read and written through parts.
# shows: programs, Arrays
#   Context.buffer_from_data(size): an array class sends as many bytes as its array has
#   CudaBuffer.copy_to_host(buf): an array class fills an array that its caller has
#   CudaBuffer.copy_from_device(nbytes): an array class copies the shorter of two arrays
#   Context.buffer_from_object: an object with the CUDA array interface, version 0
# shows: programs, Columns
#   CudaBuffer.copy_from_host(position): each column goes behind the one before it
#   new_host_buffer: page-locked memory takes what comes back
import numpy as np
import pyarrow as pa
from pyarrow import cuda


class Array:
    def __init__(self, array, ctx):
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype
        self.data = ctx.buffer_from_data(array, size=array.nbytes)

    @property
    def __cuda_array_interface__(self):
        shared = {"typestr": self.dtype.str, "data": (self.data.address, False), "version": 0}
        return {"shape": self.shape, "strides": self.strides} | shared

    def part(self, row, column):
        offset = row * self.strides[0] + column * self.strides[1]
        return self.data.slice(offset=offset, length=self.dtype.itemsize)

    def __getitem__(self, index):
        return np.frombuffer(self.part(*index).copy_to_host(), self.dtype)[0].item()

    def __setitem__(self, index, value):
        host = self.part(*index).copy_to_host()
        np.frombuffer(host, self.dtype)[:] = value
        self.part(*index).copy_from_host(host)


ctx = cuda.Context()
matrix = Array(np.arange(6, dtype=np.int16).reshape(2, 3), ctx)
matrix[1, 1]
matrix[0, 2] = -5
host = np.empty((2, 3), np.int16)
_ = matrix.data.copy_to_host(buf=pa.py_buffer(host))
host
view = ctx.buffer_from_object(matrix)
(view.address == matrix.data.address, view.size)
short = Array(np.array([[100, 101]], np.int16), ctx)
matrix.data.copy_from_device(short.data, nbytes=min(short.data.size, matrix.data.size))
np.frombuffer(view.copy_to_host(), np.int16).tolist()

# The columns of a batch lie in one buffer one after another, and are arrays there.
batch = pa.record_batch({"a": pa.array([1, 2, 3], pa.int32()), "b": [0.25, 0.5, 0.75]})
whole = ctx.new_buffer(batch.nbytes)
end, columns = 0, []
for column in batch.columns:
    host = column.buffers()[1]
    size = whole.copy_from_host(host, position=end, nbytes=column.nbytes)
    columns.append(pa.Array.from_buffers(column.type, 3, [None, whole.slice(end, size)]))
    end += size
end
there = pa.record_batch(columns, schema=batch.schema)
(there.is_cpu, there.copy_to(pa.default_cpu_memory_manager()).equals(batch))
staging = cuda.new_host_buffer(batch.nbytes)
_ = whole.copy_to_host(buf=staging)
np.frombuffer(staging, np.float64, count=3, offset=12).tolist()
