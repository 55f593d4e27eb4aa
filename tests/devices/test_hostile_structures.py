"""Structures of the C Device interface that lie, and pointers that lead nowhere.

Each test runs in a process of its own, which prints what it is about to do: a crash ends that
process, and the last line names the call.
"""

import struct

import pyarrow as pa
import pytest

from support.c_device import CUDA, CUDA_HOST, CUDA_MANAGED, Made, MadeStream, made_array

STRUCTURES = """
import ctypes, itertools
import pyarrow as pa
from pyarrow_cuda_compat import Context, Event
from support.c_device import (
    CUDA, CUDA_HOST, CUDA_MANAGED, ArrowArray, ArrowSchema, Made, made_array, structure
)

memory = Context(0).buffer_from_data(bytes(64))
event = Event()
event.record()
handle = ctypes.c_void_p(event.handle)
place = ctypes.addressof(handle)

def leaf():
    return made_array(2, [None, memory.address])

def parent(**members):
    array = made_array(2, [None], [leaf()])
    for name, value in members.items():
        setattr(array, name, value)
    return array

def own_child():
    array = parent()
    array.children[0] = ctypes.pointer(array)
    return array

def own_dictionary():
    array = leaf()
    array.dictionary = ctypes.pointer(array)
    return array

def without_a_child():
    array = parent()
    array.children[0] = ctypes.POINTER(ArrowArray)()
    return array

def without_buffers():
    array = leaf()
    array.buffers = None
    return array

def with_a_released_child():
    # Nothing else of it may be read.
    child = parent(release=None)
    child.children = ctypes.cast(8, type(child.children))
    child.buffers = ctypes.cast(8, type(child.buffers))
    return made_array(2, [None], [child])

here = memory.address
numbers = pa.struct([("x", pa.int64())])
texts = pa.struct([("x", pa.string())])
CASES = {
    "a child that is its own parent": (numbers, own_child),
    "a child of strings that is its own parent": (texts, own_child),
    "nested children that are their own parents": (pa.struct([("x", numbers)]), own_child),
    "a dictionary that is its own": (pa.dictionary(pa.int64(), pa.string()), own_dictionary),
    "a dictionary where the type has none": (pa.int64(), own_dictionary),
    "too many children": (numbers, lambda: parent(n_children=2**62)),
    "children of no place": (numbers, lambda: parent(n_children=2**40, children=None)),
    "a negative number of children": (numbers, lambda: parent(n_children=-(2**63))),
    "children of a number": (pa.int64(), parent),
    "too many buffers": (numbers, lambda: parent(n_buffers=2**62)),
    "a negative number of buffers": (numbers, lambda: parent(n_buffers=-1)),
    "no children": (numbers, lambda: parent(children=None)),
    "no child": (numbers, without_a_child),
    "a released child": (pa.struct([("x", numbers)]), with_a_released_child),
    "no buffers": (pa.int64(), without_buffers),
    "no buffers of a structure": (numbers, lambda: parent(buffers=None)),
    "views without sizes": (pa.string_view(), lambda: made_array(2, [None, here, here, None])),
    "a negative offset": (pa.int64(), lambda: made_array(2, [None, here], offset=-1)),
    "a negative offset of a structure": (numbers, lambda: parent(offset=-1)),
    "a negative length": (pa.int64(), lambda: made_array(-1, [None, here])),
    "too long": (pa.int64(), lambda: made_array(2**63 - 1, [None, here], offset=1)),
}
SAID = {
    "a negative length": "an impossible length: -1 values from 0 on",
    "a negative offset": "an impossible length: 2 values from -1 on",
    "no buffers": "the structure has a null pointer in place of its buffers",
}

def in_turn(*calls):
    # Each of them has to be refused.
    for call in calls:
        try:
            call()
        except pa.ArrowInvalid as error:
            assert SAID.get(name, str(error)) in str(error), error
        else:
            raise AssertionError("imported")

for (name, (kind, make)), has_event, device in itertools.product(
    CASES.items(), (False, True), (CUDA, CUDA_MANAGED, CUDA_HOST)
):
    print(name, has_event, device, flush=True)
    made, schemas = [], []
    def new():
        options = {"device_type": device, "sync_event": place if has_event else None}
        made.append(Made(kind, make(), **options))
        return made[-1]
    def pointer():
        return structure(new().__arrow_c_device_array__()[1]).address
    def exported():
        schemas.append(ArrowSchema())
        kind._export_to_c(schemas[-1].address)
        return schemas[-1].address
    in_turn(
        lambda: pa.Array._import_from_c_device_capsule(*new().__arrow_c_device_array__()),
        lambda: pa.Array._import_from_c_device(pointer(), kind),
        lambda: pa.Array._import_from_c_device(pointer(), exported()),
    )
    if pa.types.is_struct(kind):
        in_turn(
            lambda: pa.RecordBatch._import_from_c_device_capsule(*new().__arrow_c_device_array__()),
            lambda: pa.RecordBatch._import_from_c_device(pointer(), pa.schema(kind.fields)),
            lambda: pa.RecordBatch._import_from_c_device(pointer(), exported()),
        )
    assert [each.released for each in made] == [1] * len(made)
    assert not any(each.release for each in schemas)
"""


