"""Parts of lists, and lists whose elements are cast."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call, prototype
from ..columns import on_device, scalar_of, to_arrow, to_cudf
from ..registry import kernel

_is = pa.types
_MOST = 2**31 - 1
#: The most elements of a list that is filled up with nulls.
_MOST_PADDED = 2**20
_Bounds = plc.copying.OutOfBoundsPolicy


@kernel("list large_list fixed_list")
def list_slice(call: Call) -> Any:
    start, stop, step = (call.options[name] for name in ("start", "stop", "step"))
    if _is.is_fixed_size_list(call.type):
        call.need(0 < call.type.list_size <= _MOST_PADDED, "not to lists of such a size")
    # pyarrow looks at the options only where there are rows.
    row = [None] * getattr(call.given, "list_size", 0)
    pc.call_function(
        "list_slice", [pa.array([row], call.given)], pc.ListSliceOptions(**call.options)
    )
    # No list has more elements.
    start, step = min(start, _MOST), min(step, _MOST)
    stop = _MOST if stop is None else min(stop, _MOST)
    if not _is.is_fixed_size_list(call.type):
        counts = op.filled(plc.lists.count_elements(call.value), op.scalar(0, pa.int32()))
        numbers = _numbers(call, start, step, _sizes(op.cast(counts, op.INT64), start, stop, step))
        return plc.lists.segmented_gather(call.value, numbers, _Bounds.DONT_CHECK)
    size = call.type.list_size
    sizes = plc.Column.from_scalar(op.scalar(size, pa.int32()), call.rows)
    numbers = _numbers(call, start, step, sizes)
    # Elements behind the end of a list are null.
    found = plc.lists.segmented_gather(call.value, numbers, _Bounds.NULLIFY)
    lists = to_arrow(found, pa.list_(call.type.value_field))
    return pa.Array.from_buffers(
        call.type, len(lists), lists.buffers()[:1], lists.null_count, 0, [lists.values]
    )


def _sizes(counts: Any, start: int, stop: int, step: int) -> Any:
    """How many elements each list has of those from a start to a stop, by a step."""
    ends = op.scalar(stop, pa.int64())
    ends = op.choose(op.binary("LESS", counts, ends), counts, ends)
    span = op.on_int64("SUB", ends, start)
    sizes = op.on_int64("DIV", op.on_int64("ADD", span, step - 1), step)
    nothing = op.scalar(0, pa.int64())
    return op.cast(op.choose(op.binary("GREATER", span, nothing), sizes, nothing), op.INT32)


def _numbers(call: Call, start: int, step: int, sizes: Any) -> Any:
    """For each list, the numbers of the elements that are taken."""
    starts, steps = (
        plc.Column.from_scalar(op.scalar(it, pa.int32()), call.rows) for it in (start, step)
    )
    return plc.lists.sequences(starts, sizes, steps)


@kernel("list large_list")
def list_parent_indices(call: Call) -> Any:
    offsets = op.cast(
        to_cudf(call.array(0).offsets), op.INT32
    )  # also of nulls, which may have elements
    starts, ends = _pairs(offsets, call.rows)
    parents = plc.Table([op.cast(op.counter(call.rows), op.INT64)])
    return op.one(plc.filling.repeat(parents, op.binary("SUB", ends, starts, op.INT32)))


def _pairs(offsets: Any, rows: int) -> tuple[Any, Any]:
    """Where each list begins, and where it ends."""
    starts, ends = (plc.copying.slice(offsets, [it, rows + it])[0].copy() for it in (0, 1))
    return starts, ends


@kernel("map")
def map_lookup(call: Call) -> Any:
    key, occurrence = call.options["query_key"], _OCCURRENCES[call.options["occurrence"]]
    call.need(not _is.is_float16(key.type), "not by keys of 16 bits")
    # pyarrow looks at the type of the keys only where there are rows.
    chosen = pc.MapLookupOptions(key, occurrence)
    pc.call_function("map_lookup", [pa.array([[]], call.given)], chosen)
    maps = call.array(0)
    keys, items, offsets = map(to_cudf, (maps.keys, maps.items, maps.offsets))
    found = op.places(op.binary("EQUAL", keys, scalar_of(key)))
    if not found.size():
        return on_device(pa.nulls(call.rows, call.type))
    # For each map, how many of the places found are before its first entry, and behind its last.
    before = op.lower_bound(found, offsets)
    starts, ends = _pairs(before, call.rows)
    is_there = op.binary("LOGICAL_AND", op.binary("LESS", starts, ends), op.is_valid(call.value))
    if occurrence == "all":
        return _lists_at(before, found, items, is_there)
    place = (
        starts
        if occurrence == "first"
        else op.binary("SUB", ends, op.scalar(1, pa.int32()), op.INT32)
    )
    behind = op.scalar(items.size(), pa.int32())
    place = op.choose(is_there, place, op.scalar(found.size(), pa.int32()))
    place = op.filled(op.one(op.gathered(plc.Table([found]), place, may_lack=True)), behind)
    return op.one(op.gathered(plc.Table([items]), place, may_lack=True))


#: By pyarrow's numbers.
_OCCURRENCES = ("first", "last", "all")


def _lists_at(before: Any, found: Any, items: Any, is_there: Any) -> Any:
    """Lists of the items at the places found, of which so many are before each list."""
    rows = is_there.size()
    first, last = (plc.copying.get_element(before, place).to_py() for place in (0, rows))
    places = plc.copying.slice(found, [first, last])[0].copy()
    items = op.one(op.gathered(plc.Table([items]), places))
    offsets = op.binary("SUB", before, op.scalar(first, pa.int32()), op.INT32)
    nulls = op.null_where(op.invert(is_there), is_there)
    mask = nulls.null_mask() if nulls.null_count() else None
    kind = plc.DataType(plc.TypeId.LIST)
    return plc.Column(kind, rows, None, mask, nulls.null_count(), 0, [offsets, items])


def cast_elements(call: Call, wanted: pa.DataType, cast: Any) -> Any:
    """Lists of other elements over the same offsets."""
    lists = call.array(0)
    elements = _cast(call, lists.values, wanted.value_type, cast)
    buffers = lists.buffers()[:2]
    facts = len(lists), buffers, lists.null_count, lists.offset
    return pa.Array.from_buffers(wanted, *facts, [elements])


def _cast(call: Call, values: Any, wanted: pa.DataType, cast: Any) -> Any:
    options = {**call.options, "to_type": wanted}
    choices = {name: it for name, it in options.items() if name.startswith("allow_")}
    of_pyarrow = pc.CastOptions(target_type=wanted, **choices)
    made = prototype(pc.Function.call, "cast", [(pa.Array, values.type)], of_pyarrow)
    if not len(values):
        return on_device(made)
    try:
        found = cast(Call("cast", [to_cudf(values)], [values.type], options, made, [values]))
    except pa.ArrowInvalid:
        # pyarrow looks at some of the elements outside of a slice.
        call.need(not call.array(0).offset, "not of slices with elements that cannot be cast")
        raise
    return to_arrow(found, wanted) if isinstance(found, plc.Column) else found
