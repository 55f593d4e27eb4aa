"""Aggregates, whose results are scalars on the host."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..columns import to_scalar
from ..kinds import ANY, NUMBERS, SIMPLE, TIMES, cudf_type
from ..registry import rows
from .casts import EXACT
from .comparisons import need_no_negative_zero, need_same_bits

_is = pa.types
_aggregation = plc.aggregation
_Nulls, _Nans = plc.types.NullPolicy, plc.types.NanPolicy


def _valid(value: Any) -> int:
    """How many values are not null."""
    return int(value.size() - value.null_count())


def _is_null(call: Call, least: int = 0) -> bool:
    """Whether there are too few values for a result, or nulls that are not skipped."""
    if call.value.null_count() and not call.options["skip_nulls"]:
        return True
    return bool(_valid(call.value) < max(call.options["min_count"], least))


def _decided(call: Call) -> Any:
    """The answer if the number of values decides: null, or that for no values at all."""
    if _is_null(call):
        return pa.scalar(None, call.type)
    return None if _valid(call.value) else call.prototype


def _reduced(call: Call, aggregation: Any) -> Any:
    kind = cudf_type(call.type)
    value = call.value
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
    value = op.cast(call.value, op.FLOAT64)
    return to_scalar(op.reduced(value, _aggregation.mean()), call.type)


_ORDERED = f"bool {NUMBERS} string {TIMES}"


def _without_nans(value: Any) -> Any:
    return op.one(plc.stream_compaction.drop_nans(plc.Table([value]), [0], 1))


def _extremes(call: Call, names: tuple[str, ...]) -> list[Any]:
    """Of the values that are numbers: NaN only if there is no other."""
    value, kind = call.value, call.given
    if _is.is_floating(kind):
        value = _without_nans(value)
        if not _valid(value):
            return [pa.scalar(float("nan"), kind) for _ in names]
    found = [op.reduced(value, getattr(_aggregation, name)()) for name in names]
    if _is.is_floating(kind) and not all(each.to_py() for each in found):
        need_no_negative_zero(value)  # pyarrow's result is the first zero
    return [to_scalar(each, kind) for each in found]


@rows(_ORDERED, min="min", max="max")
def extreme(call: Call, name: str) -> Any:
    decided = _decided(call)
    return decided if decided is not None else _extremes(call, (name,))[0]


@rows(_ORDERED)
def min_max(call: Call) -> Any:
    return _struct(call, [] if _is_null(call, least=1) else _extremes(call, ("min", "max")))


def _struct(call: Call, values: list[Any]) -> Any:
    """Of two values; of nulls if the list is empty."""
    values = values or [None, None]
    arrays = [pa.array([value], it.type) for value, it in zip(values, call.type, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=list(call.type))[0]


#: Modes of counting, by pyarrow's numbers.
_VALID, _NULL = 0, 1


@rows(ANY)
def count(call: Call) -> Any:
    counts = {_VALID: _valid(call.value), _NULL: call.value.null_count()}
    return pa.scalar(counts.get(call.options["mode"], call.value.size()), pa.int64())


@rows(_ORDERED)
def count_distinct(call: Call) -> Any:
    value, mode = call.value, call.options["mode"]
    has_null = int(value.null_count() > 0)
    need_same_bits(call, value)
    found = 0
    if mode != _NULL:
        found = plc.reduce.distinct_count(value, _Nulls.EXCLUDE, _Nans.NAN_IS_VALID)
    return pa.scalar(found + (has_null if mode != _VALID else 0), pa.int64())


@rows("bool", any_=("any", True), all_=("all", False))
def any_or_all(call: Call, aggregation: str, decides: bool) -> Any:
    valid = _valid(call.value)
    if valid < call.options["min_count"]:
        return pa.scalar(None, pa.bool_())
    found = not decides
    if valid:
        found = bool(op.reduced(call.value, getattr(_aggregation, aggregation)()).to_py())
    # As in Kleene's logic, nulls do not change what is decided.
    is_open = call.value.null_count() and not call.options["skip_nulls"] and found != decides
    return pa.scalar(None if is_open else found, pa.bool_())


def _ends(call: Call, *places: int) -> list[Any]:
    """The first or last values, which may be null unless nulls are skipped; none of too few."""
    value, skips = call.value, call.options["skip_nulls"]
    if _valid(value) < max(call.options["min_count"], skips):
        return []
    if skips:
        value = op.valid(value)
    elements = (plc.copying.get_element(value, place % value.size()) for place in places)
    return [to_scalar(element, call.given) for element in elements]


@rows(_ORDERED, first=0, last=-1)
def end(call: Call, place: int) -> Any:
    found = _ends(call, place)
    return found[0] if found else pa.scalar(None, call.type)


@rows(_ORDERED)
def first_last(call: Call) -> Any:
    return _struct(call, _ends(call, 0, -1))


@rows(SIMPLE)
def index(call: Call) -> Any:
    value, wanted = call.value, call.options["value"]
    call.need(wanted.type == call.given, "not of a value of another type")
    if not wanted.is_valid:
        return pa.scalar(-1, pa.int64())
    is_there = op.filled(op.binary("EQUAL", value, plc.Scalar.from_arrow(wanted)), op.scalar(False))
    found = op.places(is_there)
    return pa.scalar(plc.copying.get_element(found, 0).to_py() if found.size() else -1, pa.int64())


@rows(NUMBERS, variance="variance", stddev="std")
def spread(call: Call, aggregation: str) -> Any:
    decided = _decided(call)
    value, ddof = call.value, call.options["ddof"]
    call.need(ddof >= 0, "not with such degrees of freedom")
    if decided is not None or _valid(value) <= ddof:
        return pa.scalar(None, call.type)
    if _is.is_floating(call.given) and not op.are_finite(value):
        return pa.scalar(float("nan"), call.type)
    call.need(
        _is.is_floating(call.given) or op.are_within(value, EXACT[pa.float64()]),
        "not with integers that double does not have",
    )
    return _reduced(call, getattr(_aggregation, aggregation)(ddof))


#: Interpolations, by pyarrow's numbers.
_INTERPOLATIONS = ("LINEAR", "LOWER", "HIGHER", "NEAREST", "MIDPOINT")


@rows(NUMBERS)
def quantile(call: Call) -> Any:
    value, options = call.value, call.options
    wanted = options["q"]
    call.need(all(0 <= each <= 1 for each in wanted), "not beyond 0 and 1")
    is_null, is_float = _is_null(call), _is.is_floating(call.given)
    if is_float and not is_null:
        value = _without_nans(value)
    value = op.valid(value)
    if is_null or not value.size():
        return plc.Column.from_scalar(op.scalar(None, call.type), len(wanted))
    name = _INTERPOLATIONS[options["interpolation"]]
    call.need(name != "NEAREST", "not with the interpolation 'nearest'")
    call.need(not is_float or op.are_finite(value), "not with infinity")
    interpolation = getattr(plc.types.Interpolation, name)
    is_exact = name in ("LINEAR", "MIDPOINT")
    order = op.order_of([(value, False, False)], is_float=[False])
    found = plc.quantiles.quantile(value, wanted, interpolation, order, is_exact)
    return op.cast(found, cudf_type(call.type))
