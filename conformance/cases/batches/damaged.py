# A damaged message is refused, whatever is wrong with it.
# shows: pyarrow_cuda
#   read_message: a damaged message is refused
#   read_record_batch: a damaged message is refused
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3]})
whole = batch.serialize().to_pybytes()


def read(data):
    buf = ctx.buffer_from_data(data)
    for call in (cuda.read_message, lambda buf: cuda.read_record_batch(buf, batch.schema)):
        try:
            call(buf)
        except (pa.ArrowInvalid, EOFError) as error:
            yield type(error).__name__
        except OSError as error:
            yield type(error).__name__
        else:
            yield "read"


list(read(whole))
list(read(whole[:-1]))
list(read(whole[: len(whole) // 2]))
list(read(whole[:6]))
# Metadata of an impossible length, and noise.
list(read(whole[:4] + (2**31 - 1).to_bytes(4, "little") + whole[8:]))
list(read(whole[:4] + b"\xff\xff\xff\x80" + whole[8:]))
list(read(b"\xff" * 4 + (8).to_bytes(4, "little") + b"no metadata at all......"))
list(read(bytes(64)))
list(read(whole.replace((24).to_bytes(8, "little"), (1 << 40).to_bytes(8, "little"))))
# More nulls than values, and a buffer between two places.
eight, three, one = ((n).to_bytes(8, "little") for n in (8, 3, 1))
list(read(whole.replace(three + one, three + eight)))
list(read(whole.replace(eight, one)))
# Whatever was refused, good messages are read.
cuda.read_record_batch(ctx.buffer_from_data(whole), batch.schema).num_rows
