# Page-locked memory is reached by every device, whichever one allocates it.
# needs: two devices
import pyarrow as pa
from pyarrow import cuda

first, second = cuda.Context(0), cuda.Context(1)
for number in range(2):
    buf = cuda.new_host_buffer(5, device=number)
    print(pa.BufferReader(b"reach").readinto(buf))
    print([ctx.buffer_from_object(buf).to_pybytes() for ctx in (first, second)])
    print([ctx.get_device_address(buf.address) == buf.address for ctx in (first, second)])
