# Copies of many sizes, at odd positions, leave nothing out and touch nothing else.
# shows: cuda_buffer, copy_from_device
#   CudaBuffer.copy_from_device: all bytes arrive, and no others are touched, at any size
# shows: cuda_buffer, copy_from_host
#   CudaBuffer.copy_from_host: all bytes arrive, and no others are touched, at any size
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host: all bytes arrive, at any size
from pyarrow import cuda

ctx = cuda.Context(0)
SIZES = (1, 15, 16, 17, 4095, 4096, 4097, 65535, 65536, 65537, (1 << 20) + 3, (5 << 20) + 1)


def data(size):
    return (bytes(range(1, 252)) * (size // 251 + 1))[:size]


def round_trip(size, position):
    room = ctx.buffer_from_data(b"\xff" * (size + 10))
    count = room.copy_from_host(data(size), position=position)
    back = room.copy_to_host(position=position, nbytes=size).to_pybytes()
    around = room.slice(0, position).to_pybytes() + room.slice(position + size).to_pybytes()
    return count == size, back == data(size), around == b"\xff" * 10


[size for size in SIZES if round_trip(size, 0) != (True, True, True)]
[size for size in SIZES if round_trip(size, 3) != (True, True, True)]
[size for size in SIZES if ctx.buffer_from_data(data(size)).to_pybytes() != data(size)]


def digits(size):
    return ctx.buffer_from_data(data(size)).hex().decode()


[size for size in SIZES if bytes.fromhex(digits(size)) != data(size)]


# Between device buffers.
def moved(size, position):
    room = ctx.buffer_from_data(b"\xff" * (size + 10))
    source = ctx.buffer_from_data(b"----" + data(size) + b"----")
    count = room.copy_from_device(source.slice(4, size), position=position)
    whole = room.to_pybytes()
    return count, whole == b"\xff" * position + data(size) + b"\xff" * (10 - position)


[size for size in SIZES if moved(size, 0) != (size, True)]
[size for size in SIZES if moved(size, 3) != (size, True)]
