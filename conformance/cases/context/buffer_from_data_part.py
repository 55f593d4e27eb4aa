# Device memory is made from a part of the data.
# shows: pyarrow_cuda
#   Context.buffer_from_data(offset): where in the data to begin, in bytes; 0 by default; outside
#     the data raises a ValueError
#   Context.buffer_from_data(size): how many bytes; by default, and when negative, all from the
#     offset on; more than there are raises a ValueError
from pyarrow import cuda

ctx = cuda.Context()
host = b"0123456789"
device = ctx.buffer_from_data(host)
for data in (host, device):
    print(ctx.buffer_from_data(data, offset=4).to_pybytes())
    print(ctx.buffer_from_data(data, size=3).to_pybytes())
    print(ctx.buffer_from_data(data, offset=2, size=5).to_pybytes())
    print(ctx.buffer_from_data(data, 8, 2).to_pybytes())
    print(ctx.buffer_from_data(data, 9).size, ctx.buffer_from_data(data, 3, 0).size)
# A negative size means all that is left.
ctx.buffer_from_data(host, offset=6, size=-1).to_pybytes()
ctx.buffer_from_data(host, 6, -7).to_pybytes()
# A part beyond the end is refused.
ctx.buffer_from_data(host, offset=-1)
ctx.buffer_from_data(host, offset=10)
ctx.buffer_from_data(host, size=11)
ctx.buffer_from_data(host, offset=8, size=3)
ctx.buffer_from_data(device, offset=10)
ctx.buffer_from_data(device, offset=8, size=3)
ctx.buffer_from_data(b"", offset=0, size=0).size
ctx.buffer_from_data(b"", size=1)
