# What a reader cannot do is refused, and its buffer stays as it is.
import io

from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
reader.write(b"x")
reader.writelines([b"x"])
reader.upload(io.BytesIO(b"x"))
reader.truncate()
reader.readline()
reader.readlines()
reader.fileno()
reader.isatty()
reader.flush()
(reader.tell(), buf.to_pybytes())
