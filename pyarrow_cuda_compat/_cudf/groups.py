"""What libcudf is asked for each aggregation of groups, and what is made of its results."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial
from math import nan
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from . import operations as op
from .calls import options_of
from .functions.casts import EXACT, cast_without_loss
from .functions.comparisons import need_no_negative_zero
from .refusals import TOO_MANY_DIGITS, need
from .types import ANY, KEYS, NUMBERS, SIMPLE, cudf_type, kind_of

_is = pa.types
_ask = plc.aggregation
_Nulls = plc.types.NullPolicy
ALL_ROWS = _ask.count(_Nulls.INCLUDE)
_VALID = _ask.count(_Nulls.EXCLUDE)
#: Gives a column, after libcudf has aggregated.
_Later: TypeAlias = Callable[[], Any]


class Group:
    """One of the results of a grouping.

    It has no reference to what `ask_all` returns, which refers to it: a reference cycle would keep
    the columns until Python's garbage collector runs.
    """

    def __init__(self, columns: Any, keys: Any, place: int, given: Any, wanted: Any) -> None:
        #: The columns by their places, the keys as libcudf's table, the place of the values.
        self.columns, self.keys, self.place = columns, keys, place
        self.target, self.name, self._given_options, _, self.kind = wanted
        self.given = given
        self.options: dict[str, Any] = {}
        #: A key of the values, the values, and the aggregation.
        self.asked: list[tuple[Any, Any, Any]] = []
        #: libcudf's results for these.
        self.found: list[Any] = []

    def ask_all(self) -> _Later:
        """Asks for all that the result is made of, and returns what makes it."""
        if not self.target and self.name == "hash_count_all":
            found = self.ask(ALL_ROWS)
            return lambda: op.cast(found(), op.INT64)
        need(len(self.target) == 1 and self.name in _AGGREGATIONS, f"not with {self.name}")
        kinds, make = _AGGREGATIONS[self.name]
        need(kind_of(self.given) in kinds.split(), f"not {self.name} of type {self.given}")
        _, self.options = options_of(pc.get_function(self.name), self._given_options)
        return make(self)

    @property
    def values(self) -> Any:
        return self.columns[self.place]

    @property
    def least(self) -> int:
        """How many values a result needs."""
        found: int = self.options.get("min_count", 0)
        return found

    @property
    def has_bad_nulls(self) -> bool:
        """Whether there are nulls, and a group with one has no result."""
        return not self.options.get("skip_nulls", True) and self.values.null_count() > 0

    @cached_property
    def has_nan(self) -> bool:
        need_no_negative_zero(self.values)
        return op.has_nan(self.values)

    @cached_property
    def numbers(self) -> Any:
        """The values, with null for NaN."""
        return plc.transform.column_nans_to_nulls(self.values)

    def ask(self, aggregation: Any, values: Any = None, note: Any = None) -> _Later:
        """Asks for an aggregation of the values, or of what a note says is made of them."""
        number = len(self.asked)
        values = self.values if values is None else values
        self.asked.append(((self.place, note), values, aggregation))
        return lambda: self.found[number]


def _of_valid(group: Group, found: _Later, *, nothing: Any = None, counts: bool = True) -> _Later:
    """The result of an aggregation that leaves out nulls, under pyarrow's rules for these.
    `nothing` is the result of no values; functions that do not count ask for one at most."""
    least, kind = group.least if counts else min(group.least, 1), group.kind
    is_bad = group.has_bad_nulls
    valid = group.ask(_VALID) if least > 1 or is_bad else None
    every = group.ask(ALL_ROWS) if is_bad else None

    def result() -> Any:
        made = op.cast(found(), cudf_type(kind))
        if not least and nothing is not None and made.null_count():
            made = op.filled(made, op.scalar(nothing, kind))
        if valid is not None and least > 1:
            made = op.null_where(op.binary("LESS", valid(), op.scalar(least, pa.int32())), made)
        if valid is not None and every is not None:
            lacks = op.binary("LESS", valid(), every())
            deciding = _DECIDING.get(group.name)
            if deciding is not None:
                is_open = op.binary("NOT_EQUAL", made, op.scalar(deciding))
                lacks = op.binary("LOGICAL_AND", lacks, is_open)
            made = op.null_where(lacks, made)
        return made

    return result


#: The value that decides the result whatever the nulls may be.
_DECIDING = {"hash_any": True, "hash_all": False}


def _note(group: Group) -> str | None:
    """What tells values in the type of the result from those of the column."""
    is_same = cudf_type(group.given) == cudf_type(group.kind)
    return None if is_same else str(group.kind)


def _total(make: Callable[[], Any], nothing: Any) -> Callable[[Group], _Later]:
    """A sum or product, which has the type of the result."""

    def total(group: Group) -> _Later:
        values = op.cast(group.values, cudf_type(group.kind))
        note = _note(group)
        return _of_valid(group, group.ask(make(), values, note), nothing=nothing)

    return total


def _sum(group: Group) -> _Later:
    if _is.is_decimal(group.kind):
        has_room = op.have_exact_sum(group.values, group.given, group.kind.precision)
        need(has_room, f"not {group.name}, which may be {TOO_MANY_DIGITS}")
    return _total(_ask.sum, 0)(group)


def _mean(group: Group) -> _Later:
    if _is.is_decimal(group.kind):
        return _decimal_mean(group)
    if _is.is_integer(group.given):
        # Then neither library rounds a sum.
        most = EXACT[group.kind] // max(group.values.size(), 1)
        need(op.are_within(group.values, most), f"not {group.name} of so large integers")
    return _total(_ask.mean, nan)(group)


def _decimal_mean(group: Group) -> _Later:
    """Rounded half away from zero, where libcudf's own would be truncated."""
    need(op.have_exact_sum(group.values, group.given), f"not {group.name} of so large decimals")
    need(not group.has_bad_nulls, "not with nulls")
    total, count = group.ask(_ask.sum()), group.ask(_VALID)
    scale = group.kind.scale
    longer = cudf_type(pa.decimal128(38, scale + 1))

    def quotient() -> Any:
        divisor = count()
        if not group.least and op.is_anywhere(
            op.binary("EQUAL", divisor, op.scalar(0, pa.int32()))
        ):
            raise pa.ArrowInvalid("Division by 0 in Decimal")
        found = op.binary("DIV", op.cast(total(), longer), op.cast(divisor, op.WIDE), longer)
        return plc.round.round_decimal(found, scale, plc.round.RoundingMethod.HALF_UP)

    return _of_valid(group, quotient)


