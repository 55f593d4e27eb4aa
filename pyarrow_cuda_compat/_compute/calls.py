"""A call of a function of pyarrow with data on a device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .columns import on_device, to_arrow
from .kinds import NotCovered, need

#: Data with rows, and data of several columns.
DATA = pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table
_TABLES = pa.RecordBatch | pa.Table
_TYPE_NAME = "_type_name"


@dataclass(slots=True)
class Call:
    """Arguments as libcudf's columns, tables and scalars; their types and the result's."""

    name: str
    values: list[Any]
    #: None for a table.
    types: list[Any]
    options: dict[str, Any]
    #: pyarrow's result for the same arguments without rows.
    prototype: Any
    #: The arguments as pyarrow's, where there are such.
    arrays: list[Any]
    #: For each argument, the number that its values are known to be 0 to, without it; or 0.
    below: tuple[int, ...] = ()
    #: The same of the result.
    result_below: int = 0

    @property
    def value(self) -> Any:
        """The first argument."""
        return self.values[0]

    @property
    def given(self) -> Any:
        """The type of the first argument."""
        return self.types[0]

    @property
    def type(self) -> pa.DataType:
        """That of the result."""
        return self.prototype.type

    @property
    def rows(self) -> int:
        return max(map(rows_of, self.values))

    def array(self, place: int) -> Any:
        """An argument as pyarrow's array or table."""
        if self.arrays:
            value = self.arrays[place]
            value = value if isinstance(value, _TABLES) else on_device(value)
            need(not isinstance(value, pa.ChunkedArray), "not with so many bytes in several chunks")
            return value
        return to_arrow(self.values[place], self.types[place])

    need = staticmethod(need)


def rows_of(value: Any) -> int:
    """How many rows a table or column of libcudf's has; 0 for scalars."""
    if isinstance(value, plc.Scalar):
        return 0
    return int(value.num_rows() if isinstance(value, plc.Table) else value.size())


#: By class: the last options of it, and what `options_of` made of them.
_last: dict[type, tuple[Any, tuple[bytes, dict[str, Any]]]] = {}


def options_of(function: Any, options: Any) -> tuple[bytes, dict[str, Any]]:
    """The options of a call as bytes and as a dict; those that are arrays or types stay such."""
    if options is None:
        return default_options(function.name)
    before, found = _last.get(type(options), (None, None))
    if found is None or before != options:
        kept = options.serialize().to_pybytes()
        found = kept, decoded(kept)
        # Scalars are equal that differ: 0.0 and -0.0.
        if not any(isinstance(it, pa.Scalar | pa.Array | float) for it in found[1].values()):
            _last[type(options)] = options, found
    return found


@lru_cache(maxsize=512)
def decoded(serialized: bytes) -> dict[str, Any]:
    """Options that pyarrow has serialized: a file with one struct."""
    return of_struct(pa.ipc.open_file(serialized).get_batch(0).column(0))


def object_of(serialized: bytes) -> Any:
    """The same options as pyarrow's object."""
    return pc.FunctionOptions.deserialize(pa.py_buffer(serialized)) if serialized else None


def of_struct(column: Any) -> dict[str, Any]:
    """The options in an array with one struct."""
    found: dict[str, Any] = {}
    for field in column.type:
        value = column.field(field.name)
        if field.name == "value_set":
            found[field.name] = value.flatten()
        elif field.name in ("to_type", "type"):
            found[field.name] = field.type
        elif field.name == "value":
            found[field.name] = value[0]
        elif field.name != _TYPE_NAME:
            try:
                found[field.name] = value[0].as_py()
            except UnicodeDecodeError:
                raise NotCovered("not with bytes that are not UTF-8") from None
    return found


@lru_cache(maxsize=512)
def default_options(name: str) -> tuple[bytes, dict[str, Any]]:
    options = pc.get_function(name)._doc.options_class
    if name in ("hash_variance", "hash_stddev"):
        options = "VarianceOptions"
    try:
        kept = getattr(pc, options)().serialize().to_pybytes() if options else b""
    except TypeError:  # the function has no defaults, and pyarrow raises an error
        kept = b""
    return kept, decoded(kept) if kept else {}


def prototype(original: Callable[..., Any], name: str, shapes: Iterable[Any], options: Any) -> Any:
    """What pyarrow returns for arguments of such classes and types without rows: it has the class
    and type of the result, and pyarrow raises here what it says about wrong types and options."""
    return original(pc.get_function(name), list(starmap(_without_rows, shapes)), options)


def shape_of(value: Any) -> tuple[Any, Any, str]:
    """The class of an argument, its type or schema, and the metadata of its fields' fields."""
    cls = pa.Scalar if isinstance(value, pa.Scalar) else type(value)
    kind = value.schema if isinstance(value, _TABLES) else value.type
    return cls, kind, metadata_of(kind)


def metadata_of(kind: Any) -> str:
    """A text that differs where a type or schema is equal to another but for metadata within."""
    if not _has_fields(kind):
        return ""
    schema = kind if isinstance(kind, pa.Schema) else pa.schema([pa.field("", kind)])
    text: str = schema.to_string(truncate_metadata=False, show_field_metadata=True)
    return text


@lru_cache(maxsize=1024)
def _has_fields(kind: Any) -> bool:
    return any(map(pa.types.is_nested, kind.types if isinstance(kind, pa.Schema) else [kind]))


def _without_rows(cls: Any, kind: Any, _metadata: str) -> Any:
    if cls is pa.Scalar:
        return pa.scalar(None, kind)
    if issubclass(cls, pa.ChunkedArray):
        return pa.chunked_array([pa.array([], kind)])  # without chunks, some crash
    if issubclass(cls, pa.Array):
        return pa.array([], kind)
    if issubclass(cls, pa.Table):
        return kind.empty_table()
    return pa.RecordBatch.from_arrays([pa.array([], each) for each in kind.types], schema=kind)


def as_given(value: Any) -> Any:
    """An argument as pyarrow takes it: containers become arrays, and other values scalars."""
    if isinstance(value, DATA | pa.Scalar):
        return value
    numpy = sys.modules.get("numpy")
    if isinstance(value, list | tuple) or (numpy and isinstance(value, numpy.ndarray)):
        return pa.array(value)
    try:
        return pa.scalar(value)
    except Exception:
        text = f"Got unexpected argument type {type(value)} for compute function"
        raise TypeError(text) from None
