"""Which types of pyarrow libcudf has, and what it needs of their memory.

The *kind* of a type is its group, which kernels name together.  Its *form* is what a conversion
needs: the kind, libcudf's type, the most rows, and the alignment and size of each buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .caches import of_flat_types
from .refusals import need

_is = pa.types
#: The name of each kind, and whether a type is of it.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "bool": _is.is_boolean,
    "int": _is.is_integer,
    "float": lambda it: _is.is_float32(it) or _is.is_float64(it),
    "decimal": _is.is_decimal128,
    "string": _is.is_string,
    "large_string": _is.is_large_string,
    "binary": _is.is_binary,
    "large_binary": _is.is_large_binary,
    "date": _is.is_date32,
    "date64": _is.is_date64,
    "clock": _is.is_time,
    "time": _is.is_timestamp,
    "duration": _is.is_duration,
    "bits": lambda it: _number_of_bits(it) is not None,
    "null": _is.is_null,
    "list": lambda it: _is.is_list(it) and _has_kinds([it.value_type]),
    "large_list": lambda it: _is.is_large_list(it) and _has_kinds([it.value_type]),
    "fixed_list": lambda it: (
        _is.is_fixed_size_list(it) and it.list_size > 0 and _has_kinds([it.value_type])
    ),
    "map": lambda it: _is.is_map(it) and _has_kinds([it.key_type, it.item_type]),
    "struct": lambda it: _is.is_struct(it) and _has_kinds([each.type for each in it]),
    "dictionary": _is.is_dictionary,
    "runs": lambda it: _is.is_run_end_encoded(it) and kind_of(it.value_type) in _PARTS,
    "view": lambda it: _is.is_string_view(it) or _is.is_binary_view(it),
    "extension": lambda it: (
        isinstance(it, pa.BaseExtensionType)
        and not isinstance(it, pa.ExtensionType)  # which are of Python code
        and kind_of(it.storage_type) in _STORED
    ),
}


NUMBERS = "int float"
TEXTS = "string large_string"
BYTES = f"{TEXTS} binary large_binary"
TIMES = "date time duration"
#: Times whose order is that of their numbers.
ORDERED_TIMES = f"{TIMES} date64 clock"
#: The kinds of types without parts whose values have an order.
SIMPLE = f"bool {NUMBERS} decimal {BYTES} {ORDERED_TIMES}"
#: The kinds whose values are the same where their bits are.
KEYS = f"{SIMPLE} bits dictionary"
#: The kinds whose rows libcudf selects.
ANY = f"{KEYS} null list large_list fixed_list map struct extension"
_STORED: frozenset[str] = frozenset(f"{SIMPLE} bits list large_list fixed_list map struct".split())
_PARTS: frozenset[str] = frozenset(f"{SIMPLE} bits list struct".split())


def _has_kinds(types: list[pa.DataType]) -> bool:
    return bool(types) and all(kind_of(each) in _PARTS for each in types)


#: By their bits, numbers for types that libcudf lacks.
_NUMBERS = {
    8: pa.int8(),
    16: pa.int16(),
    32: pa.int32(),
    64: pa.int64(),
    128: pa.decimal128(38),
}
_SMALL_DECIMALS = tuple(
    getattr(pa, name) for name in ("Decimal32Type", "Decimal64Type") if hasattr(pa, name)
)


def _number_of_bits(kind: pa.DataType) -> pa.DataType | None:
    """A type of numbers with the bits of a type that is only selected or told apart."""
    is_bits = _is.is_float16(kind) or _is.is_fixed_size_binary(kind) or _is.is_interval(kind)
    return _NUMBERS.get(kind.bit_width) if is_bits or isinstance(kind, _SMALL_DECIMALS) else None


@of_flat_types
def kind_of(kind: pa.DataType) -> str:
    """The kind of a type; ``other`` if libcudf has no such type."""
    return next((name for name, check in _KINDS.items() if check(kind)), "other")


#: By kind: a type that libcudf has, whose arrays have the same layout.
_CARRIERS: dict[str, Callable[[Any], Any]] = {
    "binary": lambda _: pa.string(),
    "large_binary": lambda _: pa.large_string(),
    "clock": lambda it: _NUMBERS[it.bit_width],
    "date64": lambda _: pa.timestamp("ms"),
    "time": lambda it: pa.timestamp(it.unit),
    "bits": _number_of_bits,
    "null": lambda _: pa.int8(),
    "dictionary": lambda it: it.index_type,
    "view": lambda _: pa.string_view(),
    "list": lambda it: pa.list_(carrier_of(it.value_type)),
    "large_list": lambda it: pa.list_(carrier_of(it.value_type)),
    "fixed_list": lambda it: pa.list_(carrier_of(it.value_type)),
    "map": lambda it: pa.list_(carrier_of(it.field(0).type)),
    "struct": lambda it: pa.struct([(each.name, carrier_of(each.type)) for each in it]),
    "extension": lambda it: carrier_of(it.storage_type),
}


@of_flat_types
def carrier_of(kind: pa.DataType) -> pa.DataType:
    """The type in which libcudf has the memory of a type that has a kind: the same, or one with the
    same layout.  But large lists have longer offsets, fixed-size lists none, and nulls no memory.
    """
    find = _CARRIERS.get(kind_of(kind))
    return kind if find is None else find(kind)


@of_flat_types
def cudf_type(kind: pa.DataType) -> Any:
    """libcudf's type for a type of pyarrow that has a kind."""
    return plc.DataType.from_arrow(carrier_of(kind))


