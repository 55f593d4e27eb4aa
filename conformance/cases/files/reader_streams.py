# What else a file can do: streams of a part, and its bytes elsewhere.
import io

from pyarrow import cuda

reader = cuda.BufferReader(cuda.Context().buffer_from_data(b"one\ntwo\nthree"))
reader.get_stream(file_offset=4, nbytes=3).read()
sink = io.BytesIO()
reader.download(sink)
sink.getvalue()
reader.metadata()
io.BufferedReader(cuda.BufferReader(cuda.Context().buffer_from_data(b"a\nb\n"))).readlines()