def test_structures_that_lie_are_refused_and_released(run_python):
    """With an event, as without: nothing is followed before libarrow has validated it."""
    code, out, err = run_python(STRUCTURES)
    assert (code, err) == (0, ""), f"at {out.splitlines()[-1:]}"


SCHEMAS = """
import ctypes, itertools
import pyarrow as pa
from pyarrow_cuda_compat import Context, Event
from support.c_device import NAME, SCHEMA_NAME, ArrowSchema, Made, Release, capsule, made_array

memory = Context(0).buffer_from_data(bytes(64))
event = Event()
event.record()
place = ctypes.addressof(handle := ctypes.c_void_p(event.handle))
released = []

@Release
def release(schema):
    ArrowSchema.from_address(schema).release = None
    released.append(schema)

def described(format=b"+s", n_children=0, children=None, **members):
    schema = ArrowSchema(format=format, n_children=n_children, children=children, **members)
    schema.release = ctypes.cast(release, ctypes.c_void_p).value
    return schema

def of(child):
    schema = described(n_children=1)
    schema._kept = (ctypes.c_void_p * 1)(child and child.address), child
    schema.children = ctypes.addressof(schema._kept[0])
    return schema

def encoded(values):
    schema = described(b"i", dictionary=values.address)
    schema._kept = values
    return schema

CASES = {
    "no format": lambda: described(None),
    "a child without a format": lambda: of(described(None)),
    "a dictionary without a format": lambda: encoded(described(None)),
    "a negative number of children": lambda: described(n_children=-1),
    "a child with a negative number of children": lambda: of(described(n_children=-(2**63))),
    "no children": lambda: described(n_children=1),
    "many children of no place": lambda: described(n_children=2**62),
    "no child": lambda: of(None),
    "a released child": lambda: of(ArrowSchema(n_children=1, children=8, format=b"+s")),
}

def own_child():
    schema = of(None)
    schema._kept[0][0] = schema.address
    return schema

CASES["a child that is its own parent"] = own_child

for (name, make), has_event, cls in itertools.product(
    CASES.items(), (False, True), (pa.Array, pa.RecordBatch)
):
    for in_capsules in (False, True):
        print(name, has_event, cls, in_capsules, flush=True)
        released.clear()
        array = made_array(2, [None], [made_array(2, [None, memory.address])])
        made = Made(None, array, sync_event=place if has_event else None)
        schema = make()
        try:
            if in_capsules:
                cls._import_from_c_device_capsule(
                    capsule(schema.address, SCHEMA_NAME), capsule(made.address, NAME)
                )
            else:
                cls._import_from_c_device(made.address, schema.address)
        except pa.ArrowInvalid as error:
            assert str(error)
        else:
            raise AssertionError("imported")
        assert (made.released, released) == (1, [schema.address]), name
"""


def test_descriptions_that_lie_are_refused_and_released(run_python):
    """libarrow itself follows null pointers, and throws for a negative number of children."""
    code, out, err = run_python(SCHEMAS)
    assert (code, err) == (0, ""), f"at {out.splitlines()[-1:]}"