def _spread(make: Callable[[int], Any]) -> Callable[[Group], _Later]:
    """A variance or standard deviation."""

    def spread(group: Group) -> _Later:
        need(group.options["ddof"] >= 0, "not with such degrees of freedom")
        values, given = group.values, group.given
        if _is.is_decimal(given):
            values = cast_without_loss(values, given, group.kind)
        else:
            is_float = _is.is_floating(given)
            is_exact = op.are_finite if is_float else partial(op.are_within, most=EXACT[group.kind])
            need(is_exact(values), f"not {group.name} with NaN, infinity or large integers")
            values = op.cast(values, cudf_type(group.kind))
        note = _note(group)
        found = group.ask(make(group.options["ddof"]), values, note)
        # Has libcudf sort the groups: without, it sums squares, whose digits cancel.
        group.ask(_ask.nunique(_Nulls.EXCLUDE), values, note)
        return _of_valid(group, found)

    return spread


def _extreme(name: str, make: Callable[[], Any], group: Group) -> _Later:
    if not (_is.is_floating(group.given) and group.has_nan):
        return group.ask(make())
    found = group.ask(make(), group.numbers, "numbers")
    count = group.ask(_VALID)

    def with_nan() -> Any:
        """NaN counts only where there is nothing else but nulls."""
        is_nan = op.binary(
            "LOGICAL_AND",
            plc.unary.is_null(found()),
            op.binary("GREATER", count(), op.scalar(0, pa.int32())),
        )
        return op.choose(is_nan, op.scalar(_of_nan(name, str(group.given)), group.given), found())

    return with_nan


@cache
def _of_nan(name: str, kind: str) -> float:
    """The extreme of NaN alone, which is infinite before pyarrow 22."""
    table = pa.table({"k": [0], "v": pa.array([nan], kind)})
    found: float = table.group_by("k").aggregate([("v", name)]).column(1)[0].as_py()
    return found


def _minimum(group: Group) -> _Later:
    return _of_valid(group, _extreme("min", _ask.min, group), counts=False)


def _maximum(group: Group) -> _Later:
    return _of_valid(group, _extreme("max", _ask.max, group), counts=False)


#: Of aggregations that need the order of rows, in a request of their own.  Beside others that sort
#: the values of groups, such as `nunique`, libcudf gives them the sorted ones.
_IN_ORDER = "in order"


def _nth(number: int) -> Callable[[Group], _Later]:
    """The value of the first or last row."""

    def nth(group: Group) -> _Later:
        # `one` has no options, and prefers values to nulls whatever it is given.
        skips = group.name == "hash_one" or group.options.get("skip_nulls", True)
        nulls = _Nulls.EXCLUDE if skips else _Nulls.INCLUDE
        return group.ask(_ask.nth_element(number, nulls), note=_IN_ORDER)

    return nth


