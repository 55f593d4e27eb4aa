# The bytes of a buffer: one by one, in parts, as bytes and as hexadecimal digits.
# shows: cuda_buffer, to_pybytes
#   CudaBuffer.to_pybytes: the content as Python's bytes
# shows: cuda_buffer, hex
#   CudaBuffer.hex: the content as hexadecimal digits
#   CudaBuffer.hex: as bytes
# shows: additions, Device buffers
#   CudaBuffer.hex: the content as hexadecimal digits
#   CudaBuffer.__getitem__: single bytes by index
# shows: cuda_buffer, class
#   CudaBuffer: length, single bytes, iteration and subscripted parts
import pyarrow as pa
from pyarrow import cuda

# The content as Python bytes.
ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"some\x00bytes\xff")
buf.to_pybytes(), type(buf.to_pybytes()), buf.slice(5, 5).to_pybytes(), buf[-1:].to_pybytes()
buf.slice(2).slice(1, 3).to_pybytes(), ctx.new_buffer(0).to_pybytes()
data = bytes(range(256)) * 300
ctx.buffer_from_data(data).to_pybytes() == data
# A copy of the moment.
before = buf.to_pybytes()
buf.copy_from_host(b"SOME"), before, buf.to_pybytes()
del buf
(ctx.bytes_allocated, before)

# The content as hexadecimal digits, in bytes as other buffers of Arrow give them.
buf = ctx.buffer_from_data(b"\x00\x01\x7f\x80\xab\xff")
buf.hex(), type(buf.hex()), buf.slice(3, 2).hex(), buf[-1:].hex(), ctx.new_buffer(0).hex()
data = bytes(range(256))
ctx.buffer_from_data(data).hex() == pa.py_buffer(data).hex()
ctx.buffer_from_data(data).hex()[-16:]
bytes.fromhex(ctx.buffer_from_data(data).hex().decode()) == data

# Single bytes, parts, length and iteration, as other buffers of Arrow have them.
buf = ctx.buffer_from_data(b"0123456789")
len(buf), buf[0], buf[3], buf[9], buf[-1], buf[-10], type(buf[0]), list(buf)
list(reversed(buf))[:3], 51 in buf, 7 in buf, bool(buf)
# Parts are slices without a copy.
part = buf[2:5]
(type(part), part.to_pybytes(), part.address - buf.address)
(buf[:3].to_pybytes(), buf[7:].to_pybytes(), buf[:].to_pybytes())
(buf[-3:].to_pybytes(), buf[:-8].to_pybytes(), buf[-4:-2].to_pybytes())
buf[8:100].to_pybytes(), buf[100:].size, buf[5:5].size, buf[5:2].size, buf[2:5:1].to_pybytes()
part.copy_from_host(b"x"), buf.to_pybytes()
# Outside, and what is no index.
buf[10]
buf[::2]
buf["0"]
buf[0] = 1
del buf[0]
