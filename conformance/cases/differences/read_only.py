# Memory that its owner calls read-only is not written.
from pyarrow import cuda


class ReadOnly:
    def __init__(self, buffer):
        self.buffer = buffer
        data = (buffer.address, True)
        self.__cuda_array_interface__ = {
            "shape": (buffer.size,),
            "typestr": "|u1",
            "data": data,
            "version": 3,
        }


ctx = cuda.Context()
memory = ctx.buffer_from_data(b"0123456789")
view = ctx.buffer_from_object(ReadOnly(memory))
view
(view.is_mutable, view.slice(2).is_mutable, view.to_pybytes())
view.copy_from_host(b"x")
view.copy_from_device(memory)
view.slice(2).copy_from_host(b"x")
cuda.BufferWriter(view)
memory.to_pybytes()