def _pair(*parts: Callable[[Group], _Later]) -> Callable[[Group], _Later]:
    """A struct of two results."""

    def pair(group: Group) -> _Later:
        group.kind = group.given  # that of each part
        found = [part(group) for part in parts]

        def struct() -> Any:
            children = [each() for each in found]
            facts = children[0].size(), None, None, 0, 0, children
            return plc.Column(plc.DataType(plc.TypeId.STRUCT), *facts)

        return struct

    return pair


def _count(group: Group) -> _Later:
    return _number(group, group.ask(_VALID), lambda: group.ask(ALL_ROWS))


def _count_distinct(group: Group) -> _Later:
    """Counts first rows: libcudf's own count sorts the groups."""
    is_first, is_valid = _is_first(group), op.is_valid(group.values)

    def count(mask: Any, note: str) -> _Later:
        return group.ask(_ask.sum(), op.cast(mask, op.INT64), note)

    valid = count(op.binary("LOGICAL_AND", is_first, is_valid), "first values")
    return _number(group, valid, lambda: count(is_first, "first rows"))


def _number(group: Group, valid: _Later, ask_every: Callable[[], _Later]) -> _Later:
    """The number of values, of nulls or of both, by those of values and of both."""
    need("mode" in group.options, f"not {group.name} with options of another function")
    mode = group.options["mode"]
    every = valid if mode == _ONLY_VALID else ask_every()

    def number() -> Any:
        count = op.cast(every(), op.INT64)
        is_of_nulls = mode == _ONLY_NULL
        return op.on_int64("SUB", count, op.cast(valid(), op.INT64)) if is_of_nulls else count

    return number


#: pyarrow's numbers for what it counts.
_ONLY_VALID, _ONLY_NULL, _ALL = 0, 1, 2


def _list(group: Group) -> _Later:
    return group.ask(_ask.collect_list(_Nulls.INCLUDE), note=_IN_ORDER)


def _distinct(group: Group) -> _Later:
    """In the order of the first rows: nulls, which are left out, stand for the other rows."""
    values, mode = group.values, group.options.get("mode")
    allowed = (_ONLY_VALID,) if values.null_count() else (_ONLY_VALID, _ALL)
    need(mode in allowed, f"not {group.name} of nulls")
    alone = op.null_where(op.invert(_is_first(group)), values)
    return group.ask(_ask.collect_list(_Nulls.EXCLUDE), alone, "distinct")


def _is_first(group: Group) -> Any:
    """Whether no row before has the same value in the same group."""
    values = group.values
    table = plc.Table([*group.keys.columns(), op.keys_of(values)])
    firsts = plc.stream_compaction.distinct_indices(table, op.FIRST, op.EQUAL, op.NANS_EQUAL)
    return op.are_among(values.size(), firsts)


#: Not bytes: libcudf's extremes begin with a text that is the largest in UTF-8 only.
_COMPARED = " ".join(kind for kind in SIMPLE.split() if "binary" not in kind)

#: By name: the kinds of types that it takes, and what is asked for.
_AGGREGATIONS: dict[str, tuple[str, Callable[[Group], _Later]]] = {
    "hash_sum": (f"bool {NUMBERS} decimal", _sum),
    "hash_product": (f"bool {NUMBERS}", _total(_ask.product, 1)),
    "hash_mean": (f"bool {NUMBERS} decimal", _mean),
    "hash_min": (_COMPARED, _minimum),
    "hash_max": (_COMPARED, _maximum),
    "hash_min_max": (_COMPARED, _pair(_minimum, _maximum)),
    "hash_variance": (f"{NUMBERS} decimal", _spread(_ask.variance)),
    "hash_stddev": (f"{NUMBERS} decimal", _spread(_ask.std)),
    "hash_count": (f"{ANY} view", _count),
    "hash_count_distinct": (f"{KEYS} view", _count_distinct),
    "hash_any": ("bool", lambda it: _of_valid(it, it.ask(_ask.max()), nothing=False)),
    "hash_all": ("bool", lambda it: _of_valid(it, it.ask(_ask.min()), nothing=True)),
    "hash_first": (SIMPLE, _nth(0)),
    "hash_last": (SIMPLE, _nth(-1)),
    "hash_first_last": (SIMPLE, _pair(_nth(0), _nth(-1))),
    "hash_one": (SIMPLE, _nth(0)),
    "hash_list": (SIMPLE, _list),
    "hash_distinct": (SIMPLE, _distinct),
}
