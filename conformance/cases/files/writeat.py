# Writing at a position moves there, and goes on behind what was written.
# shows: pyarrow_cuda
#   BufferWriter.writeat: writes at a position, and continues after it; returns None
#   BufferWriter.writeat(position): where to write, in bytes; outside the buffer raises an OSError
#   BufferWriter.writeat(data): anything with the buffer protocol
import numpy as np
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
writer.writeat(4, b"xyz")
(writer.tell(), buf.to_pybytes())
writer.write(b"!")
buf.to_pybytes()
writer.writeat(position=0, data=np.frombuffer(b"AB", np.uint8))
(writer.tell(), buf.to_pybytes())
writer.writeat(9, b"9")
buf.to_pybytes()
writer.writeat(10, b"x")
writer.writeat(-1, b"x")
buf.to_pybytes()
