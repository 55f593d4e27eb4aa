"""Answers calls by the kernels of all functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from . import calls, parts, queries, spans
from .asof import join_asof
from .caches import Cache
from .calls import DATA, Call
from .columns import (
    argument,
    from_first_row,
    is_as_imported,
    to_arrow,
    to_chunks,
    to_cudf,
    to_table,
)
from .conversions import remember
from .functions import (
    aggregates,
    arithmetic,
    casts,
    comparisons,
    lists,
    plain,
    rounding,
    selections,
    strings,
    temporal_rounding,
    time_texts,
    times,
    unicode,
    zones,
)
from .parquet.reader import Reader
from .parquet.writer import write
from .refusals import NotCovered, need
from .registry import EXCEPTIONS, KERNELS, Kernel
from .types import MOST_ROWS, kind_of

_TABLES = pa.RecordBatch | pa.Table
_PARTS = (
    *(aggregates, arithmetic, casts, comparisons, lists, plain, rounding),
    *(selections, strings, temporal_rounding, time_texts, times, unicode, zones),
)


def run(
    original: Any, function: Any, arguments: Any, options: Any = None, length: int | None = None
) -> Any:
    """The answer to ``Function.call`` with data on a device.

    Raises
    ------
    NotCovered
        If there is no kernel for the function, the types or the options.
    """
    given = [calls.as_given(each) for each in arguments]
    kept, decoded = calls.options_of(function, options)
    kernel, prototype = _plan(
        original, function.name, tuple(map(calls.shape_of, given)), kept, lambda: options
    )
    data = [it for it in given if isinstance(it, DATA)]
    if not all(it.num_columns for it in data if isinstance(it, _TABLES)):
        raise NotCovered("not tables without columns")
    # For functions of other kinds, pyarrow does not look at it; -1 is its number for none.
    if function.kind == "scalar" and length not in (None, -1, len(data[0])):
        raise pa.ArrowInvalid(
            "Passed batch length for execution did not match actual length of values for "
            f"execution of scalar function '{function.name}'"
        )
    if kernel.is_elementwise and len(set(map(len, data))) > 1:
        raise pa.ArrowInvalid("Array arguments must all be the same length")
    if not any(map(len, data)):
        # pyarrow converts the scalars even so, and may refuse one.
        none = [it if isinstance(it, pa.Scalar) else it.slice(0, 0) for it in given]
        return _on_device(original(function, [*map(_on_host, none)], options))
    # Strings and lists have one row less, and the answer may be of such.
    if max(map(len, data)) >= MOST_ROWS and function.kind == "scalar":
        return _by_rows(lambda part: run(original, function, part, options), given)
    if max(map(len, data)) >= MOST_ROWS and function.name in parts.COMBINED:
        slices = _slices(given[0])
        return parts.combined(
            function.name,
            decoded,
            lambda name, chosen: [
                run(original, pc.get_function(name), [piece], chosen) for piece in slices
            ],
            prototype,
        )
    made = {id(it): argument(it) for it in given}
    values, upper_bounds = zip(*(made[id(it)] for it in given), strict=True)
    types = [None if isinstance(it, _TABLES) else it.type for it in given]
    call = Call(function.name, list(values), types, decoded, prototype, given, upper_bounds)
    if call.name in casts.BY_VALUE:
        _decode(call)
    if call.name in casts.BY_INDEX and pa.types.is_dictionary(call.given):
        casts.need_distinct_values(call.array(0).dictionary)
    return _in_form(call, kernel.answer(call, *kernel.extra))


def _decode(call: Call) -> None:
    """Makes values of the dictionaries among the arguments, as pyarrow does."""
    for place, kind in enumerate(call.types):
        if pa.types.is_dictionary(kind):
            dictionary = call.array(place).dictionary
            call.values[place] = casts.decoded(call.values[place], dictionary)
            call.types[place] = kind.value_type


#: A multiple of the rows of a byte or word of bits.
_ROWS_AT_ONCE = MOST_ROWS - MOST_ROWS % 64


def _slices(value: Any) -> list[Any]:
    starts = range(0, len(value), _ROWS_AT_ONCE)
    return [value.slice(start, _ROWS_AT_ONCE) for start in starts]


def _by_rows(answer: Callable[[list[Any]], Any], given: list[Any]) -> Any:
    """The answer of a function that looks at one row after the other, for more rows than libcudf
    has in a column."""
    most = max(len(it) for it in given if isinstance(it, DATA))
    parts = [
        answer(
            [it if isinstance(it, pa.Scalar) else it.slice(start, _ROWS_AT_ONCE) for it in given]
        )
        for start in range(0, most, _ROWS_AT_ONCE)
    ]
    if isinstance(parts[0], pa.ChunkedArray):
        return pa.chunked_array([chunk for part in parts for chunk in part.chunks])
    return pa.concat_arrays(parts)


def chained(
    name: str, values: list[Any], types: list[pa.DataType], kept: bytes
) -> tuple[Any, pa.DataType]:
    """The answer for columns and scalars of libcudf's as such a one, and its type."""
    shapes = tuple(
        (pa.Scalar if isinstance(value, plc.Scalar) else pa.Array, kind)
        for value, kind in zip(values, types, strict=True)
    )
    kernel, prototype = _plan(pc.Function.call, name, shapes, kept, lambda: calls.object_of(kept))
    decoded = calls.decoded(kept) if kept else calls.default_options(name)[1]
    call = Call(name, values, types, decoded, prototype, [])
    answer = kernel.answer(call, *kernel.extra)
    # Parts of structs and whole ones are Arrow's.
    return to_cudf(answer) if isinstance(answer, pa.Array) else answer, prototype.type


