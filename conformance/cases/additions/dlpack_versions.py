# DLPack before version 1.0 and since: the consumer says which one it knows.
# shows: additions, DLPack
#   CudaBuffer.__dlpack__(max_version): the form of version 1, or the one before where the consumer
#     names none
#   CudaBuffer.__dlpack__: read-only memory is not exported in the form without a read-only mark
#   from_dlpack: producers of version 1 and of those before
import ctypes

from pyarrow import cuda

from pyarrow_cuda_compat import from_dlpack

name_of = ctypes.pythonapi.PyCapsule_GetName
name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
name_of(buf.__dlpack__())
name_of(buf.__dlpack__(max_version=(0, 8)))
name_of(buf.__dlpack__(max_version=(1, 0)))
name_of(buf.__dlpack__(max_version=(2, 0)))


class Producer:
    """Remembers what it was asked for."""

    def __dlpack_device__(self):
        return buf.__dlpack_device__()

    def __dlpack__(self, **request):
        print(request)
        return buf.__dlpack__(**request)


from_dlpack(Producer()).address - buf.address


class Old(Producer):
    def __dlpack__(self, stream=None):
        print("stream", stream)
        return buf.__dlpack__(stream=stream)


from_dlpack(Old()).address - buf.address


# The form before 1.0 cannot say that memory is read-only.
class ReadOnly:
    __cuda_array_interface__ = buf.__cuda_array_interface__ | {"data": (buf.address, True)}


view = ctx.buffer_from_object(ReadOnly())
view.__dlpack__()
from_dlpack(view).is_mutable
