# Device buffers and arrays as DLPack tensors: what the structure in the capsule says.
# shows: additions, DLPack
#   CudaBuffer.__dlpack__: a buffer is a tensor of bytes; address, device, type, shape and strides
#     in the structure
#   CudaBuffer.__dlpack__: read-only memory is marked as read-only
#   CudaBuffer.__dlpack_device__: CUDA, and the device's number
# shows: additions, Device arrays
#   DeviceArray.__dlpack__: dtype, shape and strides in the structure; what DLPack cannot describe
#     is refused
#   DeviceArray.__dlpack_device__: CUDA, and the device's number
import ctypes

from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray


class Tensor(ctypes.Structure):
    _fields_ = [
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


pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = ctypes.py_object, ctypes.c_char_p


def look(thing):
    """The tensor as a consumer finds it that knows version 1.1."""
    capsule = thing.__dlpack__(max_version=(1, 1))
    at = pointer_of(capsule, b"dltensor_versioned")
    print("major", ctypes.c_uint32.from_address(at).value, end=", ")
    print("flags", ctypes.c_uint64.from_address(at + 24).value)
    tensor = Tensor.from_address(at + 32)
    print("device", list(tensor.device), "at", tensor.data - buf.address, tensor.byte_offset)
    print("type", tensor.code, tensor.bits, tensor.lanes)
    print("shape", tensor.shape[: tensor.ndim], "strides", tensor.strides[: tensor.ndim])


ctx = cuda.Context(0)
buf = ctx.buffer_from_data(bytes(range(96)))
buf.__dlpack_device__()
# A buffer is an array of unsigned bytes, its parts as well.
look(buf)
look(buf.slice(10, 20))
# An array has a type of its elements, a shape and strides, which DLPack counts in elements.
array = DeviceArray(buf.slice(8), "<f4", (1, 2, 3))
array.__dlpack_device__()
look(array)
look(array.T)
look(array[0, ::-1, ::2])
look(DeviceArray(buf, "<c8", (12,)))
look(DeviceArray(buf, "|b1", ()))
# What DLPack cannot describe.
DeviceArray(buf, ">i8").__dlpack__()
DeviceArray(buf, "<M8[s]").__dlpack__()


# Memory that its owner calls read-only is marked as read-only.
class ReadOnly:
    __cuda_array_interface__ = buf.__cuda_array_interface__ | {"data": (buf.address, True)}


look(ctx.buffer_from_object(ReadOnly()))
# A copy is the consumer's own, and marked so.
capsule = buf.__dlpack__(max_version=(1, 1), copy=True)
ctypes.c_uint64.from_address(pointer_of(capsule, b"dltensor_versioned") + 24).value
DeviceArray(ctx.new_buffer(10), "i4", (2,), (6,)).__dlpack__()
array.__dlpack__(stream=0)
