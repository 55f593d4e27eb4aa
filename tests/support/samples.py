"""Arrays of every kind that Arrow has, with nulls where the type allows them."""

import datetime
import decimal
import gc
import time
import uuid

import pyarrow as pa

CPU = pa.default_cpu_memory_manager()
_WORDS = ["", "a", None, "nine", "a string of more than twelve bytes", "ünïcödé", None, "z"]
_BYTES = [None if word is None else word.encode() for word in _WORDS]
_DAYS = [datetime.datetime(2000, 1, day, 12, 30) if day % 3 else None for day in range(1, 9)]
_LISTS = [[1, 2], [], None, [3, None], [4], [5, 6, 7], None, []]


class Point(pa.ExtensionType):
    """An extension type of this suite."""

    def __init__(self):
        super().__init__(pa.struct([("x", pa.float32()), ("y", pa.float32())]), "tests.point")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def _list_view():
    values = pa.array([1, 2, None, 4, 5], pa.int16())
    offsets, sizes = pa.array([3, 0, 1], pa.int32()), pa.array([2, 3, 0], pa.int32())
    return pa.ListViewArray.from_arrays(offsets, sizes, values)


def _large_list_view():
    values = pa.array(["a", "b", None])
    offsets, sizes = pa.array([1, 0], pa.int64()), pa.array([2, 2], pa.int64())
    return pa.LargeListViewArray.from_arrays(offsets, sizes, values)


def _union(is_dense):
    ids = pa.array([0, 1, 0, 1], pa.int8())
    if is_dense:
        children = [pa.array([1, None]), pa.array(["x", "yy"])]
        return pa.UnionArray.from_dense(ids, pa.array([0, 0, 1, 1], pa.int32()), children)
    children = [pa.array([1, 2, None, 4]), pa.array(["a", "b", "c", None])]
    return pa.UnionArray.from_sparse(ids, children)


def _arrays():
    numbers = [1, None, 3, 4, None, 6, 7, 8]
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        yield name, pa.array(numbers, getattr(pa, name)())
    for name in ("float16", "float32", "float64"):
        yield name, pa.array(numbers, pa.float64()).cast(getattr(pa, name)())
    yield "no nulls", pa.array(range(100))
    yield "bool", pa.array([True, None, False] * 7)
    for name in ("string", "large_string", "string_view"):
        yield name, pa.array(_WORDS, getattr(pa, name)())
    for name in ("binary", "large_binary", "binary_view"):
        yield name, pa.array(_BYTES, getattr(pa, name)())
    yield "long views", pa.array(["x" * 50_000, "short", None, "y" * 50_000], pa.string_view())
    yield "fixed binary", pa.array([b"abc", None, b"xyz"], pa.binary(3))
    yield "list", pa.array(_LISTS, pa.list_(pa.int32()))
    yield "large list", pa.array(_LISTS, pa.large_list(pa.int64()))
    yield "list of lists", pa.array([[["a"], None], [], None, [["b", "c"]]])
    yield "list view", _list_view()
    yield "large list view", _large_list_view()
    yield "fixed list", pa.array([[1, 2], None, [3, None]], pa.list_(pa.int16(), 2))
    yield "struct", pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": "z"}])
    yield "map", pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int32()))
    money = [decimal.Decimal("12.34"), None, decimal.Decimal("-0.01")]
    for bits in (32, 64, 128, 256):
        yield f"decimal{bits}", pa.array(money, getattr(pa, f"decimal{bits}")(8, 2))
    for unit in ("s", "ms", "us", "ns"):
        yield f"timestamp {unit}", pa.array(_DAYS, pa.timestamp(unit, tz="UTC"))
        yield f"duration {unit}", pa.array(numbers, pa.duration(unit))
    for name in ("date32", "date64", "month_day_nano_interval"):
        values = [(1, 2, 3), None] if name.startswith("month") else _DAYS
        yield name, pa.array(values, getattr(pa, name)())
    yield "time32", pa.array(numbers, pa.time32("s"))
    yield "time64", pa.array(numbers, pa.time64("ns"))
    yield "null", pa.nulls(5)
    yield "run-end encoded", pa.RunEndEncodedArray.from_arrays([2, 3, 7], ["a", None, "b"])
    yield "dense union", _union(is_dense=True)
    yield "sparse union", _union(is_dense=False)
    points = pa.array([{"x": 1.0, "y": 2.0}, None], Point().storage_type)
    yield "extension", pa.ExtensionArray.from_storage(Point(), points)
    ids = pa.array([uuid.UUID(int=7).bytes, None], pa.binary(16))
    yield "uuid", pa.ExtensionArray.from_storage(pa.uuid(), ids)
    nested = [[{"m": [("k", [1.5, None])], "s": "x"}, None], None, []]
    inner = pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.float64()))), ("s", pa.string())])
    yield "deeply nested", pa.array(nested, pa.list_(inner))


ARRAYS = dict(_arrays())
DICTIONARY = pa.array(["x", "y", None, "x", "z"]).dictionary_encode()
#: A message of a record batch has no room for a dictionary.
ALL = ARRAYS | {"dictionary": DICTIONARY}
BATCH = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"]})
MIXED = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"], "l": [[1], [], None]})


def shapes(array):
    """The array, parts of it, and none of it."""
    return [array, array.slice(1), array.slice(1, 2), array.slice(0, len(array) - 1), array[:0]]


def written(batches, opener=pa.ipc.new_stream, **options):
    """A stream of batches, or a file."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(**options)
    with opener(sink, batches[0].schema, options=options) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def empty_of(type):
    """An array of no values that is no part of another one."""
    try:
        return pa.array([], type)
    except pa.ArrowNotImplementedError:  # unions
        return pa.nulls(0, type)


def buffers_of(array):
    return [buffer for buffer in array.buffers() if buffer is not None]


def chunks_of(data):
    """The arrays of a chunked array, a batch or a table; or the array itself."""
    if isinstance(data, pa.Array):
        return [data]
    if isinstance(data, pa.ChunkedArray):
        return data.chunks
    return [chunk for column in data.columns for chunk in chunks_of(column)]


def distinct_buffers(arrays):
    """The addresses of all memory that arrays have."""
    return {buffer.address for array in arrays for buffer in buffers_of(array) if buffer.size}


def wait_for_release(context, allocated):
    """Waits until no more than `allocated` bytes are left: libarrow reads files on threads of
    its own, which let go of them in their own time."""
    deadline = time.monotonic() + 60
    while context.bytes_allocated > allocated and time.monotonic() < deadline:
        gc.collect()
    assert context.bytes_allocated == allocated
