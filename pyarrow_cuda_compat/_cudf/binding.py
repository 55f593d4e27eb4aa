"""Gives the parts of an expression their types, and folds what pyarrow does not compute."""

from __future__ import annotations

import sys
from contextlib import suppress
from math import isnan
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from . import calls
from .caches import Cache
from .expressions import Part, Path, parsed
from .functions.zones import PER_SECOND
from .refusals import NotCovered, need
from .types import SIMPLE, kind_of

_is = pa.types
COMPARISONS = {
    name: name.upper()
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
}
#: The kinds of types that pyarrow compares.
_COMPARED = frozenset(SIMPLE.split())
#: Functions of booleans that have no others.
_OF_BOOLEANS = frozenset(("and", "or", "xor", "and_kleene", "or_kleene", "invert"))
_UNITS = (
    *("year", "quarter", "week", "day", "hour", "minute", "second"),
    *("millisecond", "microsecond", "nanosecond"),
)
#: Functions that pyarrow does not call where an argument is a null literal.
_NULL_IF_ANY_IS = frozenset(
    (
        *COMPARISONS,
        *("and", "or", "xor", "and_not", "atan2", "binary_join", "power", "power_checked"),
        *(f"bit_wise_{each}" for each in ("and", "or", "xor")),
        *("add", "subtract", "multiply", "divide"),
        *(f"{each}_checked" for each in ("add", "subtract", "multiply", "divide")),
        *(f"{unit}s_between" for unit in _UNITS),
    )
)
#: By function: the literal that decides alone, and the one that changes nothing.
_DECIDING = {"and_kleene": (False, True), "or_kleene": (True, False)}
#: By function: how many arguments at the start may have other types than the rest.
_OTHERS = {"if_else": 1, "case_when": 1, "make_struct": sys.maxsize}


class Bound(NamedTuple):
    """A literal, the place of a column, or a call, with its type."""

    content: Any
    type: pa.DataType

    @property
    def is_literal(self) -> bool:
        return isinstance(self.content, pa.Scalar)


class BoundCall(NamedTuple):
    name: str
    arguments: list[Bound]
    options: bytes


_bound = Cache(256)
_types = Cache(1024)


def bound(text: bytes, schema: pa.Schema, *, folds: bool) -> Bound:
    """A serialized expression over the columns of a schema.  pyarrow does not fold the filters of
    joins."""
    found: Bound = _bound.get(lambda: _of(parsed(text), schema, folds=folds), text, schema, folds)
    return found


def _of(part: Part, schema: pa.Schema, *, folds: bool) -> Bound:
    if isinstance(part, pa.Scalar):
        return Bound(part, part.type)
    if isinstance(part, str):
        return _field(part, schema)
    if isinstance(part, Path):
        return _within(part.names, schema)
    name, parts, options = part
    function = pc.get_function(name)
    if function.kind != "scalar" and name != "cast":
        raise pa.ArrowInvalid(
            "ExecuteScalarExpression cannot Execute non-scalar expression: "
            f"{name} computes with whole columns"
        )
    arguments = [_of(each, schema, folds=folds) for each in parts]
    start = _OTHERS.get(name, 0)
    # A time and a duration of one unit have an operation of their own.
    alike = {getattr(it.type, "unit", it.type) for it in arguments[start:]}
    if len(alike) > 1:
        arguments[start:] = map(_small, arguments[start:])
    if any(_is.is_decimal(each.type) for each in arguments):
        # pyarrow raises for those of 64 bits.
        need(
            not any(each.is_literal and _is.is_integer(each.type) for each in arguments),
            "not with integer literals beside decimals: use a Decimal or a float",
        )
    if all(each.is_literal for each in arguments):
        value = function.call([each.content for each in arguments], calls.object_of(options))
        return Bound(value, value.type)
    kind = _type(name, arguments, options)
    folded = _folded(name, arguments, kind) if folds else None
    return folded or Bound(BoundCall(name, arguments, options), kind)


