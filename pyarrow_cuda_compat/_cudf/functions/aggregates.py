"""Aggregates, whose results are scalars on the host."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..columns import scalar_of, to_scalar
from ..refusals import TOO_MANY_DIGITS
from ..registry import kernel
from ..types import ANY, BYTES, NUMBERS, ORDERED_TIMES, SIMPLE, cudf_type
from .casts import EXACT
from .comparisons import need_no_negative_zero

_is = pa.types
_aggregation = plc.aggregation
_Nulls, _Nans = plc.types.NullPolicy, plc.types.NanPolicy


def _count_valid(value: Any) -> int:
    """How many values are not null."""
    return int(value.size() - value.null_count())


def _result_is_null(call: Call, least: int = 0) -> bool:
    """Whether there are too few values for a result, or nulls that are not skipped."""
    if call.value.null_count() and not call.options["skip_nulls"]:
        return True
    return bool(_count_valid(call.value) < max(call.options["min_count"], least))


def _result_by_count(call: Call) -> Any:
    """The answer that follows from the number of values: null if they are too few, pyarrow's own if
    there are none.  None if libcudf has to compute it."""
    if _result_is_null(call):
        return pa.scalar(None, call.type)
    return None if _count_valid(call.value) else call.prototype


def _reduce(call: Call, aggregation: Any) -> Any:
    if _is.is_decimal(call.given):
        return _sum_of_decimals(call)
    kind = cudf_type(call.type)
    value = call.value
    if value.type().id() == plc.TypeId.BOOL8:
        value = op.cast(value, kind)
    return to_scalar(op.reduced(value, aggregation, kind), call.type)


@kernel(f"bool {NUMBERS} decimal", sum_="sum")
@kernel(f"bool {NUMBERS}", product="product")
def sum_or_product(call: Call, aggregation: str) -> Any:
    decided = _result_by_count(call)
    return decided if decided is not None else _reduce(call, getattr(_aggregation, aggregation)())


@kernel(f"bool {NUMBERS} decimal")
def mean(call: Call) -> Any:
    decided = _result_by_count(call)
    if decided is not None:
        return decided
    if _is.is_decimal(call.given):
        return _mean_of_decimals(call)
    value = op.cast(call.value, op.FLOAT64)
    return to_scalar(op.reduced(value, _aggregation.mean()), call.type)


def _sum_of_decimals(call: Call) -> Any:
    """pyarrow's wraps to other numbers where the type has too few bits."""
    total = op.sum_of_integers(call.value, call.given)
    call.need(abs(total) < 10**38, f"not {TOO_MANY_DIGITS}")
    return _decimal(total, call.type)


def _mean_of_decimals(call: Call) -> Any:
    """Rounded half away from zero to the digits of the type."""
    total, count = op.sum_of_integers(call.value, call.given), _count_valid(call.value)
    rounded = (2 * abs(total) + count) // (2 * count)
    return _decimal(-rounded if total < 0 else rounded, call.type)


def _decimal(integer: int, kind: pa.DataType) -> pa.Scalar:
    digits = tuple(map(int, str(abs(integer))))
    return pa.scalar(Decimal((integer < 0, digits, -kind.scale)), kind)


_ORDERED = f"bool {NUMBERS} {BYTES} {ORDERED_TIMES}"


def _without_nans(value: Any) -> Any:
    return op.one(plc.stream_compaction.drop_nans(plc.Table([value]), [0], 1))


def _extremes(call: Call, names: tuple[str, ...]) -> list[Any]:
    """The extremes of all values except NaN; NaN if there are no others."""
    value, kind = call.value, call.given
    if _is.is_floating(kind):
        value = _without_nans(value)
        if not _count_valid(value):
            return [pa.scalar(float("nan"), kind) for _ in names]
    found = [op.reduced(value, getattr(_aggregation, name)()) for name in names]
    if _is.is_floating(kind) and not all(each.to_py() for each in found):
        need_no_negative_zero(value)  # pyarrow's result is the first zero
    return [to_scalar(each, kind) for each in found]


@kernel(f"{_ORDERED} decimal", min="min", max="max")
def min_or_max(call: Call, name: str) -> Any:
    decided = _result_by_count(call)
    return decided if decided is not None else _extremes(call, (name,))[0]


@kernel(f"{_ORDERED} decimal")
def min_max(call: Call) -> Any:
    return _struct_scalar(
        call, [] if _result_is_null(call, least=1) else _extremes(call, ("min", "max"))
    )