_plans = Cache(4096)


def _plan(
    original: Any, name: str, shapes: tuple[Any, ...], kept: bytes, options: Callable[[], Any]
) -> tuple[Kernel, Any]:
    """The kernel of a function, which covers the types of the arguments, and what pyarrow returns
    for such arguments without rows."""

    def make() -> tuple[Kernel, Any]:
        kernel = KERNELS.get(name)
        if kernel is None:
            raise NotCovered("libcudf has no such function, or answers in another way")
        check_types(name, kernel, [kind for _, kind in shapes])
        return kernel, calls.prototype(original, name, shapes, options())

    plan: tuple[Kernel, Any] = _plans.get(make, name, shapes, kept)
    return plan


def check_types(name: str, kernel: Kernel, given: list[Any]) -> None:
    """Given types, and schemas of tables."""
    for place, types in enumerate(given):
        allowed = kernel.takes[min(place, len(kernel.takes) - 1)]
        for kind in types.types if isinstance(types, pa.Schema) else [types]:
            if kind_of(kind) not in allowed or kind in EXCEPTIONS.get(name, ()):
                raise NotCovered(f"not with arguments of type {kind}")
    if kernel.of_one_type and len(set(given)) > 1:
        raise NotCovered("not with arguments of several types")


def _on_host(value: Any) -> Any:
    return value.copy_to("cpu") if isinstance(value, DATA) else value


def _on_device(prototype: Any) -> Any:
    return (
        prototype.copy_to(_native._here().memory_manager)
        if isinstance(prototype, DATA)
        else prototype
    )


def _has_dictionary(data: Any) -> bool:
    """Whether data without rows has one, which the prototype lacks."""
    types = data.schema.types if isinstance(data, _TABLES) else [data.type]
    return any(map(pa.types.is_dictionary, types))


def _in_form(call: Call, found: Any) -> Any:
    """A column or table as an object of the class and type that pyarrow returns."""
    prototype: Any = call.prototype
    like: Any = call.arrays[0] if call.arrays else None
    is_made = isinstance(found, plc.Column | plc.Table)
    if is_made and not calls.rows_of(found) and not _has_dictionary(prototype):
        return _on_device(prototype)
    if isinstance(found, plc.Table):
        return to_table(found.columns(), prototype.schema, type(prototype), like.columns)
    if not isinstance(found, plc.Column):
        need(found.type == call.type, f"libcudf's result is not of type {call.type}")
        is_chunked = isinstance(prototype, pa.ChunkedArray) and isinstance(found, pa.Array)
        return pa.chunked_array([found]) if is_chunked else found
    found = from_first_row(found)
    if isinstance(prototype, pa.ChunkedArray):
        result = to_chunks(found, call.type, like)
    else:
        result = to_arrow(found, call.type, like)
    # An argument's own memory may be written to by the program.
    if is_as_imported(found, call.type) and not spans.has_memory_of(found, call.values):
        remember(result, _native._here(), found, call.result_upper_bound)
    return result


def parquet_reader(scan: Any) -> Reader:
    """Reads the Parquet files of a scan."""
    return Reader(chained, scan)


#: Writes a table as a Parquet file.
write_parquet = write


#: Functions of `pyarrow.acero`, and one of our own, by name.
QUERIES = {
    "_filter_table": partial(queries.filter_table, chained),
    "_group_by": queries.group_by,
    "_perform_join": partial(queries.join, chained),
    "_perform_join_asof": join_asof,
    "_project": partial(queries.project, chained),
}
