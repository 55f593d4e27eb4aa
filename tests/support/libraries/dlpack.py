"""DLPack's structures, from its specification, and a producer of tensors made of them."""

import ctypes

CPU, CUDA, CUDA_HOST, MANAGED = 1, 2, 3, 13


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


FORMS = {"dltensor": Legacy, "dltensor_versioned": Versioned}
NAMES = {name: name.encode() for name in FORMS}  # a capsule does not copy its name

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
name_of = ctypes.pythonapi.PyCapsule_GetName
name_of.restype = ctypes.c_char_p
name_of.argtypes = [ctypes.py_object]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def look(capsule):
    """The structure in a capsule, which it keeps, and the capsule's name."""
    name = name_of(capsule)
    structure = FORMS[name.decode()].from_address(pointer_of(capsule, name))
    structure.capsule = capsule
    return structure, name.decode()


class Producer:
    """A tensor of another library, as wrong as one likes; counts calls of its deleter."""

    def __init__(self, address, shape=(10,), strides=None, form="dltensor_versioned", **fields):
        self.deleted = 0
        self.requests = []
        self.structure = FORMS[form]()
        if form == "dltensor_versioned":
            self.structure.major, self.structure.minor = fields.pop("version", (1, 1))
            self.structure.flags = fields.pop("flags", 0)
        self.keep = DELETER(self.delete)
        self.structure.deleter = self.keep
        tensor = self.structure.tensor
        tensor.data, tensor.device_type, tensor.device_id = address, CUDA, 0
        tensor.code, tensor.bits, tensor.lanes = 1, 8, 1
        if shape is not None:
            tensor.ndim = len(shape)
            self.shape = (ctypes.c_int64 * len(shape))(*shape)
            tensor.shape = self.shape
        if strides is not None:
            self.strides = (ctypes.c_int64 * len(shape))(*strides)
            tensor.strides = self.strides
        for name, value in fields.items():
            setattr(tensor, name, value)
        self.form = form

    def delete(self, _pointer):
        self.deleted += 1

    def capsule(self):
        return new_capsule(ctypes.addressof(self.structure), NAMES[self.form], None)

    def __dlpack_device__(self):
        return self.structure.tensor.device_type, self.structure.tensor.device_id

    def __dlpack__(self, **request):
        self.requests.append(request)
        return self.capsule()
