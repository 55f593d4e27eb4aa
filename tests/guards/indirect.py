"""How device data reaches pyarrow where lists, tuples and dicts of arguments do not show it."""

import ctypes
import itertools
from collections import UserList, deque, namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs
from pyarrow import cuda

from .values import ARRAYS, CONTENTS, Place

INDIRECT: dict[str, Callable[[Place], Any]] = {}


# --- containers --------------------------------------------------------------------------------


class _List(list):  # type: ignore[type-arg]
    pass


class _Holds:
    def __init__(self, found: Any) -> None:
        self.found = found


class _Iterable(_Holds):
    def __iter__(self) -> Any:
        return iter(self.found)


class _Indexed(_Holds):
    def __getitem__(self, place: int) -> Any:
        return self.found[place]


class _Sequence(_Indexed):
    def __len__(self) -> int:
        return len(self.found)


class _New(_Sequence):
    """Gives another object each time."""

    def __getitem__(self, place: int) -> Any:
        return self.found[place].slice(0)


class _Once:
    """No iterator itself, and empty when it is read again."""

    def __init__(self, found: Any) -> None:
        self.rest = iter(found)

    def __iter__(self) -> Any:
        return self.rest


class _Reader(_Iterable):
    def read(self) -> Any:
        return self.found


class _Other(_Iterable, list):  # type: ignore[type-arg]
    """Gives what is not in it."""

    def __len__(self) -> int:
        return len(self.found)


class _Series(_Iterable):
    """As pandas' of objects."""

    dtype, ndim = np.dtype(object), 1

    def __len__(self) -> int:
        return len(self.found)

    def __array__(self, *arguments: Any, **more: Any) -> Any:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise NotImplementedError


def _objects(found: Any) -> Any:
    made = np.empty(len(found), object)
    for place, each in enumerate(found):
        made[place] = each  # all at once NumPy would look into them
    return made


_CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "values of a dict": lambda found: dict(enumerate(found)).values(),
    "a deque": deque,
    "a list of a subclass": _List,
    "a user's list": UserList,
    "a named tuple": lambda found: namedtuple("Two", "a b")(*found),
    "an iterable": _Iterable,
    "a sequence": _Sequence,
    "a sequence of new ones": _New,
    "an array of objects": _objects,
    "an array of a subclass": lambda found: _objects(found).view(type("Sub", (np.ndarray,), {})),
    "what is read once": _Once,
    "a reader": _Reader,
    "what is indexed": _Indexed,
    "a series of objects": _Series,
    "a list of others": _Other,
    "a map": lambda found: map(lambda each: each, found),
}
_TAKING: dict[str, Callable[[Place, Any], Any]] = {
    "concat arrays": lambda p, make: pa.concat_arrays(make(p.slices()[:2])),
    "concat batches": lambda p, make: pa.concat_batches(make([p.numbers(), p.numbers()])),
    "chunked array": lambda p, make: pa.chunked_array(make(p.slices()[:2])),
    "typed chunked array": lambda p, make: pa.chunked_array(make(p.slices()[:2]), pa.int64()),
    "table": lambda p, make: pa.Table.from_arrays(make(p.slices()[:1] * 2), names=["a", "b"]),
    "table of batches": lambda p, make: pa.Table.from_batches(make([p.batch().slice(1)] * 2)),
    "function": lambda p, make: pc.call_function("add", make([p.array("ints")] * 2)),
    "tables": lambda p, make: pa.concat_tables(make([p.table(), p.table()])),
    "struct": lambda p, make: pa.StructArray.from_arrays(make(p.slices()[:1] * 2), ["a", "b"]),
    "dataset": lambda p, make: ds.InMemoryDataset(make([p.numbers()] * 2)).to_table(),
}
for (_kind, _make), (_what, _take) in itertools.product(_CONTAINERS.items(), _TAKING.items()):
    INDIRECT[f"{_what} of {_kind}"] = lambda p, make=_make, take=_take: take(p, make)


# --- what makes arrays when it is asked for one ---------------------------------------------------


class _MakesArray(_Holds):
    def __arrow_array__(self, type: Any = None) -> Any:
        return self.found