#: libarrow keeps the last byte only, which is CUDA's.
OVER_CUDA = 0x01000000 + CUDA
NOWHERE = [
    *(("device_type", number, f"type {number}") for number in (0, 99, OVER_CUDA)),
    *(("device_id", number, f"device number {number}") for number in (-1, -(2**40), 2**31)),
    ("device_id", 99, r"Cuda error 101 in function 'cuDeviceGet': \[CUDA_ERROR_INVALID_DEVICE\]"),
]


@pytest.mark.parametrize(("member", "number", "text"), NOWHERE)
@pytest.mark.parametrize("is_batch", [False, True])
@pytest.mark.parametrize("in_capsules", [False, True])
def test_arrays_of_devices_that_do_not_exist_are_released(
    ctx, member, number, text, is_batch, in_capsules
):
    memory = ctx.buffer_from_data(bytes(64))
    leaf = made_array(2, [None, memory.address])
    array = made_array(2, [None], [leaf]) if is_batch else leaf
    cls = pa.RecordBatch if is_batch else pa.Array
    kind = pa.schema([("x", pa.int64())]) if is_batch else pa.int64()
    made = Made(kind, array, **{member: number})
    if in_capsules:
        read, arguments = cls._import_from_c_device_capsule, made.__arrow_c_device_array__()
    else:
        read, arguments = cls._import_from_c_device, (made.address, kind)
    with pytest.raises((pa.ArrowException, OSError), match=text):
        read(*arguments)
    assert made.released == 1


POINTERS = """
import ctypes, math
import pyarrow as pa
import pyarrow_cuda_compat.pygpu as gpu
from pyarrow_cuda_compat import Context
from support.c_device import ArrowDeviceArray, ArrowSchema

class Int(int):
    def __int__(self):
        return 8
    __index__ = __int__

class Float(float):
    def __int__(self):
        return 8

device, schema = ArrowDeviceArray(), ArrowSchema()
ctx = Context(0)
buffer = ctx.new_buffer(4096)
here, there = pa.array([1]), pa.array([1]).copy_to(ctx.memory_manager)
batches = [pa.record_batch({"a": here}), pa.record_batch({"a": there})]
typed = gpu.DeviceArray_int64(3)
typed.allocate()

NUMBERS = [True, False, -1, -(2**63), 1, 8, 0x1230, 2**40 + 8, 2**63, 2**64 - 8, 2**64, 2**100]
NUMBERS += [Int(0x1230), buffer.address, 0]
FLOATS = [math.inf, -math.inf, math.nan, -1.0, 1.5, 1e300, 4096.0, Float(4096.0)]
OTHERS = [None, "8", b"8", [], object(), 1j]
#: Where there is something else than a structure.
NEAR = [device.address + 1, schema.address - 4]

def wrong(cls, described):
    return {
        "import": lambda x: cls._import_from_c_device(x, described),
        "import of a schema": lambda x: cls._import_from_c_device(device.address, x),
    }

CALLS = {
    **{f"array: {name}": call for name, call in wrong(pa.Array, pa.int64()).items()},
    **{f"batch: {name}": call for name, call in wrong(pa.RecordBatch, pa.schema([])).items()},
}
for which in (here, there, *batches):
    kind = f"{type(which).__name__} on {which.device_type}"
    CALLS[f"export, {kind}"] = which._export_to_c_device
    CALLS[f"export of a schema, {kind}"] = lambda x, which=which: (
        which._export_to_c_device(device.address, x)
    )
LOOSE = {
    "host memory": lambda x: gpu.DeviceArray_int64(x, [2]),
    "set": typed.set,
}
HANDLES = {
    "context": lambda x: Context(0, x),
    "device address": ctx.get_device_address,
    "foreign buffer": lambda x: ctx.foreign_buffer(x, 10**6),
}
refused = (OSError, OverflowError, TypeError, ValueError)
UNREADABLE = "the address is misaligned, or the memory cannot be read"
SAID = {
    "8": f"no structure of 128 bytes lies at 0x8: {UNREADABLE}",
    "4096.0": f"no structure of 128 bytes lies at 0x1000: {UNREADABLE}",
    "-1": "can't convert negative int to unsigned",
    "0": "Null pointer (value before cast = 0)",
    "True": "Expected a pointer value, got <class 'bool'>",
    "'8'": "Expected a pointer value, got <class 'str'>",
}

def attempt(name, call, number):
    print(name, repr(number), flush=True)
    try:
        result = call(number)
    except refused as error:
        assert str(error)
        assert name != "array: import" or SAID.get(repr(number), "") in str(error), error
    else:
        raise AssertionError(result)

for name, call in CALLS.items():
    for number in NUMBERS + FLOATS + OTHERS + NEAR:
        # Without a schema there is nothing to export.
        if not ("of a schema, " in name and number == 0 and number is not False):
            attempt(name, call, number)
for name, call in LOOSE.items():
    for number in [True, -1, 1, 0x1230, 2**63, 2**64 - 8, 2**64, 0, buffer.address, None, math.inf]:
        attempt(name, call, number)
for name, call in HANDLES.items():
    for number in NUMBERS + FLOATS + OTHERS:
        # 0 stands for the primary context, and a device address for itself.
        if number not in (0, buffer.address) or name == "foreign buffer":
            attempt(name, call, number)
assert not device.array.release
assert not schema.release
"""


