# Writing at a position moves there, and goes on behind what was written.
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
