"""What the stand-in does with rows of tables: groups, joins, distinct values, searches."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: libcudf's number of a row that is not there.
_NO_MATCH = -(2**31)
_JOINS = {
    "inner_join": "inner",
    "left_join": "left outer",
    "full_join": "full outer",
    "left_semi_join": "left semi",
    "left_anti_join": "left anti",
}


def _unsliced(value: Any) -> Any:
    """pyarrow 21 makes wrong strings of slices."""
    return value if isinstance(value, pa.Scalar) else pa.concat_arrays([value])


def _with_one_nan(values: Any) -> Any:
    if not pa.types.is_floating(values.type):
        return values
    nan = pa.scalar(float("nan"), values.type)
    return pc.if_else(pc.is_nan(values), nan, pc.add(values, pa.scalar(0.0, values.type)))


def _plain(values: Any) -> list[Any]:
    """Strings need not be UTF-8, and Python has no object for some times."""
    kind = values.type
    if pa.types.is_string(kind):
        values = values.cast(pa.binary())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    found: list[Any] = values.to_pylist()
    return found


def install(names: Any, column: Callable[[Any], Any], table: Callable[[Any], Any]) -> None:
    """Gives pylibcudf's modules these functions, over the stand-in's columns and tables."""

    def of(made: Any) -> pa.Table:
        """A table with numbers for names."""
        return pa.table({str(place): each.value for place, each in enumerate(made.columns())})

    def compared(made: Any) -> pa.Table:
        """The same, but with one zero and one NaN, since libcudf compares numbers and not bits."""
        return pa.table(dict(zip(of(made).column_names, map(_with_one_nan, of(made)), strict=True)))

    def back(made: pa.Table) -> Any:
        return table([column(each.combine_chunks()) for each in made.columns])

    def named(aggregation: str) -> tuple[Any, ...]:
        """pyarrow's name for it, and its options."""
        name, *words = aggregation.split()
        if name == "nth":
            skips = pc.ScalarAggregateOptions(skip_nulls=words[1] == "EXCLUDE", min_count=0)
            return {"0": "first", "-1": "last"}[words[0]], skips
        if name in ("variance", "stddev"):
            return name, pc.VarianceOptions(ddof=int(words[0]))
        counted = {"EXCLUDE": "only_valid", "INCLUDE": "all"}
        is_count = words and name != "list"
        return (name, pc.CountOptions(counted[words[0]])) if is_count else (name,)

    def made_of(values: Any, aggregation: str, found: Any) -> Any:
        """Lists without nulls, if these are left out."""
        if aggregation != "list EXCLUDE":
            return found
        lists = [it and [each for each in it if each is not None] for it in found.to_pylist()]
        return pa.chunked_array([pa.array(lists, found.type)])

    class GroupBy:
        """The groups come in reverse, since libcudf has no order for them."""

        def __init__(self, keys: Any, _nulls: Any) -> None:
            self.keys = compared(keys)

        def aggregate(self, requests: list[Any]) -> Any:
            names = self.keys.column_names
            groups = self.keys.group_by(names, use_threads=False).aggregate([])
            found = []
            for values, aggregations in requests:
                columns = []
                for each in aggregations:
                    kind = each._name.split()[0]
                    asked = named(each._name)
                    if asked[0] == "first" and pa.types.is_decimal(values.value.type):
                        asked = ("one",)  # pyarrow has no first one
                    # Values are kept as they are where they are not compared.
                    is_kept = kind in ("nth", "list")
                    stored = values.value if is_kept else _with_one_nan(values.value)
                    whole = self.keys.append_column("v", stored)
                    if is_kept and any("count_distinct" in it._name for it in aggregations):
                        whole = _sorted_in_groups(whole)
                    made = whole.group_by(names, use_threads=False).aggregate([("v", *asked)])
                    columns.append(made_of(values, each._name, made.columns[-1]))
                found.append(pa.table(columns, names=[*map(str, range(len(columns)))]))
            backwards = pa.array(range(groups.num_rows - 1, -1, -1), pa.int64())
            return back(groups.take(backwards)), [back(each.take(backwards)) for each in found]

    def joined(how: str) -> Callable[[Any, Any, Any], Any]:
        """The numbers of the rows of each side, of which the least one stands for none."""

        def numbered(side: Any, name: str) -> pa.Table:
            rows = compared(side)
            return rows.append_column(name, pa.array(range(len(rows)), pa.int32()))

        def join(left: Any, right: Any, _nulls: Any) -> Any:
            keys = of(left).column_names
            rows = numbered(left, "left").join(numbered(right, "right"), keys, join_type=how)
            maps = [
                column(pc.fill_null(rows[side], _NO_MATCH).combine_chunks())
                for side in ("left", "right")
                if side in rows.column_names
            ]
            return tuple(maps) if len(maps) == 2 else maps[0]

        return join

    def distinct(given: Any, keys: list[int], *_: Any) -> Any:
        rows = of(given)
        values = zip(*(_plain(rows.column(key)) for key in keys), strict=True)
        first = {row: place for place, row in reversed(list(enumerate(values)))}
        return back(rows.take(pa.array(sorted(first.values()), pa.int64())))

    def distinct_indices(given: Any, *_: Any) -> Any:
        """In no order."""
        rows = zip(*(_plain(it.value) for it in given.columns()), strict=True)
        first = {row: place for place, row in reversed(list(enumerate(rows)))}
        return column(pa.array(sorted(first.values(), reverse=True), pa.int32()))

    def bound(bisect: Callable[[Any, Any], int]) -> Callable[..., Any]:
        def rows_of(made: Any) -> list[Any]:
            # null is larger than all others.
            rows = zip(*(_plain(it.value) for it in made.columns()), strict=True)
            return [[(it is None, it) for it in row] for row in rows]

        def search(within: Any, needles: Any, *_: Any) -> Any:
            rows = rows_of(within)
            return column(pa.array([bisect(rows, it) for it in rows_of(needles)], pa.int32()))

        return search

    def sequence(rows: int, first: Any, step: Any) -> Any:
        start, by = first.to_py(), step.to_py()
        return column(pa.array(range(start, start + rows * by, by), first.value.type))

    names.groupby.GroupBy = GroupBy
    names.groupby.GroupByRequest = lambda values, aggregations: (values, aggregations)
    for name, how in _JOINS.items():
        setattr(names.join, name, joined(how))
    names.stream_compaction.stable_distinct = distinct
    names.stream_compaction.distinct_indices = distinct_indices
    names.stream_compaction.drop_nulls = lambda it, *_: back(of(it).drop_null())
    names.stream_compaction.drop_nans = lambda it, *_: back(
        of(it).filter(pc.fill_null(pc.invert(pc.is_nan(of(it)["0"])), True))
    )
    names.search.lower_bound, names.search.upper_bound = bound(bisect_left), bound(bisect_right)
    names.filling.sequence = sequence
    names.unary.is_valid = lambda it: column(it.value.is_valid())
    names.unary.unary_operation = lambda it, _: column(pc.invert(it.value))
    names.copying.slice = lambda it, ends: [column(it.value.slice(ends[0], ends[1] - ends[0]))]
    names.copying.get_element = lambda it, place: column(it.value.slice(place, 1)).to_scalar()
    names.copying.copy_if_else = lambda yes, no, mask: column(
        pc.if_else(mask.value.fill_null(False), _unsliced(yes.value), _unsliced(no.value))
    )


def _sorted_in_groups(table: pa.Table) -> pa.Table:
    """Values that libcudf has sorted for one aggregation, it gives to the others of the request."""
    *keys, values = (column.to_pylist() for column in table.columns)
    groups: dict[str, int] = {}
    numbers = [groups.setdefault(repr(key), len(groups)) for key in zip(*keys, strict=True)]
    order = sorted(
        range(len(values)), key=lambda row: (numbers[row], values[row] is None, values[row] or 0)
    )
    return table.take(order)
