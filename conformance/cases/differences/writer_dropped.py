# A writer that is dropped brings what it buffered to the device.
# shows: additions, Files
#   BufferWriter: a dropped writer writes its buffered bytes to the device
import gc

from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
writer.buffer_size = 100
writer.write(b"kept")
buf.to_pybytes()
del writer
_ = gc.collect()
buf.to_pybytes()