def _struct_scalar(call: Call, values: list[Any]) -> Any:
    """A struct of two values, or of nulls if the list is empty."""
    values = values or [None, None]
    arrays = [pa.array([value], it.type) for value, it in zip(values, call.type, strict=True)]
    return pa.StructArray.from_arrays(arrays, fields=list(call.type))[0]


#: Modes of counting, by pyarrow's numbers.
_VALID, _NULL = 0, 1


@kernel(f"{ANY} view")
def count(call: Call) -> Any:
    counts = {_VALID: _count_valid(call.value), _NULL: call.value.null_count()}
    return pa.scalar(counts.get(call.options["mode"], call.value.size()), pa.int64())


@kernel(f"{_ORDERED} decimal bits")
def count_distinct(call: Call) -> Any:
    value, mode = call.value, call.options["mode"]
    has_null = int(value.null_count() > 0)
    found = 0
    if mode != _NULL:
        found = plc.reduce.distinct_count(op.keys_of(value), _Nulls.EXCLUDE, _Nans.NAN_IS_VALID)
    return pa.scalar(found + (has_null if mode != _VALID else 0), pa.int64())


@kernel("bool", any_=("any", True), all_=("all", False))
def any_or_all(call: Call, aggregation: str, decides: bool) -> Any:
    valid = _count_valid(call.value)
    if valid < call.options["min_count"]:
        return pa.scalar(None, pa.bool_())
    found = not decides
    if valid:
        found = bool(op.reduced(call.value, getattr(_aggregation, aggregation)()).to_py())
    # As in Kleene's logic, nulls do not change what is decided.
    is_open = call.value.null_count() and not call.options["skip_nulls"] and found != decides
    return pa.scalar(None if is_open else found, pa.bool_())


def _first_or_last(call: Call, *places: int) -> list[Any]:
    """The values at these places, which may be null unless nulls are skipped; an empty list if the
    column has too few values."""
    value, skips = call.value, call.options["skip_nulls"]
    if _count_valid(value) < max(call.options["min_count"], skips):
        return []
    if skips:
        value = op.valid(value)
    elements = (plc.copying.get_element(value, place % value.size()) for place in places)
    return [to_scalar(element, call.given) for element in elements]


@kernel(_ORDERED, first=0, last=-1)
def first_or_last(call: Call, place: int) -> Any:
    found = _first_or_last(call, place)
    return found[0] if found else pa.scalar(None, call.type)


@kernel(_ORDERED)
def first_last(call: Call) -> Any:
    return _struct_scalar(call, _first_or_last(call, 0, -1))


@kernel(SIMPLE)
def index(call: Call) -> Any:
    value, wanted = call.value, call.options["value"]
    call.need(wanted.type == call.given, "not of a value of another type")
    if not wanted.is_valid:
        return pa.scalar(-1, pa.int64())
    is_there = op.filled(op.binary("EQUAL", value, scalar_of(wanted)), op.scalar(False))
    found = op.places(is_there)
    return pa.scalar(plc.copying.get_element(found, 0).to_py() if found.size() else -1, pa.int64())


@kernel(NUMBERS, variance="variance", stddev="std")
def variance_or_stddev(call: Call, aggregation: str) -> Any:
    decided = _result_by_count(call)
    value, ddof = call.value, call.options["ddof"]
    call.need(ddof >= 0, "not with such degrees of freedom")
    if decided is not None or _count_valid(value) <= ddof:
        return pa.scalar(None, call.type)
    if _is.is_floating(call.given) and not op.are_finite(value):
        return pa.scalar(float("nan"), call.type)
    call.need(
        _is.is_floating(call.given) or op.are_within(value, EXACT[pa.float64()]),
        "not with integers that double does not have",
    )
    return _reduce(call, getattr(_aggregation, aggregation)(ddof))


#: Interpolations, by pyarrow's numbers.
_INTERPOLATIONS = ("LINEAR", "LOWER", "HIGHER", "NEAREST", "MIDPOINT")


@kernel(NUMBERS)
def quantile(call: Call) -> Any:
    value, options = call.value, call.options
    wanted = options["q"]
    call.need(all(0 <= each <= 1 for each in wanted), "not beyond 0 and 1")
    is_null, is_float = _result_is_null(call), _is.is_floating(call.given)
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
