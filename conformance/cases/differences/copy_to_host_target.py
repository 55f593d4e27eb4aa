# A copy to the host writes only into memory that may be written, and only what fits.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
target = bytearray(b"-" * 20)
buf.copy_to_host(nbytes=11, buf=pa.py_buffer(target))
buf.copy_to_host(position=8, nbytes=3, buf=pa.py_buffer(target))
target.count(b"-")
constant = bytes(bytearray(b"constant"))
buf.copy_to_host(buf=pa.py_buffer(constant))
constant
other = ctx.buffer_from_data(b"..........")
buf.copy_to_host(buf=other)
other.to_pybytes()
