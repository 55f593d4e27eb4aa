"""Evaluates an expression over a table: comparisons and logic in one pass, without intermediate
columns."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from . import operations as op
from .caches import Cache
from .calls import object_of
from .columns import scalar_of
from .expressions import Part, parsed, serialized
from .functions.casts import EXACT
from .refusals import need
from .types import kind_of

_is = pa.types
#: By pyarrow's name: the operator that treats nulls in the same way.
_OPERATORS = {
    "equal": "EQUAL",
    "not_equal": "NOT_EQUAL",
    "less": "LESS",
    "less_equal": "LESS_EQUAL",
    "greater": "GREATER",
    "greater_equal": "GREATER_EQUAL",
    "and_kleene": "NULL_LOGICAL_AND",
    "or_kleene": "NULL_LOGICAL_OR",
    "invert": "NOT",
}
_SIGNED, _UNSIGNED = (
    [getattr(pa, f"{sign}int{bits}")() for bits in (8, 16, 32, 64)] for sign in ("", "u")
)
_SMALLER = {
    **{kind: kinds[:place] for kinds in (_SIGNED, _UNSIGNED) for place, kind in enumerate(kinds)},
    pa.float64(): [pa.float32()],
}
_KINDS = ("bool", "int", "float", "date", "time", "duration")
#: Operations in one pass: a thread keeps the results of all.
_MOST = 24
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

    def of(self, expression: Any) -> Any:
        text = serialized(expression)
        key = text, self._schema, _native._here()
        found = _passes.find(*key)
        if found is not None:
            value, places = found
            return op.computed(value, *(self._columns[place] for place in places))
        value, kind = self._value(parsed(text))
        if kind != pa.bool_():
            raise pa.lib.ArrowTypeError(
                f"Filter expression must evaluate to bool, but {expression} evaluates to {kind}"
            )
        places = [_place(column, self._columns) for column in self._read]
        if isinstance(value, tuple) and None not in places:
            _passes.keep((value, places), *key)
        return self._column(value)

    def _value(self, part: Part) -> tuple[Any, pa.DataType]:
        if isinstance(part, pa.Scalar):
            return part, part.type
        if isinstance(part, str):
            return self._field(part)
        name, arguments, options = part
        function = pc.get_function(name)
        if function.kind != "scalar" and name != "cast":
            raise pa.ArrowInvalid(f"Filters have no functions of whole columns, such as {name}")
        values, types = zip(*map(self._value, arguments), strict=True)
        if len(set(types)) > 1:
            values, types = zip(*map(_small, values, types), strict=True)
        if any(map(_is.is_decimal, types)):
            literals = (
                kind for it, kind in zip(values, types, strict=True) if isinstance(it, pa.Scalar)
            )
            # pyarrow raises for those of 64 bits.
            need(
                not any(map(_is.is_integer, literals)),
                "not with integer literals beside decimals: use a Decimal or a float",
            )
        if all(isinstance(value, pa.Scalar) for value in values):
            value = function.call(values, object_of(options))
            return value, value.type
        operands = self._operands(name, values, types)
        if operands is not None:
            return (_OPERATORS[name], *operands), pa.bool_()
        columns = [*map(self._column, values)]
        found: tuple[Any, pa.DataType] = self._cudf(name, columns, list(types), options)
        return found

    def _field(self, name: str) -> tuple[Any, pa.DataType]:
        places = self._schema.get_all_field_indices(name)
        if len(places) != 1:
            many = "Multiple matches" if places else "No match"
            raise pa.ArrowInvalid(f"{many} for FieldRef.Name({name}) in {self._schema}")
        return self._columns[places[0]], self._schema.field(places[0]).type

    def _column(self, value: Any) -> Any:
        """A column, or a scalar of a literal."""
        if isinstance(value, pa.Scalar):
            return scalar_of(value)
        return op.computed(value, *self._read) if isinstance(value, tuple) else value

    def _operands(self, name: str, values: Sequence[Any], types: Any) -> list[Any] | None:
        """The operands of an operation that gives pyarrow's result; else none."""
        literals = [isinstance(value, pa.Scalar) for value in values]
        if name not in _OPERATORS or all(literals) or sum(map(_operations, values)) >= _MOST:
            return None
        kind = types[literals.index(False)]
        if kind_of(kind) not in _KINDS:
            return None
        operands = []
        for value, of in zip(values, types, strict=True):
            is_literal = isinstance(value, pa.Scalar)
            literal = _literal(value, kind) if is_literal else None
            if literal is None and (is_literal or of != kind):
                return None
            operands.append(literal if is_literal else value)
        return [self._operand(each) for each in operands]

    def _operand(self, value: Any) -> Any:
        """Columns are named by their places among those that the pass reads."""
        if isinstance(value, tuple | plc.Scalar):
            return value
        place = _place(value, self._read)
        if place is None:
            place = len(self._read)
            self._read.append(value)
        return place


def _small(value: Any, kind: pa.DataType) -> tuple[Any, pa.DataType]:
    """An operand; pyarrow gives literals among operands of several types the smallest type that has
    their value."""
    types = _SMALLER.get(kind, ())
    # Python has no object for some times.
    if not types or not isinstance(value, pa.Scalar) or not value.is_valid:
        return value, kind
    number = value.as_py()
    for smaller in types:
        with suppress(pa.ArrowInvalid):
            small = value.cast(smaller)
            if small.as_py() == number:
                return small, smaller
    return value, kind


def _place(column: Any, columns: Sequence[Any]) -> int | None:
    return next((place for place, it in enumerate(columns) if it is column), None)


def _operations(value: Any) -> int:
    return 1 + sum(map(_operations, value[1:])) if isinstance(value, tuple) else 0


def _literal(value: pa.Scalar, kind: pa.DataType) -> Any:
    """A literal in the type of a column, if comparisons there have the results of those in the type
    that pyarrow compares in."""
    if not value.is_valid:
        return None
    if value.type != kind:
        is_exact = _is.is_floating(value.type) and _is.is_floating(kind)
        if _is.is_integer(value.type) and _is.is_floating(kind):
            is_exact = abs(value.as_py()) <= EXACT[kind]
        elif _is.is_integer(value.type) and _is.is_integer(kind):
            # pyarrow compares integers of 64 bits with signs.
            is_exact = _is.is_signed_integer(kind) or kind.bit_width < 64
        if not is_exact:
            return None
        number = value.as_py()
        try:
            value = value.cast(kind)
        except pa.ArrowInvalid:
            return None
        if value.as_py() != number:
            return None
    return scalar_of(value)
