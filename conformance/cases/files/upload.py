# Device memory is filled from a file.
# shows: pyarrow_cuda, BufferWriter.upload
#   BufferWriter.upload: the content of another file
# shows: pyarrow_cuda, BufferWriter.writelines
#   BufferWriter.writelines: each of the given pieces
import io

from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
with cuda.BufferWriter(buf) as writer:
    writer.upload(io.BytesIO(b"uploaded"))
buf.to_pybytes()
with cuda.BufferWriter(buf) as writer:
    writer.writelines([b"one", b"two"])
buf.to_pybytes()
