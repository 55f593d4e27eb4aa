# A write that does not fit fails as a whole, and nothing is written beyond the buffer.
from pyarrow import cuda

ctx = cuda.Context()
whole = ctx.buffer_from_data(b"<<<<..........>>>>")
buf = whole.slice(4, 10)
for buffer_size in (0, 4, 100):
    writer = cuda.BufferWriter(buf)
    writer.buffer_size = buffer_size
    print(writer.write(b"1234567"))
    for data in (b"8901", b"x" * 1000):
        try:
            writer.write(data)
        except OSError as error:
            print(error)
        try:
            writer.writeat(8, data)
        except OSError as error:
            print(error)
    print(writer.seek(7), writer.write(b"890"))
    writer.close()
    print(whole.to_pybytes())
    print(buf.copy_from_host(b".........."))
# A full buffer takes no byte, but it takes none of them well.
writer = cuda.BufferWriter(buf)
writer.write(b"0123456789"), writer.write(b"")
writer.write(b"x")
whole.to_pybytes()
