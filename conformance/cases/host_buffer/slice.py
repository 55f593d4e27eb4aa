# Parts of page-locked memory share it.
# shows: pyarrow_cuda
#   HostBuffer.parent: None; of a part, the buffer that it is a part of
#   HostBuffer.slice: a slice that shares the memory and retains it
#   HostBuffer.slice(offset): where the slice begins, in bytes; 0 by default; outside the buffer
#     raises an IndexError
#   HostBuffer.slice(length): how many bytes; by default all from the offset on; more than there are
#     raises an IndexError
#   HostBuffer.equals: whether both hold the same bytes
#   HostBuffer.equals(other): another buffer
#   HostBuffer: the host's side of copies to and from the device
# shows: additions, Page-locked memory
#   HostBuffer.slice: slices are pinned memory too
#   HostBuffer.equals: equality with device memory
import numpy as np
import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(10)
pa.BufferReader(b"0123456789").readinto(buf)
part = buf.slice(2, 5)
part.address - buf.address, part.size, part.is_cpu, part.is_mutable, part.to_pybytes()
# It is page-locked, too.
[type(each).__name__ for each in (part, buf[2:4], part.slice(1)[1:])]
(part.device_type, part.slice(1).device_type)
cuda.Context().buffer_from_object(part).address - buf.address, buf.slice().to_pybytes()
buf.slice(7).to_pybytes(), buf.slice(offset=4, length=2).to_pybytes()
buf.slice(10).size, buf.slice(3, 0).size, buf[2:4].to_pybytes(), buf[0], buf[-1]
memoryview(part)[0] = ord("X")
buf.to_pybytes(), part.parent.address == buf.address
buf.slice(-1)
buf.slice(11)
buf.slice(8, 3)
buf[10]
buf[::2]
# A part keeps the memory.
del buf
part.to_pybytes()

# Page-locked memory equals other memory by its bytes.
buf = cuda.new_host_buffer(4)
pa.BufferReader(b"same").readinto(buf), buf.equals(pa.py_buffer(b"same"))
buf.equals(pa.py_buffer(b"some")), buf.equals(pa.py_buffer(b"same!")), buf.equals(buf)
other = cuda.new_host_buffer(4)
pa.BufferReader(b"same").readinto(other), buf.equals(other=other), buf == other
# Device memory, too, from both sides.
there = cuda.Context().buffer_from_data(b"same")
buf.equals(there), buf.slice(1).equals(there), there.equals(buf), buf == b"same", buf != b"some"
hash(buf)

# Page-locked memory as the host's side of copies.
ctx = cuda.Context()
pinned = cuda.new_host_buffer(6)
np.frombuffer(pinned, np.uint8)[:] = list(b"pinned")
buf = ctx.buffer_from_data(pinned)
buf.size, buf.to_pybytes(), buf.copy_from_host(pinned.slice(3), position=1), buf.to_pybytes()
# Back into it, and the buffer that was given is what comes back.
back = cuda.new_host_buffer(8)
np.frombuffer(back, np.uint8)[:] = ord(".")
buf.copy_to_host(buf=back) is back, back.to_pybytes()
buf.copy_to_host(position=4, nbytes=2, buf=back).to_pybytes()