class _MakesNewArray(_Holds):
    def __arrow_array__(self, type: Any = None) -> Any:
        return self.found.slice(0)


class _MakesCapsules(_Holds):
    def __arrow_c_device_array__(self, requested_schema: Any = None, **more: Any) -> Any:
        return self.found.__arrow_c_device_array__(requested_schema, **more)


for _kind, _make in {
    "an array": _MakesArray,
    "new arrays": _MakesNewArray,
    "capsules": _MakesCapsules,
}.items():
    INDIRECT |= {
        f"chunked array of what makes {_kind}": lambda p, make=_make: pa.chunked_array(
            [make(p.array("ints").slice(1))]
        ),
        f"dictionary of what makes {_kind}": lambda p, make=_make: pa.DictionaryArray.from_arrays(
            make(p.array("indices").slice(2)), ARRAYS["strings"]()
        ),
        f"sum of what makes {_kind}": lambda p, make=_make: pc.sum(make(p.array("ints"))),
    }


# --- casts, offsets, structures -----------------------------------------------------------------


class _Typed:
    """As a pandas column over an Arrow array."""

    class dtype:
        pyarrow_dtype = pa.int64()

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, *arguments: Any, **more: Any) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        if name == "__arrow_array__":
            return lambda type=None: self.array
        raise AttributeError(name)


INDIRECT["dictionary of a column of pandas'"] = lambda p: pa.DictionaryArray.from_arrays(
    _Typed(p.array("indices").slice(2)), ARRAYS["strings"]()
)


_PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "widths": (ARRAYS["indices"], ARRAYS["ints"]),
    "numbers": (ARRAYS["ints"], ARRAYS["floats"]),
    "strings": (ARRAYS["strings"], ARRAYS["large"]),
    "nulls": (lambda: pa.nulls(3), ARRAYS["ints"]),
    "nulls in lists": (lambda: pa.array([[None], None]), lambda: pa.array([[1]])),
    "structs": (lambda: pa.array([{"x": 1}, None]), lambda: pa.array([{"x": 1, "z": 2}])),
    "lists": (lambda: pa.array([[1], None]), lambda: pa.array([[1.5], [2.5]])),
    "equal": (ARRAYS["ints"], ARRAYS["unsliced"]),
}
for _name, (_one, _other) in _PAIRS.items():
    for _promote in ("default", "permissive"):
        INDIRECT[f"concat of {_name}, {_promote}"] = (
            lambda p, one=_one, other=_other, promote=_promote: pa.concat_tables(
                [pa.table({"a": p.put(one())}), pa.table({"a": p.put(other())})],
                promote_options=promote,
            ).copy_to(pa.default_cpu_memory_manager())
        )


def _with_null(place: Place, type: Any = None) -> Any:
    return place.put(pa.array([0, None, 2], type or pa.int32()))


def _exported(value: Any) -> Any:
    structure = ctypes.create_string_buffer(80)
    value._export_to_c(ctypes.addressof(structure))
    if isinstance(value, pa.RecordBatch):
        return pa.RecordBatch._import_from_c(ctypes.addressof(structure), value.schema)
    return pa.Array._import_from_c(ctypes.addressof(structure), value.type)


def _half_there(place: Place) -> Any:
    """Validity on the host, and values perhaps on the device."""
    host = pa.array([1, None])
    return pa.Array.from_buffers(pa.int64(), 2, [host.buffers()[0], place.put(host).buffers()[1]])


_EMPTY: dict[str, Callable[[], Any]] = {
    "strings": lambda: pa.array(["", None]),
    "no strings": lambda: pa.array([], pa.string()),
    "bytes": lambda: pa.array([b"", b""], pa.binary(0)),
    "dictionary": lambda: pa.array([None, None], pa.dictionary(pa.int8(), pa.string())),
}
for _name, _make in _EMPTY.items():
    INDIRECT |= {
        f"empty {_name} are validated": lambda p, make=_make: p.put(make()).validate(),
        f"empty {_name} in chunks are validated": lambda p, make=_make: pa.chunked_array(
            [p.put(make())]
        ).validate(),
        f"empty {_name} in a batch are validated": lambda p, make=_make: pa.record_batch(
            {"a": p.put(make())}
        ).validate(),
        f"empty {_name} in a table are validated": lambda p, make=_make: pa.table(
            {"a": p.put(make())}
        ).validate(),
    }


