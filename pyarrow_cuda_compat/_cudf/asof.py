"""Joins with the nearest earlier or later row."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from . import operations as op
from .columns import to_table
from .queries import NO_ROW, Side, need_kinds, place_of, planned
from .refusals import need
from .types import BYTES, cudf_type

#: The kinds of numbers and times to which pyarrow finds the nearest ones.
_ON = "int date date64 clock time"
_UINT64 = plc.DataType(plc.TypeId.UINT64)


def join_asof(
    original: Any,
    left: Any,
    left_on: Any,
    left_by: Any,
    right: Any,
    right_on: Any,
    right_by: Any,
    tolerance: int,
    **options: Any,
) -> Any:
    """The left table, with the columns of the nearest right row that has the same keys."""
    first, second = (it.schema if isinstance(it, pa.Table) else it for it in (left, right))
    keys = first, left_on, left_by, second, right_on, right_by
    schema = planned(lambda it: it.schema, original, *keys, tolerance, **options)
    # pyarrow has said what is wrong with others than tables.
    need(all(isinstance(it, pa.Schema) for it in (first, second)), "not with others than tables")
    if not len(left):
        return schema.empty_table().copy_to(_native._here().memory_manager)
    places = [_places(*keys[:3]), _places(*keys[3:])]
    rest = [place for place in range(len(second)) if place not in places[1]]
    # Other columns of the left table stay as they are.
    one = Side(left.select(places[0]), [*range(len(places[0]))], [])
    other = Side(right, places[1], rest)
    other.map, other.may_lack = _nearest(one.by, other.by, int(tolerance)), True
    found = to_table([it for it, _ in other.rows()], pa.schema([*schema][len(first) :]))
    kept = left if _native._is_on_device(left) else left.copy_to(_native._here().memory_manager)
    return pa.Table.from_arrays([*kept.columns, *found.columns], schema=schema)


def _places(schema: pa.Schema, on: Any, by: Any) -> list[int]:
    """Of the keys that are equal, and of the one that is near."""
    names = [*(by if isinstance(by, list | tuple) else [by]), on]
    places = [place_of(schema, name) for name in names]
    need_kinds([schema.types[place] for place in places], f"{_ON} {BYTES}")
    return places


def _nearest(left: Any, right: Any, tolerance: int) -> Any:
    """The number of a right row for each left one: before it, the last one of the nearest; after
    it, the first one."""
    *by, number = wanted = _keys(left)
    keys = _keys(right)
    _need_order(_is_in_order(number))
    if not _is_in_order(keys[-1]):
        keys = _read(keys, number, max(tolerance, 0))
    order = op.order_of([(it, False, False) for it in keys], is_float=[False for _ in keys])
    ordered = op.gathered(plc.Table(keys), order)
    is_after = tolerance > 0
    search = plc.search.lower_bound if is_after else plc.search.upper_bound
    place = search(ordered, plc.Table(wanted), *_ascending(len(keys)))
    if not is_after:
        place = op.on_int64("SUB", place, 1)
    found = op.gathered(plc.Table([*ordered.columns(), order]), place, may_lack=True)
    *others, near, row = found.columns()
    low, high = (number, near) if is_after else (near, number)
    masks = [
        *map(partial(op.binary, "EQUAL"), by, others),
        op.binary("LESS_EQUAL", low, high),
        op.binary(
            "LESS_EQUAL",
            op.binary("SUB", high, low, _UINT64),
            op.scalar(abs(tolerance), pa.uint64()),
        ),
    ]
    mask = reduce(partial(op.binary, "LOGICAL_AND"), masks)
    return op.choose(mask, row, op.scalar(NO_ROW, pa.int32()))


def _keys(keys: Any) -> list[Any]:
    """The same columns, of which the last one has pyarrow's numbers for its values."""
    *by, on = columns = keys.columns()
    need(not any(it.null_count() for it in columns), "not with nulls in the keys")
    for column in by:
        # pyarrow takes such a string for the one before the NUL.
        need(not _ends_with_nul(column), "not with NUL at the end of strings in the keys")
    kind = on.type().to_arrow()
    if not pa.types.is_unsigned_integer(kind):
        # Without the sign, which pyarrow clears.
        bits = getattr(pa, f"int{kind.bit_width}")()
        on = op.same_bits(on, cudf_type(bits))
        on = op.binary("BITWISE_AND", on, op.scalar(2 ** (kind.bit_width - 1) - 1, bits), on.type())
    return [*by, op.cast(on, _UINT64)]


def _ends_with_nul(column: Any) -> bool:
    if column.type().id() != plc.TypeId.STRING:
        return False
    return op.is_anywhere(plc.strings.find.ends_with(column, op.scalar("\0", pa.string())))


def _ascending(count: int) -> tuple[list[Any], list[Any]]:
    return [op.Order.ASCENDING] * count, [op.NullOrder.AFTER] * count


def _is_in_order(numbers: Any) -> bool:
    return bool(plc.sorting.is_sorted(plc.Table([numbers]), *_ascending(1)))


def _need_order(is_in_order: bool) -> None:
    if not is_in_order:
        raise pa.ArrowInvalid("AsofJoin does not allow out-of-order on-key values")


def _read(keys: list[Any], left: Any, farthest: int) -> list[Any]:
    """The rows before the first one that is too late for all left ones: pyarrow reads no more."""
    last = plc.copying.get_element(left, left.size() - 1).to_py() + farthest
    late = op.binary("GREATER", keys[-1], op.scalar(min(last, 2**64 - 1), pa.uint64()))
    places = op.places(late)
    _need_order(places.size() > 0)
    rows = op.counter(plc.copying.get_element(places, 0).to_py())
    keys = op.gathered(plc.Table(keys), rows).columns()
    _need_order(_is_in_order(keys[-1]))
    return keys