#: The most rows of a libcudf column, which numbers them with 32 bits.
MOST_ROWS = 2**31 - 1
#: libcudf reads bitmaps in words of this many bytes; pyarrow's booleans are bitmaps, too.
_WORD = 4


def storage_of(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


class Form(NamedTuple):
    #: The kind of the type.
    kind: str
    #: libcudf's type; None if there are parts.
    cudf: Any
    most_rows: int
    #: For each of `Array.buffers`: a divisor of its address, and its size if it has as many rows.
    buffers: tuple[tuple[int, int], ...]
    has_parts: bool


@of_flat_types
def form_of(kind: pa.DataType) -> Form:
    """The form of the arrays of a type that has a kind, or of the storage of an extension type."""
    kind, name = storage_of(kind), kind_of(storage_of(kind))
    need(name != "other", f"not with data of type {kind}")
    has_parts = name in ("list", "large_list", "fixed_list", "map", "struct")
    # There is one offset more than there are rows.
    has_offsets = name in BYTES.split() or (has_parts and name != "struct")
    most_rows = MOST_ROWS - (has_offsets or name == "view")
    cudf = None if has_parts else cudf_type(kind)
    return Form(name, cudf, most_rows, tuple(_buffers_of(kind)), has_parts)


def _buffers_of(kind: pa.DataType) -> list[tuple[int, int]]:
    bits, characters = (_WORD, MOST_ROWS // 8 + _WORD), (1, 2**63)
    if _is.is_dictionary(kind):
        return _buffers_of(kind.index_type)
    name = kind_of(kind)
    if name in ("struct", "fixed_list", "null"):
        own = [bits]
    elif name in _OFFSETS:
        own = [bits, _numbers(_OFFSETS[name])]
        own += [] if _is.is_nested(kind) else [characters]
    elif name == "view":
        own = [bits, _numbers(16)]
    else:
        own = [bits, bits if name == "bool" else _numbers(kind.bit_width // 8)]
    parts = [kind.field(place).type for place in range(kind.num_fields)]
    return sum(map(_buffers_of, parts), own)


#: By kind: the bytes of an offset.
_OFFSETS = {
    **dict.fromkeys(("string", "binary", "list", "map"), 4),
    **dict.fromkeys(("large_string", "large_binary", "large_list"), 8),
}


def _numbers(width: int) -> tuple[int, int]:
    return width, width * MOST_ROWS
