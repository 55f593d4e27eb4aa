"""Which arguments to call pyarrow's functions with, by the names of their parameters."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from .values import ARRAYS, CONTENTS, MORE, Place, sink, stream_of, writer_of

#: Makes an argument whose data is at a place.
Maker = Callable[[Place], Any]


def _arrays(*kinds: str) -> dict[str, Maker]:
    return {kind: lambda place, kind=kind: place.array(kind) for kind in kinds}


def _contents(*kinds: str) -> dict[str, Maker]:
    return {f"buffer of {kind}": lambda place, kind=kind: place.buffer(kind) for kind in kinds}


_CHUNKED: dict[str, Maker] = {
    "chunked": lambda place: place.chunked(),
    "chunked strings": lambda place: place.chunked("strings"),
}
_BATCH: dict[str, Maker] = {"batch": lambda place: place.batch()}
_TABLE: dict[str, Maker] = {"table": lambda place: place.table()}
_READER: dict[str, Maker] = {"reader": lambda place: place.reader()}
_GENERIC: dict[str, Maker] = {"generic buffer": lambda place: place.generic_buffer()}
_TABULAR = _TABLE | _BATCH
_ARRAY = _arrays(*ARRAYS) | _CHUNKED
_BUFFER = _contents("text", "int64s") | _GENERIC
_SOURCE = _contents(*CONTENTS)
_DATA = _arrays("ints", "strings", "lists") | _CHUNKED | _TABULAR | _READER | _BUFFER
_BATCHES: dict[str, Maker] = {
    "batches": lambda place: [place.batch(), place.batch()],
    "iterator": lambda place: iter([place.batch()]),
    "reader": lambda place: place.reader(),
    "table": lambda place: place.table(),
}
_TABLES: dict[str, Maker] = {
    "tables": lambda place: [place.table(), place.table()],
    "batches": lambda place: [place.batch(), place.batch()],
}


def _several(*kinds: str) -> dict[str, Maker]:
    return {
        f"two of {kind}": lambda place, kind=kind: [place.array(kind), place.array(kind)]
        for kind in kinds
    }


#: Arguments with data, by the names of parameters.  The first one is given from the host while
#: another parameter is tried.
_DATA_OF_NAMES: dict[str, dict[str, Maker]] = {
    "array arr values x y strings lists input timestamps dividend divisor base exponent": _ARRAY,
    "left right fill_value container items value ints dates times s1 s2 start end": _ARRAY,
    "b left_input right_input input1 input2 days key element lhs rhs cond then": _ARRAY,
    "otherwise storage": _ARRAY,
    "mask selection_filter": _arrays("mask", "bools") | {"chunked": lambda p: p.chunked("mask")},
    "indices index": _arrays("indices") | {"chunked": lambda p: p.chunked("indices")},
    "offsets sizes value_offsets": _arrays("offsets", "long offsets") | _GENERIC,
    "run_ends": _arrays("offsets"),
    "types type_codes": _arrays("codes"),
    "dictionary keys": _arrays("strings", "ints"),
    "value_set": _arrays("unsliced", "ints", "strings") | _CHUNKED,
    "replacements": _arrays("unsliced"),
    "children": _several("ints", "strings"),
    "arrays chunks": _several(*ARRAYS)
    | {"chunked": lambda p: [p.chunked(), p.chunked()], "slices": lambda p: p.slices()},
    "columns names tensor": {},
    "table right_table batch record_batch df": _TABULAR,
    "struct_array": _arrays("structs"),
    "batches recordbatches": _BATCHES,
    "tables": _TABLES,
    "column col": _arrays("ints", "strings") | _CHUNKED,
    "table_or_batch data obj o other args value_": _DATA,
    "source input_file reader message": _SOURCE | _DATA,
    "buf buffer null_bitmap validity": _BUFFER | _SOURCE,
    "buffers": {"buffers": lambda p: [None, p.generic_buffer()]},
    "lines": {"lines": lambda p: [p.buffer("text")]},
    "dataset right_dataset": {"dataset": lambda p: p.dataset()},
    "decl": {"declaration": lambda p: p.declaration()},
    "serialized": _BUFFER,
}
DATA = {name: makers for names, makers in _DATA_OF_NAMES.items() for name in names.split()}

#: Arguments without data, by the names of parameters that have no default.
_PLAIN_OF_NAMES: dict[str, Callable[[], Any]] = {
    "schema": lambda: pa.schema(
        [("a", pa.int64()), ("s", pa.string()), ("d", pa.dictionary(pa.int32(), pa.string()))]
    ),
    "target_schema": lambda: pa.schema(
        [("a", pa.float64()), ("s", pa.string()), ("d", pa.string())]
    ),
    "field_": lambda: pa.field("z", pa.int64()),
    "type": pa.int64,
    "target_type": pa.float64,
    "run_end_type": pa.int32,
    "dictionary_type": lambda: pa.dictionary(pa.int32(), pa.string()),
    "typ": lambda: pa.fixed_shape_tensor(pa.int32(), (2,)),
    "i start offset position pos null_count": lambda: 0,
    "stop n k pivot tolerance n_buffers": lambda: 1,
    "list_size chunksize": lambda: 2,
    "nbytes": lambda: 3,
    "length": lambda: 4,
    "width": lambda: 5,
    "decompressed_size": lambda: 12,
    "q": lambda: 0.5,
    "names": lambda: ["a", "b"],
    "columns keys right_keys key_names": lambda: ["a"],
    "on right_on by sorting pattern separator": lambda: "a",
    "right_by unit": lambda: "s",
    "replacement new_name": lambda: "z",
    "sort_keys": lambda: [("a", "ascending")],
    "aggregations": lambda: [("a", "sum")],
    "func_name function_name": lambda: "sum",
    "query_key": lambda: pa.scalar("k"),
    "occurrence": lambda: "first",
    "form": lambda: "NFC",
    "timezone": lambda: "UTC",
    "format_spec": str,
    "metadata": dict,
    "mask": lambda: [True, False, True, False],
    "indices": lambda: [0, 1],
    "offsets": lambda: [0, 1, 3, 4],
    "sink where dest output_file stream_or_path": sink,
    "input_stream": lambda: pa.BufferReader(b"text"),
    "base_dir root_path path": lambda: "written",
    "format": lambda: "feather",
    "codec": lambda: "lz4",
    "memory_manager destination": pa.default_cpu_memory_manager,
    "expression filter options memory_pool filesystem descriptor copy": lambda: None,
}
PLAIN = {name: make for names, make in _PLAIN_OF_NAMES.items() for name in names.split()}

_ANY: dict[str, Maker] = (
    _arrays("ints") | {"chunked": lambda p: p.chunked()} | _TABULAR | _contents("text")
)


def arguments_for(name: str, of_all_types: bool = False) -> dict[str, Maker]:
    """What carries data and may be given for a parameter; of one that is unknown, anything."""
    found = DATA.get(name, {} if name in PLAIN else _ANY)
    return found | _arrays(*MORE) if of_all_types and "ints" in found else found


#: What Python programs give in place of an array.
_OF_PYTHON: dict[str, Callable[[], Any]] = {
    "a list": lambda: [3, 1, None, 2],
    "a list of strings": lambda: ["b", "a", None, "c"],
    "a tuple": lambda: (True, False, None, True),
    "an ndarray": lambda: np.array([3, 1, 4, 2]),
    "objects": lambda: np.array(["b", None, 1.5, True], object),
    "a number": lambda: 2,
    "a scalar": lambda: pa.scalar(3),
    "nothing": lambda: None,
}


def of_host(name: str) -> dict[str, Maker]:
    """What may be given for a parameter of data beside data on a device."""
    if (makers := DATA.get(name)) is None:
        return {}
    python = {kind: lambda _place, make=make: make() for kind, make in _OF_PYTHON.items()}
    return makers | python


def plain(name: str) -> Any:
    """An argument of the host's for a parameter."""
    if name in PLAIN:
        return PLAIN[name]()
    makers = DATA.get(name)
    return next(iter(makers.values()))(Place(False)) if makers else None


