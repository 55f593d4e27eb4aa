# Further file operations: streams of a part, and copies of the bytes elsewhere.
# shows: pyarrow_cuda
#   BufferReader.get_stream: a stream over a slice of the buffer
#   BufferReader.get_stream(file_offset): where the slice begins, in bytes
#   BufferReader.get_stream(nbytes): its size in bytes
#   BufferReader.download: the whole content into another file
#   BufferReader.metadata: an empty dict
import io

from pyarrow import cuda

reader = cuda.BufferReader(cuda.Context().buffer_from_data(b"one\ntwo\nthree"))
reader.get_stream(file_offset=4, nbytes=3).read()
sink = io.BytesIO()
reader.download(sink)
sink.getvalue()
reader.metadata()
io.BufferedReader(cuda.BufferReader(cuda.Context().buffer_from_data(b"a\nb\n"))).readlines()
