"""Aggregates, whose results are scalars on the host."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from . import operations as op
from .calls import Call
from .casts import EXACT
from .columns import to_scalar
from .comparisons import need_no_negative_zero, need_same_bits
from .kinds import ANY, NUMBERS, SIMPLE, TIMES, cudf_type
from .table import rows

_is = pa.types
_aggregation = plc.aggregation
_Nulls, _Nans = plc.types.NullPolicy, plc.types.NanPolicy


def _decided(call: Call) -> Any:
    """The answer if the number of values decides: null, or that for no values at all."""
    value = call.values[0]
    nulls = value.null_count()
    valid = value.size() - nulls
    if valid < call.options["min_count"] or (nulls and not call.options["skip_nulls"]):
        return pa.scalar(None, call.type)
    return call.prototype if not valid else None


def _reduced(call: Call, aggregation: Any) -> Any:
    kind = cudf_type(call.type)
    value = call.values[0]
    if value.type().id() == plc.TypeId.BOOL8:
        value = op.cast(value, kind)
    return to_scalar(op.reduced(value, aggregation, kind), call.type)


@rows(f"bool {NUMBERS}", sum_="sum", product="product")
def total(call: Call, aggregation: str) -> Any:
    decided = _decided(call)
    return decided if decided is not None else _reduced(call, getattr(_aggregation, aggregation)())


@rows(f"bool {NUMBERS}")
def mean(call: Call) -> Any:
    decided = _decided(call)
    if decided is not None:
        return decided
    value = op.cast(call.values[0], op.FLOAT64)
    return to_scalar(op.reduced(value, _aggregation.mean()), call.type)


_ORDERED = f"bool {NUMBERS} string {TIMES}"


def _extremes(call: Call, names: tuple[str, ...]) -> list[Any]:
    """Of the values that are numbers: NaN only if there is no other."""
    value = call.values[0]
    kind = call.types[0]
    if _is.is_floating(kind):
        numbers = op.one(plc.stream_compaction.drop_nans(plc.Table([value]), [0], 1))
        if numbers.size() == numbers.null_count():
            return [pa.scalar(float("nan"), kind) for _ in names]
        value = numbers
    found = [op.reduced(value, getattr(_aggregation, name)()) for name in names]
    if _is.is_floating(kind) and not all(each.to_py() for each in found):
        need_no_negative_zero(call.need, value)  # pyarrow's result is the first zero
    return [to_scalar(each, kind) for each in found]


@rows(_ORDERED, min="min", max="max")
def extreme(call: Call, name: str) -> Any:
    decided = _decided(call)
    return decided if decided is not None else _extremes(call, (name,))[0]


@rows(_ORDERED)
def min_max(call: Call) -> Any:
    return _pair(call, lambda: _extremes(call, ("min", "max")))


def _pair(call: Call, find: Any) -> Any:
    """A struct of two scalars, of which both are null where there are too few values."""
    value = call.values[0]
    nulls = value.null_count()
    valid = value.size() - nulls
    is_null = valid < max(call.options["min_count"], 1) or (
        nulls and not call.options["skip_nulls"]
    )
    return _struct(call, [pa.scalar(None, it.type) for it in call.type] if is_null else find())


def _struct(call: Call, values: list[Any]) -> Any:
    arrays = [pa.array([value], it.type) for value, it in zip(values, call.type, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=list(call.type))[0]


#: Modes of counting, by pyarrow's numbers.
_VALID, _NULL = 0, 1


@rows(ANY)
def count(call: Call) -> Any:
    value, mode = call.values[0], call.options["mode"]
    nulls = value.null_count()
    valid = value.size() - nulls
    return pa.scalar({_VALID: valid, _NULL: nulls}.get(mode, valid + nulls), pa.int64())


@rows(_ORDERED)
def count_distinct(call: Call) -> Any:
    value, mode = call.values[0], call.options["mode"]
    has_null = int(value.null_count() > 0)
    need_same_bits(call, value)
    found = 0
    if mode != _NULL:
        found = plc.reduce.distinct_count(value, _Nulls.EXCLUDE, _Nans.NAN_IS_VALID)
    return pa.scalar(found + (has_null if mode != _VALID else 0), pa.int64())


@rows("bool", any_=("any", True), all_=("all", False))
def any_or_all(call: Call, aggregation: str, decides: bool) -> Any:
    value = call.values[0]
    nulls = value.null_count()
    valid = value.size() - nulls
    if valid < call.options["min_count"]:
        return pa.scalar(None, pa.bool_())
    found = not decides
    if valid:
        found = bool(op.reduced(value, getattr(_aggregation, aggregation)()).to_py())
    # As in Kleene's logic, nulls do not change what is decided.
    is_open = nulls and not call.options["skip_nulls"] and found != decides
    return pa.scalar(None if is_open else found, pa.bool_())


def _at_end(call: Call, place: int) -> Any:
    """The first or last value, which may be null unless nulls are skipped."""
    value = call.values[0]
    if call.options["skip_nulls"] and value.null_count():
        value = op.one(op.without_nulls([value]))
    element = plc.copying.get_element(value, place % value.size())
    return to_scalar(element, call.types[0])


def _is_too_few(call: Call) -> bool:
    value = call.values[0]
    valid = value.size() - value.null_count()
    return bool(valid < max(call.options["min_count"], call.options["skip_nulls"]))


@rows(_ORDERED, first=0, last=-1)
def end(call: Call, place: int) -> Any:
    return pa.scalar(None, call.type) if _is_too_few(call) else _at_end(call, place)


@rows(_ORDERED)
def first_last(call: Call) -> Any:
    if _is_too_few(call):
        return _struct(call, [pa.scalar(None, field.type) for field in call.type])
    return _struct(call, [_at_end(call, place) for place in (0, -1)])


@rows(SIMPLE)
def index(call: Call) -> Any:
    value, wanted = call.values[0], call.options["value"]
    call.need(wanted.type == call.types[0], "not of a value of another type")
    if not wanted.is_valid:
        return pa.scalar(-1, pa.int64())
    is_there = op.filled(op.binary("EQUAL", value, plc.Scalar.from_arrow(wanted)), op.scalar(False))
    found = op.places(is_there)
    return pa.scalar(plc.copying.get_element(found, 0).to_py() if found.size() else -1, pa.int64())


@rows(NUMBERS, variance="variance", stddev="std")
def spread(call: Call, aggregation: str) -> Any:
    decided = _decided(call)
    value, ddof = call.values[0], call.options["ddof"]
    call.need(ddof >= 0, "not with such degrees of freedom")
    if decided is not None or value.size() - value.null_count() <= ddof:
        return pa.scalar(None, call.type)
    if _is.is_floating(call.types[0]) and not op.are_finite(value):
        return pa.scalar(float("nan"), call.type)
    call.need(
        _is.is_floating(call.types[0]) or op.are_within(value, EXACT[pa.float64()]),
        "not with integers that double does not have",
    )
    return _reduced(call, getattr(_aggregation, aggregation)(ddof))


#: Interpolations, by pyarrow's numbers.
_INTERPOLATIONS = ("LINEAR", "LOWER", "HIGHER", "NEAREST", "MIDPOINT")


@rows(NUMBERS)
def quantile(call: Call) -> Any:
    value, options = call.values[0], call.options
    wanted = options["q"]
    call.need(all(0 <= each <= 1 for each in wanted), "not beyond 0 and 1")
    nulls = value.null_count()
    is_null = (nulls and not options["skip_nulls"]) or value.size() - nulls < options["min_count"]
    if _is.is_floating(call.types[0]) and not is_null:
        value = op.one(plc.stream_compaction.drop_nans(plc.Table([value]), [0], 1))
    if value.null_count():
        value = op.one(op.without_nulls([value]))
    kind = cudf_type(call.type)
    if is_null or not value.size():
        return plc.Column.from_scalar(op.scalar(None, call.type), len(wanted))
    name = _INTERPOLATIONS[options["interpolation"]]
    call.need(name != "NEAREST", "not with the interpolation 'nearest'")
    call.need(not _is.is_floating(call.types[0]) or op.are_finite(value), "not with infinity")
    interpolation = getattr(plc.types.Interpolation, name)
    is_exact = name in ("LINEAR", "MIDPOINT")
    order = op.order_of([(value, False, False)], is_float=[False])
    found = plc.quantiles.quantile(value, wanted, interpolation, order, is_exact)
    return op.cast(found, kind)
