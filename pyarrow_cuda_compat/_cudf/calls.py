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

from .caches import is_flat
from .columns import on_device, to_arrow
from .refusals import NotCovered, need

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
    #: For each argument, a number that its values, which are at least 0, are less than; 0 if none
    #: is known.
    upper_bounds: tuple[int, ...] = ()
    #: Likewise for the values of the result.
    result_upper_bound: int = 0

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

    @property
    def columns(self) -> list[Any]:
        """The arguments as columns, where one value for all rows is in each of them."""
        rows = self.rows
        return [
            plc.Column.from_scalar(it, rows) if isinstance(it, plc.Scalar) else it
            for it in self.values
        ]

    def array(self, place: int) -> Any:
        """An argument as pyarrow's array or table."""
        is_scalar = isinstance(self.values[place], plc.Scalar)
        need(not is_scalar, "not with one value for all rows")
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
    if not isinstance(options, pc.FunctionOptions):
        raise TypeError(f"options must be pyarrow.compute.FunctionOptions, not {type(options)}")
    before, found = _last.get(type(options), (None, None))
    if found is None or before != options:
        kept = options.serialize().to_pybytes()
        found = kept, decoded(kept)
        if all(map(_has_exact_equality, found[1].values())):
            _last[type(options)] = options, found
    return found


def _has_exact_equality(value: Any) -> bool:
    """Of the value of an option: 0.0 equals -0.0, and types forget what is within."""
    if isinstance(value, pa.DataType):
        return is_flat(value)
    if isinstance(value, list | dict):
        return all(map(_has_exact_equality, value.values() if isinstance(value, dict) else value))
    return value is None or isinstance(value, bool | int | str)


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
        elif field.name in ("value", "query_key"):
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


#: Functions of which pyarrow before 26 cannot return a result of a table without rows.
_NEED_A_ROW = ("select_k_unstable",)


def prototype(original: Callable[..., Any], name: str, shapes: Iterable[Any], options: Any) -> Any:
    """What pyarrow returns for arguments of such classes and types without rows: it has the class
    and type of the result, and pyarrow raises here what it says about wrong types and options."""
    function = pc.get_function(name)
    if name not in _NEED_A_ROW:
        return original(function, list(starmap(_without_rows, shapes)), options)
    of_one = original(function, [_without_rows(cls, kind, 1) for cls, kind in shapes], options)
    return of_one.slice(0, 0)


def shape_of(value: Any) -> tuple[Any, Any]:
    """The class of an argument, and its type or schema."""
    cls = pa.Scalar if isinstance(value, pa.Scalar) else type(value)
    return cls, value.schema if isinstance(value, _TABLES) else value.type


def _without_rows(cls: Any, kind: Any, rows: int = 0) -> Any:
    """An argument without rows, or with as many of nulls."""
    if cls is pa.Scalar:
        return pa.scalar(None, kind)
    if issubclass(cls, pa.ChunkedArray):
        return pa.chunked_array([pa.nulls(rows, kind)])  # without chunks, some crash
    if issubclass(cls, pa.Array):
        return pa.nulls(rows, kind)
    made = pa.Table if issubclass(cls, pa.Table) else pa.RecordBatch
    return made.from_arrays([pa.nulls(rows, each) for each in kind.types], schema=kind)


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
