"""The structures of the C Device interface, as other libraries make and read them."""

import ctypes
from contextlib import contextmanager
from ctypes import POINTER, c_int32, c_int64, c_void_p
from types import SimpleNamespace

import pyarrow as pa

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

Release = ctypes.CFUNCTYPE(None, c_void_p)
Answer = ctypes.CFUNCTYPE(ctypes.c_int, c_void_p, c_void_p)
Text = ctypes.CFUNCTYPE(ctypes.c_char_p, c_void_p)
#: The same without a copy of the text, for producers.
Place = ctypes.CFUNCTYPE(c_void_p, c_void_p)


class ArrowArray(ctypes.Structure):
    pass


ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", c_void_p),
    ("private_data", c_void_p),
]


class _Structure(ctypes.Structure):
    @property
    def address(self):
        return ctypes.addressof(self)


class ArrowDeviceArray(_Structure):
    _fields_ = (
        ("array", ArrowArray),
        ("device_id", c_int64),
        ("device_type", c_int32),
        ("sync_event", c_void_p),
        ("reserved", c_int64 * 3),
    )

    @property
    def event(self):
        """The handle that `sync_event` points to."""
        return c_void_p.from_address(self.sync_event)

    def release(self):
        Release(self.array.release)(self.address)

    def move(self):
        """The structure at another place, as a consumer takes it over."""
        moved = ArrowDeviceArray.from_buffer_copy(self)
        self.array.release = None
        return moved


class ArrowDeviceArrayStream(_Structure):
    _fields_ = (
        ("device_type", c_int32),
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )

    def schema(self):
        """The schema, and what its producer answers."""
        schema = ArrowSchema()
        return Answer(self.get_schema)(self.address, schema.address), schema

    def next(self):
        """The next array, released at the end, and what its producer answers."""
        array = ArrowDeviceArray()
        return Answer(self.get_next)(self.address, array.address), array

    def error(self):
        text = Text(self.get_last_error)(self.address)
        return text and text.decode()

    def close(self):
        Release(self.release)(self.address)