_LIST = ["b", "a", None, "c"]
_MASKS: dict[str, Callable[[Place], Any]] = {
    "an array": lambda p: p.array("mask"),
    "chunks": lambda p: pa.chunked_array([p.array("mask").slice(0, 2)] * 2),
    "what makes an array": lambda p: _MakesArray(p.array("mask")),
    "what makes capsules": lambda p: _MakesCapsules(p.array("mask")),
    "a list of arrays": lambda p: [p.array("mask")] * 4,
}
for _name, _make in _MASKS.items():
    INDIRECT |= {
        f"{_name} as mask of a list": lambda p, make=_make: pa.array(_LIST, mask=make(p)),
        f"{_name} as mask of chunks": lambda p, make=_make: pa.array(
            pa.chunked_array([_LIST]), pa.string(), make(p)
        ),
        f"{_name} as mask of objects": lambda p, make=_make: pa.Array.from_pandas(
            np.array(_LIST, object), mask=make(p)
        ),
        f"{_name} as mask of strings": lambda p, make=_make: pa.StringArray.from_pandas(
            _LIST, mask=make(p)
        ),
    }


INDIRECT |= {
    "chunks with a mask": lambda p: pa.array(p.chunked(), mask=[True] * 6),
    "the size of runs": lambda p: pa.ipc.get_record_batch_size(
        pa.record_batch({"a": p.array("runs")}).slice(1)
    ),
    "the size of runs in a structure": lambda p: pa.ipc.get_record_batch_size(
        pa.record_batch({"a": pa.StructArray.from_arrays([p.array("runs")], ["x"])})
    ),
    "lists of null offsets": lambda p: pa.ListArray.from_arrays(_with_null(p), p.array("unsliced")),
    "lists of host values": lambda p: pa.ListArray.from_arrays(_with_null(p), ARRAYS["unsliced"]()),
    "large lists of null offsets": lambda p: pa.LargeListArray.from_arrays(
        _with_null(p, pa.int64()), p.array("unsliced")
    ),
    "maps of null offsets": lambda p: pa.MapArray.from_arrays(
        offsets=_with_null(p), keys=p.array("unsliced"), items=p.array("unsliced")
    ),
    "a C structure": lambda p: _exported(p.array("unsliced")),
    "a C structure of a slice": lambda p: _exported(p.array("ints").slice(1)),
    "a C structure of a batch": lambda p: _exported(p.numbers().slice(1)),
    "an array in two places is printed": lambda p: str(_half_there(p)),
    "chunks in two places are printed": lambda p: str(pa.chunked_array([_half_there(p)])),
    "a table in two places is printed": lambda p: str(pa.table({"a": _half_there(p)})),
    "intervals in a batch": lambda p: pa.record_batch({"a": p.array("intervals")}).to_pydict(),
    "intervals in rows": lambda p: pa.record_batch({"a": p.array("intervals")}).to_pylist(),
}


# --- files over device memory, and file systems that give them ---------------------------------


def _file(place: Place) -> Any:
    contents = CONTENTS["file"]()
    if not place.is_on_device:
        return pa.BufferReader(contents)
    return cuda.BufferReader(cuda.Context(0).buffer_from_data(contents))


