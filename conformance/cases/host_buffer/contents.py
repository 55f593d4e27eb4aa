# The content of page-locked memory, as Python bytes and as hexadecimal digits.
# shows: pyarrow_cuda
#   HostBuffer.hex: the content as hexadecimal digits, in bytes
#   HostBuffer.to_pybytes: a copy of the content as bytes
import pickle

import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(4)
pa.BufferReader(b"\x00\x7f\xffz").readinto(buf)
buf.to_pybytes()
buf.hex()
bytes(buf)
pa.py_buffer(buf).to_pybytes()
# Its content can be pickled, like that of any host buffer.
pickle.loads(pickle.dumps(buf)).to_pybytes()