def test_pointers_to_nothing_are_refused(run_python):
    """As are numbers that are no pointers."""
    code, out, err = run_python(POINTERS, PYTHONWARNINGS="ignore::UserWarning")
    assert (code, err) == (0, ""), f"at {out.splitlines()[-1:]}"


def strings_of_size(last, wide, memory):
    """Two strings, the last of which ends at `last`, in memory that `memory` makes of bytes."""
    number = "q" if wide else "i"
    parts = [memory(content) for content in (struct.pack(f"<3{number}", 0, 1, last), bytes(64))]
    return made_array(2, [None, *(part.address for part in parts)]), parts


NEGATIVE = [(pa.string(), -5), (pa.string(), -(2**31)), (pa.large_binary(), -(2**63))]


@pytest.mark.parametrize(("kind", "last"), NEGATIVE, ids=str)
@pytest.mark.parametrize("device", [CUDA, CUDA_MANAGED, CUDA_HOST])
def test_the_last_offset_gives_no_negative_size(ctx, kind, last, device):
    """libarrow takes the size of strings from there, and all calls break on such buffers."""
    memory = pa.py_buffer if device == CUDA_HOST else ctx.buffer_from_data
    for wrap in (lambda leaf: leaf, lambda leaf: made_array(2, [None], [leaf])):
        leaf, parts = strings_of_size(last, pa.types.is_large_binary(kind), memory)
        array = wrap(leaf)
        described = pa.struct([("x", kind)]) if array is not leaf else kind
        made = Made(described, array, owner=parts, device_type=device)
        with pytest.raises(pa.ArrowInvalid, match=f"negative size: {last}"):
            pa.Array._import_from_c_device_capsule(*made.__arrow_c_device_array__())
        assert made.released == 1
    made = Made(described, array, owner=parts, device_type=device)
    batches = MadeStream(pa.schema(described.fields), [made])
    batches.struct.device_type = device
    reader = pa.RecordBatchReader._import_from_c_device_capsule(batches.capsule())
    with pytest.raises(pa.ArrowInvalid, match=f"negative size: {last}"):
        reader.read_next_batch()


@pytest.mark.parametrize(("kind", "last"), NEGATIVE, ids=str)
def test_no_call_takes_host_arrays_of_a_negative_size(ctx, kind, last):
    """Those libarrow itself imports."""
    leaf, parts = strings_of_size(last, pa.types.is_large_binary(kind), pa.py_buffer)
    made = Made(kind, leaf, owner=parts)
    array = pa.Array._import_from_c(made.address, kind)
    for data in (array, array.slice(1), pa.chunked_array([array, array.slice(1)])):
        with pytest.raises(pa.ArrowInvalid, match=f"negative size: {last}"):
            data.copy_to(ctx.memory_manager)