class _Files(fs.FileSystemHandler):  # type: ignore[misc]
    """One file."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def get_file_info(self, paths: list[str]) -> Any:
        size = len(CONTENTS["file"]())
        return [fs.FileInfo(path, fs.FileType.File, size=size) for path in paths]

    def open_input_file(self, path: str) -> Any:
        return _file(self.place)

    open_input_stream = open_input_file

    def get_type_name(self) -> str:
        return "one file"

    def normalize_path(self, path: str) -> str:
        return path

    def _refuse(self, *arguments: Any) -> Any:
        raise NotImplementedError

    get_file_info_selector = create_dir = delete_dir = delete_dir_contents = _refuse
    delete_root_dir_contents = delete_file = move = copy_file = _refuse
    open_output_stream = open_append_stream = _refuse


# The base class has every method abstract.
_Files.__abstractmethods__ = frozenset()


def _data_of(place: Place) -> Any:
    files = fs.PyFileSystem(_Files(place))
    return ds.dataset("one", filesystem=files, format="ipc")


_OVER_A_FILE: dict[str, Callable[[Any], Any]] = {
    "all": lambda data: data.to_table(),
    "a filter": lambda data: data.to_table(filter=pc.field("a") > 1),
    "a projection": lambda data: data.to_table(columns={"q": pc.field("a") + 1}),
    "the head": lambda data: data.head(2),
    "rows": lambda data: data.take([0, 2]),
    "the count": lambda data: data.count_rows(),
}
for _what, _use in _OVER_A_FILE.items():
    INDIRECT |= {
        f"{_what} of a fragment over a file": lambda p, use=_use: use(
            ds.IpcFileFormat().make_fragment(_file(p))
        ),
        f"{_what} of a dataset over a file": lambda p, use=_use: use(_data_of(p)),
    }


# --- options, and functions that pyarrow calls -------------------------------------------------


_SCHEMA = pa.schema([("k", pa.dictionary(pa.int32(), pa.string()))])
_NUMBERS = itertools.count()
_DOCS = {"summary": "", "description": ""}


def _partitioning(place: Place, flavor: str | None) -> Any:
    found = place.put(pa.array(["x", "y"]))
    return ds.partitioning(_SCHEMA, flavor=flavor, dictionaries={"k": found})


def _function(register: Callable[..., Any], there: Any) -> str:
    name = f"user's {next(_NUMBERS)}"
    register(lambda context, x: there, name, _DOCS, {"x": pa.int64()}, pa.int64())
    return name


def _scalar_function(place: Place) -> str:
    return _function(pc.register_scalar_function, place.array("unsliced"))


def _tabular_function(place: Place) -> Any:
    name = f"tabular {next(_NUMBERS)}"
    given = iter([place.array("structs").slice(2), place.array("structs").slice(4)])
    pc.register_tabular_function(
        lambda context: lambda inner: next(given), name, _DOCS, {}, place.array("structs").type
    )
    return pc.call_tabular_function(name).read_all()


_PLAN = b"""{"version": {"major_number": 9999}, "extensionUris": [{"extensionUriAnchor": 1,
"uri": "https://github.com/substrait-io/substrait/blob/main/extensions/functions_comparison.yaml"}],
"extensions": [{"extensionFunction": {"extensionUriReference": 1, "functionAnchor": 1,
"name": "gt"}}], "relations": [{"rel": {"filter": {"input": {"read": {"base_schema": {"struct":
{"types": [{"i64": {}}]}, "names": ["a"]}, "namedTable": {"names": ["t"]}}}, "condition":
{"scalarFunction": {"functionReference": 1, "outputType": {"bool": {}}, "arguments": [{"value":
{"selection": {"directReference": {"structField": {"field": 0}}, "rootReference": {}}}},
{"value": {"literal": {"i64": "2"}}}]}}}}}]}"""


def _plan(place: Place) -> Any:
    import pyarrow.substrait as substrait
    from pyarrow._substrait import _parse_json_plan

    table = pa.table({"a": place.array("ints")})
    plan = _parse_json_plan(_PLAN)
    return substrait.run_query(plan, table_provider=lambda names, schema: table).read_all()


INDIRECT |= {
    "hive partitions": lambda p: str(_partitioning(p, "hive").parse("/k=x/")),
    "directory partitions": lambda p: str(_partitioning(p, None).parse("/x/")),
    "file name partitions": lambda p: str(_partitioning(p, "filename").parse("x_")),
    "equal partitionings": lambda p: _partitioning(p, "hive") == _partitioning(p, "hive"),
    "a user's scalar function": lambda p: pc.call_function(
        _scalar_function(p), [ARRAYS["unsliced"]()]
    ),
    "a user's function in a filter": lambda p: pa.table({"a": ARRAYS["unsliced"]()}).filter(
        pc.Expression._call(_scalar_function(p), [pc.field("a")]) > 2
    ),
    "a user's vector function": lambda p: pc.call_function(
        _function(pc.register_vector_function, p.array("ints").slice(1)), [[4]]
    ),
    "a user's tables": _tabular_function,
    "a plan over a user's table": _plan,
}
