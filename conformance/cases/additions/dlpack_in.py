# Tensors of other libraries by DLPack: arrays over their memory, kept until no part is in use.
# shows: additions, DLPack
#   from_dlpack: an array over another library's tensor, with its dtype, shape and strides
#   from_dlpack: the tensor is retained until the array and its parts are gone, and then released to
#     its producer
#   from_dlpack: read-only tensors are read-only arrays
import ctypes
import gc

from pyarrow import cuda

from pyarrow_cuda_compat import from_dlpack


class Managed(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


# The tensors that have been handed out, by address, until their deleter is called.
alive = {}
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(alive.__delitem__)
NAME = b"dltensor_versioned"
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p


class Theirs:
    """A tensor of bytes over a buffer, as another library would hand it out."""

    def __init__(self, buf, shape, strides=None, flags=0, byte_offset=0):
        numbers = ctypes.c_int64 * len(shape)
        self.buf, self.strides = buf, strides and numbers(*strides)
        self.managed = Managed((1, 0), None, DELETER, flags, buf.address, (2, 0), len(shape))
        self.managed.code, self.managed.bits, self.managed.lanes = 1, 8, 1
        self.managed.shape, self.managed.byte_offset = numbers(*shape), byte_offset
        if strides:
            self.managed.strides = self.strides

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **request):
        at = ctypes.addressof(self.managed)
        alive[at] = self
        return new_capsule(at, NAME, None)


ctx = cuda.Context(0)
memory = ctx.buffer_from_data(b"abcdefghijklmnopqrstuvwxyz")
array = from_dlpack(Theirs(memory, (2, 5), byte_offset=3))
(type(array), array.dtype, array.shape, array.is_mutable, array.context.device_number)
(array.address - memory.address, array.buffer.to_pybytes())
array[0, :3] = list(b"DEF")
memory.slice(0, 8).to_pybytes()
# The elements may be in any order, and have gaps between them.
from_dlpack(Theirs(memory, (2, 5), strides=(1, 2))).copy_to_host().tobytes()
from_dlpack(Theirs(memory, (5,), strides=(-1,), byte_offset=25)).copy_to_host().tobytes()
from_dlpack(Theirs(memory, (3,), strides=(10,))).copy_to_host().tobytes()
# Read-only memory stays read-only.
from_dlpack(Theirs(memory, (3,), flags=1)).fill(0)
_ = gc.collect()
# The tensor above is still in use, and is kept by any part of the array.
len(alive)
part = array[0, 2:]
del array, memory
_ = gc.collect()
(len(alive), ctx.bytes_allocated, part.buffer.to_pybytes())
del part
_ = gc.collect()
(len(alive), ctx.bytes_allocated)