def _field(name: str, schema: pa.Schema) -> Bound:
    places = schema.get_all_field_indices(name)
    if len(places) != 1:
        many = "Multiple matches" if places else "No match"
        raise pa.ArrowInvalid(f"{many} for FieldRef.Name({name}) in {schema}")
    return Bound(places[0], schema.field(places[0]).type)


def _within(names: list[str], schema: pa.Schema) -> Bound:
    """A field within a column."""
    found = _field(names[0], schema)
    for name in names[1:]:
        kind = found.type
        if not _is.is_struct(kind) or kind.get_field_index(name) < 0:
            raise pa.ArrowInvalid(f"No match for FieldRef.Nested({names}) in {schema}")
        options = pc.StructFieldOptions([name]).serialize().to_pybytes()
        found = Bound(BoundCall("struct_field", [found], options), kind.field(name).type)
    return found


def _type(name: str, arguments: list[Bound], options: bytes) -> pa.DataType:
    """The type of a result."""
    first, *others = (each.type for each in arguments)
    is_plain = name in COMPARISONS and kind_of(first) in _COMPARED
    if all(each == first for each in others) and (
        is_plain or (name in _OF_BOOLEANS and _is.is_boolean(first))
    ):
        return pa.bool_()
    shapes = [(pa.Scalar if it.is_literal else pa.Array, it.type) for it in arguments]
    found: pa.DataType = _types.get(
        lambda: calls.prototype(pc.Function.call, name, shapes, calls.object_of(options)).type,
        name,
        shapes,
        options,
    )
    return found


def _folded(name: str, arguments: list[Bound], kind: pa.DataType) -> Bound | None:
    """What pyarrow puts in the place of a call with literals, if it does not compute it."""
    literals = [each.content for each in arguments if each.is_literal]
    if name in _NULL_IF_ANY_IS and not all(each.is_valid for each in literals):
        return Bound(pa.scalar(None, kind), kind)
    if name not in _DECIDING or not literals:
        return None
    deciding, other = _DECIDING[name]
    value = literals[0].as_py()
    if value is deciding:
        return Bound(literals[0], kind)
    return next(it for it in arguments if not it.is_literal) if value is other else None


_INTEGERS = [[getattr(pa, f"{sign}int{bits}")() for bits in (8, 16, 32, 64)] for sign in ("", "u")]
#: By type: those that have fewer values, with the fewest first.
_SMALLER = {
    **{kind: kinds[:place] for kinds in _INTEGERS for place, kind in enumerate(kinds)},
    pa.float64(): [pa.float32()],
}


def _small_time(value: pa.Scalar) -> pa.Scalar:
    """pyarrow takes remainders of unsigned numbers, by which most times before 1970 keep their
    unit; others get one that does not have them."""
    number = value.value % 2**64 if value.is_valid else 0
    units = (
        it for it in PER_SECOND if not number % (PER_SECOND[value.type.unit] // PER_SECOND[it])
    )
    try:
        return value.cast(pa.timestamp(next(units), value.type.tz))
    except pa.ArrowInvalid:
        raise NotCovered(f"not with the time {value}, of which pyarrow may lose digits") from None


def _small(argument: Bound) -> Bound:
    """pyarrow gives a literal among arguments of several types the smallest type that has its
    value."""
    if not argument.is_literal:
        return argument
    if _is.is_timestamp(argument.type):
        found = _small_time(argument.content)
        return Bound(found, found.type)
    for kind in _SMALLER.get(argument.type, []):
        with suppress(pa.ArrowInvalid):
            small = argument.content.cast(kind)
            if _is_same(small, argument.content):
                return Bound(small, kind)
    return argument


def _is_same(one: pa.Scalar, other: pa.Scalar) -> bool:
    """Whether a cast, which raises an error where it loses digits of other numbers, has kept a
    floating-point one."""
    if not _is.is_floating(one.type) or not one.is_valid:
        return True
    value, number = one.as_py(), other.as_py()
    return bool(value == number or (isnan(value) and isnan(number)))
