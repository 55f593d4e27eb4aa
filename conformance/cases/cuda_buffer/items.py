# Single bytes, parts, length and iteration, as other buffers of Arrow have them.
# shows: cuda_buffer, class
#   CudaBuffer: length, single bytes, iteration and subscripted parts
# shows: additions, Device buffers
#   CudaBuffer.__getitem__: single bytes by index
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
len(buf)
(buf[0], buf[3], buf[9])
(buf[-1], buf[-10])
type(buf[0])
list(buf)
(list(reversed(buf))[:3], 51 in buf, 7 in buf)
bool(buf)

# Parts are slices without a copy.
part = buf[2:5]
(type(part), part.to_pybytes(), part.address - buf.address)
(buf[:3].to_pybytes(), buf[7:].to_pybytes(), buf[:].to_pybytes())
(buf[-3:].to_pybytes(), buf[:-8].to_pybytes(), buf[-4:-2].to_pybytes())
(buf[8:100].to_pybytes(), buf[100:].size, buf[5:5].size, buf[5:2].size)
buf[2:5:1].to_pybytes()
part.copy_from_host(b"x")
buf.to_pybytes()

# Outside, and what is no index.
buf[10]
buf[-11]
buf[::2]
buf[::-1]
buf["0"]
buf[1.0]
buf[0] = 1
del buf[0]
