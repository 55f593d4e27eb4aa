# Tensors that cannot be an array, or say what cannot be, are refused and given back.
# shows: additions, DLPack
#   from_dlpack: tensors of other versions, of other devices or with wrong numbers are refused
#   from_dlpack: a capsule's tensor can be consumed once
import ctypes

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


deleted = []
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleted.append)
NAME, OTHER = b"dltensor_versioned", b"something_else"
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
ctx = cuda.Context(0)
memory = ctx.buffer_from_data(b"abcdefghijklmnopqrstuvwxyz")


def tensor(shape=(10,), strides=None, version=(1, 0), data=memory.address, **said):
    """A capsule with a tensor of bytes; what keeps it alive, too."""
    numbers = ctypes.c_int64 * len(shape)
    managed = Managed(version, None, DELETER, 0, data, (2, 0), len(shape), 1, 8, 1)
    managed.shape, managed.strides = numbers(*shape), strides and numbers(*strides)
    for name, value in said.items():
        setattr(managed, name, value)
    return new_capsule(ctypes.addressof(managed), NAME, None), managed


def refused(**said):
    deleted.clear()
    capsule, _managed = tensor(**said)
    try:
        print(from_dlpack(capsule))
    except (BufferError, ValueError, OSError) as error:
        print(type(error).__name__, str(error).split(":")[0], len(deleted))


# Another version of DLPack: nothing but the deleter can be used.
refused(version=(2, 0))
# More than there is.
refused(shape=(27,))
refused(shape=(14,), strides=(2,))
refused(byte_offset=20)
refused(shape=(-1,))
refused(shape=(2**40, 2**40))
refused(bits=4)
# Memory that is not where it says.
refused(data=None)
refused(data=0x1234)
refused(device=(1, 0))
refused(device=(10, 0))
refused(device=(2, 99))
refused(device=(2, -1))
# A capsule gives its tensor away once.
capsule, managed = tensor()
array = from_dlpack(capsule)
from_dlpack(capsule)
array.copy_to_host().tobytes()
# Nor is everything a tensor.
try:
    from_dlpack(new_capsule(1, OTHER, None))
except TypeError as error:
    print(str(error).split(" at ")[0], str(error).split("> ")[1])

from_dlpack(b"bytes")
ctx.bytes_allocated