class ArrowSchema(_Structure):
    _fields_ = (
        ("format", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("metadata", c_void_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, (ctypes.py_object, ctypes.c_char_p)
_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, (c_void_p, ctypes.c_char_p, c_void_p)
NAME = b"arrow_device_array"
SCHEMA_NAME = b"arrow_schema"


def capsule(address, name):
    """A capsule without a destructor, whose structure has to outlive it."""
    return _new(address, name, None)


def structure(capsule):
    """The structure in a capsule; the capsule has to outlive it."""
    return ArrowDeviceArray.from_address(_pointer(capsule, NAME))


class Exported:
    """What pyarrow exports, with some members of the structure changed."""

    def __init__(self, inner, **members):
        self.inner, self.members = inner, members

    def __arrow_c_device_array__(self, requested_schema=None, **options):
        schema, array = self.inner.__arrow_c_device_array__()
        for name, value in self.members.items():
            setattr(structure(array), name, value)
        return schema, array


STREAM = b"arrow_device_array_stream"


def only_stream(data):
    """What gives its batches by the C Device interface alone."""
    return SimpleNamespace(__arrow_c_device_stream__=data.__arrow_c_device_stream__)


def stream_structure(capsule):
    """The stream in a capsule, which has to outlive it."""
    return ArrowDeviceArrayStream.from_address(_pointer(capsule, STREAM))


class MadeStream:
    """A stream that is made by hand of what pyarrow exports: `items` are objects that export
    arrays, or numbers that `get_next` fails with; those with a text have it told.

    Keep it until the consumer has released it; `released` tells.
    """

    def __init__(self, schema, items, device_type=CUDA, text=b"", **members):
        self.schema, self.items, self.text = schema, list(items), ctypes.create_string_buffer(text)
        self.released, self.kept = 0, []
        self._functions = (
            Answer(self._get_schema),
            Answer(self._get_next),
            Place(self._get_last_error),
            Release(self._release),
        )
        places = [ctypes.cast(function, c_void_p).value for function in self._functions]
        self.struct = ArrowDeviceArrayStream(device_type, *places)
        for name, value in members.items():
            setattr(self.struct, name, value)

    def _get_schema(self, _stream, out):
        if isinstance(self.schema, int):
            return self.schema
        self.schema._export_to_c(out)
        return 0

    def _get_next(self, _stream, out):
        if not self.items:
            ArrowDeviceArray.from_address(out).array.release = None
            return 0
        item = self.items.pop(0)
        if isinstance(item, int):
            return item
        capsules = item.__arrow_c_device_array__()
        self.kept.append(item)
        moved = structure(capsules[1]).move()
        ctypes.memmove(out, moved.address, ctypes.sizeof(moved))
        return 0

    def _get_last_error(self, _stream):
        return ctypes.addressof(self.text) if self.text.value else None

    def _release(self, stream):
        self.released += 1
        ArrowDeviceArrayStream.from_address(stream).release = None

    def capsule(self):
        return _new(self.struct.address, STREAM, None)

    def __arrow_c_device_stream__(self, requested_schema=None, **options):
        return self.capsule()


class Made:
    """A structure that is made by hand, of buffers as addresses or None.

    Keep it until the consumer has released it; `released` tells.
    """

    def __init__(self, schema, array, owner=None, **members):
        self.schema, self.released = schema, 0
        self._owner, self._release = owner, Release(self._on_release)
        self._struct = ArrowDeviceArray(array=array, device_type=CUDA, device_id=0)
        self._struct._array = array
        for name, value in members.items():
            setattr(self._struct, name, value)
        self._struct.array.release = ctypes.cast(self._release, c_void_p).value

    @property
    def address(self):
        return self._struct.address

    def _on_release(self, array):
        ArrowArray.from_address(array).release = None
        self.released += 1
        self._owner = None

    def __arrow_c_device_array__(self, requested_schema=None, **options):
        return self.schema.__arrow_c_schema__(), capsule(self.address, NAME)


def made_array(length, buffers, children=(), dictionary=None, null_count=0, offset=0):
    """An ArrowArray that somebody else's release takes care of."""
    array = ArrowArray(length, null_count, offset, len(buffers), len(children))
    array._kept = (
        (c_void_p * len(buffers))(*buffers),
        (POINTER(ArrowArray) * len(children))(*map(ctypes.pointer, children)),
        children,
        dictionary,
    )
    array.buffers = ctypes.cast(array._kept[0], POINTER(c_void_p))
    if children:
        array.children = ctypes.cast(array._kept[1], POINTER(POINTER(ArrowArray)))
    if dictionary is not None:
        array.dictionary = ctypes.pointer(dictionary)
    # Consumers look whether a child is released; only the parent's release is called.
    array.release = ctypes.cast(_unused, c_void_p).value
    return array


@Release
def _unused(array):
    ArrowArray.from_address(array).release = None


def array_of(ctx, content=bytes(1000)):
    """A buffer on the device, and an array of its bytes."""
    memory = ctx.buffer_from_data(content)
    return memory, pa.Array.from_buffers(pa.uint8(), len(content), [None, memory], null_count=0)


def batch_of(ctx, content=bytes(1000)):
    """A buffer on the device, and a batch of two columns of its bytes."""
    memory, array = array_of(ctx, content)
    return memory, pa.RecordBatch.from_arrays([array, array.slice(0)], ["a", "b"])


@contextmanager
def exported_capsule(data):
    capsules = data.__arrow_c_device_array__()
    yield structure(capsules[1])


@contextmanager
def exported_structure(data):
    array, schema = ArrowDeviceArray(), ArrowSchema()
    data._export_to_c_device(array.address, schema.address)
    yield array
    array.release()
    Release(schema.release)(schema.address)
