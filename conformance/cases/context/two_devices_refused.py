# Memory and handles of one device are not taken for another one's.
# needs: two devices
# shows: pyarrow_cuda
#   Context: memory and handles of another device are refused
from pyarrow import cuda

first, second = cuda.Context(0), cuda.Context(1)
here = first.buffer_from_data(b"0123456789")
second.foreign_buffer(here.address, 10)
cuda.Context(1, first.handle)
# An object that lies on the other device keeps its own context.
second.buffer_from_object(here).context.device_number
here.to_pybytes()
