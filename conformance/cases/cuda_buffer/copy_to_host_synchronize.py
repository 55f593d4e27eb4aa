# Copies wait for what was asked of the device before, and `synchronize` for all of it.
from pyarrow import cuda

ctx = cuda.Context(0)
size = 1 << 22
source = ctx.buffer_from_data(bytes(range(256)) * (size >> 8))
buf = ctx.new_buffer(size)
buf.copy_from_device(source)
print(buf.context.synchronize())
buf.copy_to_host().equals(source.copy_to_host())

# Many copies in a row: the last one holds.
counts = {buf.copy_from_host(bytes([value]) * 1000, position=value) for value in range(50)}
buf.context.synchronize()
host = buf.copy_to_host(nbytes=1050)
(counts, [host[index] for index in (0, 1, 48, 49, 1047, 1048, 1049)])

# There and back and there again, a byte further each time.
twin = ctx.new_buffer(size)
[(twin.copy_from_device(buf), buf.copy_from_device(twin.slice(1))) for _turn in range(3)]
buf.copy_to_host(nbytes=4).to_pybytes()
buf.copy_to_host(position=size - 5).to_pybytes()
