"""Evaluates an expression over a table: comparisons and logic in one pass, without intermediate
columns."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import isnan
from typing import Any, TypeAlias

import pyarrow as pa

from .. import _native
from . import operations as op
from .binding import COMPARISONS, bound
from .caches import Cache
from .calls import decoded, default_options
from .columns import scalar_of
from .expressions import serialized
from .functions.casts import EXACT, cast_without_loss
from .functions.comparisons import common_type, host_set
from .functions.zones import PER_SECOND
from .types import kind_of

_is = pa.types
#: By pyarrow's name: the operator that treats nulls in the same way.
_LOGIC = {
    "and": "LOGICAL_AND",
    "or": "LOGICAL_OR",
    "xor": "NOT_EQUAL",
    "and_kleene": "NULL_LOGICAL_AND",
    "or_kleene": "NULL_LOGICAL_OR",
    "invert": "NOT",
}
_NUMBERS = ("int", "float", "decimal")
_KINDS = ("bool", *_NUMBERS, "string", "date", "time", "duration")
#: The most results that a thread keeps at once: more take shared memory from other threads.
_MOST_KEPT = 24
#: The most values of a set that a pass looks at one by one.
_MOST_VALUES = 16
#: By serialized expression, schema and context: expressions that are one pass over columns of the
#: table, and the places of these.
_passes = Cache(64)
atexit.register(_passes.clear)  # literals lie on the device


class Evaluation:
    """Of an expression over columns.  Parts become columns only where libcudf needs such: until
    then they are literals of pyarrow, or expressions of `operations.computed`."""

    def __init__(self, columns: list[Any], schema: pa.Schema, compute: Callable[..., Any]) -> None:
        #: `compute` answers a function for columns and scalars, with a column and its type.
        self._columns, self._schema, self._cudf = columns, schema, compute
        #: The columns that `operations.computed` reads.
        self._read: list[Any] = []

    def of(self, expression: Any, *, folds: bool = True) -> Any:
        """Where an expression is true: a column, or one literal of pyarrow for all rows."""
        text = serialized(expression)
        key = text, self._schema, folds, _native._here()
        found = _passes.find(*key)
        if found is not None:
            program, places = found
            return op.computed(program, *(self._columns[place] for place in places))
        content, kind = bound(text, self._schema, folds=folds)
        if kind != pa.bool_():
            raise pa.lib.ArrowTypeError(
                f"Filter expression must evaluate to bool, but {expression} evaluates to {kind}"
            )
        value = self._value(content)
        if not isinstance(value, tuple):
            return value
        program = op.program(value)
        places = [_place(column, self._columns) for column in self._read]
        if None not in places:
            _passes.keep((program, places), *key)
        return op.computed(program, *self._read)

    def column(self, expression: Any) -> tuple[Any, pa.DataType]:
        """What an expression is, or a scalar if that is the same for all rows, and its type."""
        content, kind = bound(serialized(expression), self._schema, folds=True)
        return self._column(self._value(content)), kind

    def _value(self, content: Any) -> Any:
        if isinstance(content, pa.Scalar):
            return content
        if isinstance(content, int):
            return self._columns[content]
        name, arguments, options = content
        values = [self._value(each.content) for each in arguments]
        types = [each.type for each in arguments]
        found = self._in_pass(name, values, types, options)
        if found is not None and found.kept <= _MOST_KEPT:
            return found
        column, _ = self._cudf(name, [*map(self._column, values)], types, options)
        return column

    def _column(self, value: Any) -> Any:
        """A column, or a scalar of a literal."""
        if isinstance(value, pa.Scalar):
            return scalar_of(value)
        return op.computed(value, *self._read) if isinstance(value, tuple) else value

    def _in_pass(self, name: str, values: list[Any], types: list[Any], options: bytes) -> Any:
        """An operation that gives pyarrow's result; else none."""
        if any(kind_of(each) not in _KINDS for each in types):
            return None
        if any(isinstance(each, pa.Scalar) and not each.is_valid for each in values):
            return None
        if name in _LOGIC:
            return _operation(_LOGIC[name], *map(self._operand, values))
        if name in COMPARISONS:
            operands = self._alike(values, types)
            return operands and _operation(COMPARISONS[name], *map(self._operand, operands))
        if name in _TESTS:
            chosen = decoded(options) if options else default_options(name)[1]
            test = _TESTS[name](types[0], chosen)
            return test and test(self._operand(values[0]))
        return None

    def _alike(self, values: list[Any], types: list[pa.DataType]) -> list[Any] | None:
        """Operands that libcudf compares with the result of a comparison in the type that pyarrow
        compares in."""
        kind = next(
            it for value, it in zip(values, types, strict=True) if not isinstance(value, pa.Scalar)
        )
        found = [*map(_in_type, values, types, [kind] * len(values))]
        if None not in found:
            return found
        if any(kind_of(each) not in _NUMBERS for each in types):
            return None
        common = common_type(*types)
        if _is.is_decimal(common):
            return None
        return [
            value.cast(common)
            if isinstance(value, pa.Scalar)
            else cast_without_loss(value, it, common)
            for value, it in zip(values, types, strict=True)
        ]

    def _operand(self, value: Any) -> Any:
        """Columns are named by their places among those that the pass reads."""
        if isinstance(value, tuple):
            return value
        if isinstance(value, pa.Scalar):
            return scalar_of(value)
        place = _place(value, self._read)
        if place is None:
            place = len(self._read)
            self._read.append(value)
        return place