#: Objects to call the methods of a class on, whose data is at a place.
OBJECTS: dict[str, dict[str, Maker]] = {
    "Array": _arrays(*ARRAYS),
    "ChunkedArray": {
        f"chunks of {kind}": lambda place, kind=kind: place.chunked(kind) for kind in ARRAYS
    },
    "RecordBatch": _BATCH | {"numbers": lambda p: p.numbers()},
    "Table": _TABLE | {"numbers": lambda p: pa.Table.from_batches([p.numbers()])},
    "Buffer": _BUFFER,
    "RecordBatchReader": _READER,
    "Message": {"message": lambda p: p.message()},
    "Dataset": {"dataset": lambda p: p.dataset()},
    "Scanner": {"scanner": lambda p: p.scanner()},
    "Fragment": {"fragment": lambda p: p.fragment()},
    "Declaration": {"declaration": lambda p: p.declaration()},
    "TableGroupBy": {"groups": lambda p: p.grouped()},
    "NativeFile": {
        "reader": lambda p: pa.BufferReader(p.buffer("text")),
        "buffered": lambda p: pa.BufferedInputStream(pa.BufferReader(p.buffer("text")), 4),
        "compressed": lambda p: pa.CompressedInputStream(
            pa.BufferReader(p.buffer("compressed")), "zstd"
        ),
    }
    | {
        name: lambda p, name=name: stream_of(name)
        for name in (
            "BufferOutputStream", "PythonFile", "OSFile", "CompressedOutputStream",
            "BufferedOutputStream", "FixedSizeBufferWriter", "MockOutputStream",
        )
    },
    "ParquetWriter": {"writer": lambda p: writer_of("ParquetWriter")},
    "ORCWriter": {"writer": lambda p: writer_of("ORCWriter")},
    "CSVWriter": {"writer": lambda p: writer_of("CSVWriter")},
    "_CRecordBatchWriter": {
        n: lambda p, n=n: writer_of(n) for n in ("stream", "file", "CSVWriter")
    },
    "Function": {
        n: lambda p, n=n: pa.compute.get_function(n)
        for n in ("sum", "add", "filter", "take", "unique", "is_null", "sort_indices", "cast")
    },
    "Codec": {"codec": lambda p: pa.Codec("zstd")},
    "Tensor": {},
    "_PyArrowColumn": {"column": lambda p: p.column()},
    "_PyArrowBuffer": {},
    "_PyArrowDataFrame": {"frame": lambda p: p.frame()},
}  # fmt: skip


def objects_of(cls: type, of_all_types: bool = False) -> dict[str, Maker]:
    """Objects of a class: of it or of classes above or below it that `OBJECTS` has."""
    found: dict[str, Maker] = {}
    for base in cls.__mro__:
        found = found or OBJECTS.get(base.__name__, {})
    if not found:
        for name, makers in OBJECTS.items():
            if any(name == each.__name__ for each in _below(cls)):
                found = found | makers
    return found | _arrays(*MORE) if of_all_types and "ints" in found else found


def _below(cls: type) -> Iterator[type]:
    for each in type.__subclasses__(cls):
        yield each
        yield from _below(each)


#: Calls whose parameters have other meanings, or no names: positional and named arguments.
SPECIAL: dict[str, dict[str, Callable[[Place], tuple[Any, ...]]]] = {
    "pyarrow.lib:BufferReader": {k: lambda p, k=k: (p.buffer(k),) for k in CONTENTS},
    "pyarrow.lib:FixedSizeBufferWriter": {
        "buffer": lambda p: (pa.allocate_buffer(8) if not p.is_on_device else p.buffer("text"),)
    },
}
