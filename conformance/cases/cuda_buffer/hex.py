# The content as hexadecimal digits, in bytes as other buffers of Arrow give them.
# shows: cuda_buffer, hex
#   CudaBuffer.hex: the content as hexadecimal digits
#   CudaBuffer.hex: as bytes
# shows: additions, Device buffers
#   CudaBuffer.hex: the content as hexadecimal digits
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"\x00\x01\x7f\x80\xab\xff")
buf.hex()
type(buf.hex())
buf.slice(3, 2).hex()
buf[-1:].hex()
ctx.new_buffer(0).hex()
data = bytes(range(256))
ctx.buffer_from_data(data).hex() == pa.py_buffer(data).hex()
ctx.buffer_from_data(data).hex()[-16:]
bytes.fromhex(ctx.buffer_from_data(data).hex().decode()) == data