def _place(column: Any, columns: Sequence[Any]) -> int | None:
    return next((place for place, it in enumerate(columns) if it is column), None)


class _Operation(tuple[Any, ...]):
    """An expression of `operations.computed`."""

    #: How many results a thread keeps at once: those of operands, one after the other.
    kept = 1


def _operation(operator: str, *operands: Any) -> _Operation:
    made, held = _Operation((operator, *operands)), 0
    for each in operands:
        if isinstance(each, _Operation):
            made.kept = max(made.kept, held + each.kept)
            held += 1
    return made


def _in_type(value: Any, given: pa.DataType, kind: pa.DataType) -> Any:
    """An operand of a comparison with a column of a type, if the result is that of a comparison in
    the type that pyarrow compares in."""
    if given == kind:
        return value
    if _is.is_decimal(given) and _is.is_decimal(kind):
        scale = max(given.scale, kind.scale)
        digits = max(given.precision - given.scale, kind.precision - kind.scale)
        # libcudf writes both with the digits of the longer one, as pyarrow does.
        return value if scale + digits <= 38 else None
    return _literal(value, kind) if isinstance(value, pa.Scalar) else None


def _literal(value: pa.Scalar, kind: pa.DataType) -> pa.Scalar | None:
    given = value.type
    is_exact = _is.is_floating(given) and _is.is_floating(kind)
    if _is.is_integer(given) and _is.is_floating(kind):
        is_exact = abs(value.as_py()) <= EXACT[kind]
    elif _is.is_integer(given) and _is.is_integer(kind):
        # pyarrow compares integers of 64 bits with signs.
        is_exact = _is.is_signed_integer(kind) or kind.bit_width < 64
    elif kind_of(given) == "date" and kind_of(kind) == "time":
        return value.cast(kind)
    elif kind_of(given) == "time" and kind_of(kind) == "date":
        day = value.cast(kind)
        return day if day.cast(given).equals(value) else None
    elif given.id == kind.id and kind_of(kind) in ("time", "duration"):
        if getattr(given, "tz", None) != getattr(kind, "tz", None):
            return None
        # pyarrow compares in the smaller unit, and raises an error for what that does not have.
        return value.cast(kind) if PER_SECOND[given.unit] < PER_SECOND[kind.unit] else None
    if not is_exact:
        return None
    try:
        found = value.cast(kind)
    except pa.ArrowInvalid:
        return None
    return found if not _is.is_floating(kind) or _is_equal(value.as_py(), found.as_py()) else None


def _is_equal(one: float, other: float) -> bool:
    return one == other or (isnan(one) and isnan(other))


#: Makes a test of an operand; None if it is not for a pass.
_Test: TypeAlias = Callable[[Any], _Operation] | None


def _is_null(kind: pa.DataType, options: dict[str, Any]) -> _Test:
    def test(operand: Any) -> _Operation:
        is_null = _operation("IS_NULL", operand)
        if not (options.get("nan_is_null") and _is.is_floating(kind)):
            return is_null
        return _operation("NULL_LOGICAL_OR", is_null, _operation("NOT_EQUAL", operand, operand))

    return test


def _is_valid(_kind: pa.DataType, _options: dict[str, Any]) -> _Test:
    return lambda operand: _operation("NOT", _operation("IS_NULL", operand))


def _is_nan(kind: pa.DataType, _options: dict[str, Any]) -> _Test:
    if kind_of(kind) not in ("int", "float"):
        return None
    return lambda operand: _operation("NOT_EQUAL", operand, operand)


def _is_in(kind: pa.DataType, options: dict[str, Any]) -> _Test:
    """Equal to one of the values.  null is in no set without null."""
    values, has_null = host_set(options, kind)
    literals = [*values.drop_null()]
    # Numbers in sets are told apart by their bits.
    has_others = _is.is_floating(kind) and not all(
        number.as_py() and not isnan(number.as_py()) for number in literals
    )
    if has_others or not 0 < len(literals) <= _MOST_VALUES:
        return None
    wanted = [*map(scalar_of, literals)]

    def test(operand: Any) -> _Operation:
        is_null = _operation("IS_NULL", operand)
        equal = (_operation("EQUAL", operand, each) for each in wanted)
        found = reduce(partial(_operation, "LOGICAL_OR"), equal)
        if has_null:
            return _operation("NULL_LOGICAL_OR", is_null, found)
        return _operation("NULL_LOGICAL_AND", _operation("NOT", is_null), found)

    return test


_TESTS: dict[str, Callable[[pa.DataType, dict[str, Any]], _Test]] = {
    "is_null": _is_null,
    "is_valid": _is_valid,
    "is_nan": _is_nan,
    "is_in": _is_in,
}
