"""Aggregates of more rows than libcudf has in a column: those of parts, which pyarrow combines.

A part may have fewer values than ``min_count`` asks for, so that is looked at in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .refusals import TOO_MANY_DIGITS, NotCovered, need

#: Answers a function for each part.
Answers = Callable[[str, Any], list[Any]]
_Rule = Callable[[Answers, str, dict[str, Any]], Any]


#: By pyarrow's number.
_MODES = ("only_valid", "only_null", "all")


def _array(scalars: list[Any]) -> Any:
    return pa.array(scalars, scalars[0].type)


def _anyway(options: dict[str, Any]) -> Any:
    """The options, with which too few values are enough."""
    return pc.ScalarAggregateOptions(skip_nulls=options["skip_nulls"], min_count=0)


def _same(answers: Answers, name: str, options: dict[str, Any]) -> Any:
    """Of functions that combine their own results."""
    anyway = _anyway(options)
    return pc.call_function(name, [_array(answers(name, anyway))], anyway)


def _sum(answers: Answers, name: str, options: dict[str, Any]) -> Any:
    """Of decimals with all digits, of which pyarrow's own sum has the last ones."""
    anyway = _anyway(options)
    sums = _array(answers(name, anyway))
    if not pa.types.is_decimal(sums.type):
        return pc.call_function(name, [sums], anyway)
    total = pc.call_function(name, [sums.cast(pa.decimal256(76, sums.type.scale))], anyway)
    try:
        return _array([total]).cast(sums.type)[0]
    except pa.ArrowInvalid:
        raise NotCovered(f"not {TOO_MANY_DIGITS}") from None


def _count(answers: Answers, name: str, options: dict[str, Any]) -> Any:
    return pc.sum(_array(answers(name, pc.CountOptions(_MODES[options["mode"]]))))


def _extremes(answers: Answers, _: str, options: dict[str, Any]) -> Any:
    ends = [_array([_same(answers, name, options)]) for name in ("min", "max")]
    return pa.StructArray.from_arrays(ends, ["min", "max"])[0]


def _mean(answers: Answers, name: str, options: dict[str, Any]) -> Any:
    """Of the means, each as often as its part has values."""
    means, counts = answers(name, _anyway(options)), answers("count", pc.CountOptions())
    need(means[0].type == pa.float64(), f"not with means of type {means[0].type} in parts")
    weighed = pc.multiply(_array(means), _array(counts).cast(pa.float64()))
    # A part without values has NaN for its mean, or null if nulls count.
    has_none = pc.and_(pc.equal(_array(counts), 0), pc.is_valid(weighed))
    total = pc.sum(pc.if_else(has_none, 0.0, weighed), skip_nulls=False)
    return pc.divide(total, pc.sum(_array(counts)).cast(pa.float64()))


#: By pyarrow's name.
COMBINED: dict[str, _Rule] = {
    "sum": _sum,
    **dict.fromkeys(("product", "min", "max", "first", "last", "any", "all"), _same),
    "count": _count,
    "min_max": _extremes,
    "mean": _mean,
}


def combined(name: str, options: dict[str, Any], answers: Answers, prototype: Any) -> Any:
    """The answer for all parts; the prototype is that for no rows."""
    least = options.get("min_count", 0)
    if least and _count(answers, "count", {"mode": 0}).as_py() < least:
        return prototype
    return COMBINED[name](answers, name, options)
