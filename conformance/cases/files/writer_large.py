# A write that is larger than the host buffer goes to the device as a whole.
# shows: pyarrow_cuda
#   BufferWriter.write: data larger than the host buffer is written directly to the device
from pyarrow import cuda

ctx = cuda.Context()
size = 1 << 20
buf = ctx.new_buffer(size)
data = bytes(range(256)) * (size // 256)


def is_written(buffer_size):
    buf.copy_from_host(bytes(size))
    with cuda.BufferWriter(buf) as writer:
        writer.buffer_size = buffer_size
        for start in range(0, size, 70_000):
            writer.write(data[start : start + 70_000])
    return buf.to_pybytes() == data


[is_written(buffer_size) for buffer_size in (0, 100, 4096, 2 * size)]
