"""The kinds of types: the groups that kernels name together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .caches import of_flat_types

_is = pa.types
#: The name of each kind, and whether a type is of it.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "bool": _is.is_boolean,
    "int": _is.is_integer,
    "float": lambda it: _is.is_float32(it) or _is.is_float64(it),
    "decimal": _is.is_decimal128,
    "string": _is.is_string,
    "date": _is.is_date32,
    "time": lambda it: _is.is_timestamp(it) and it.tz in (None, "UTC"),
    "duration": _is.is_duration,
    "list": lambda it: _is.is_list(it) and _has_kinds([it.value_type]),
    "struct": lambda it: _is.is_struct(it) and _has_kinds([each.type for each in it]),
    "dictionary": lambda it: _is.is_dictionary(it) and _has_kinds([it.value_type]),
}


NUMBERS = "int float"
TIMES = "date time duration"
#: Without parts.
SIMPLE = f"bool {NUMBERS} decimal string {TIMES}"
ANY = f"{SIMPLE} list struct"


def _has_kinds(types: list[pa.DataType]) -> bool:
    return bool(types) and all(kind_of(each) in ANY.split() for each in types)


@of_flat_types
def kind_of(kind: pa.DataType) -> str:
    """The kind of a type; ``other`` if libcudf has no such type."""
    return next((name for name, check in _KINDS.items() if check(kind)), "other")


@of_flat_types
def cudf_type(kind: pa.DataType) -> Any:
    """libcudf's type for a type of pyarrow that has a kind."""
    return plc.DataType.from_arrow(pa.timestamp(kind.unit) if _is.is_timestamp(kind) else kind)
