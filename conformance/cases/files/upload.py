# Device memory is filled from a file.
# shows: pyarrow_cuda
#   BufferWriter.upload: the content of another file
#   BufferWriter.writelines: each of the given pieces
import io
import tempfile

from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
with cuda.BufferWriter(buf) as writer:
    writer.upload(io.BytesIO(b"uploaded"))
buf.to_pybytes()
with cuda.BufferWriter(buf) as writer:
    writer.writelines([b"one", b"two"])
buf.to_pybytes()
with tempfile.TemporaryFile() as file, cuda.BufferWriter(buf) as writer:
    file.write(b"123456"), file.seek(2), writer.upload(file), file.tell(), writer.tell()
    writer.upload(type("Source", (), {"read": print}), buffer_size=2)
buf.to_pybytes()
