"""What the stand-in does with rows of tables: groups, joins, distinct values, searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def _with_one_nan(values: Any) -> Any:
    if not pa.types.is_floating(values.type):
        return values
    nan = pa.scalar(float("nan"), values.type)
    return pc.if_else(pc.is_nan(values), nan, pc.add(values, pa.scalar(0.0, values.type)))


def _bytes(values: Any) -> list[Any]:
    """Strings need not be UTF-8."""
    kind = values.type
    return values.cast(pa.binary()).to_pylist() if pa.types.is_string(kind) else values.to_pylist()


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
        """pyarrow's name for it and, of a count, what it counts."""
        name, _, rule = aggregation.partition(" ")
        counted = {"EXCLUDE": "only_valid", "INCLUDE": "all"}
        return (name, pc.CountOptions(counted[rule])) if rule else (name,)

    class GroupBy:
        """The groups come in reverse, since libcudf has no order for them."""

        def __init__(self, keys: Any, _nulls: Any) -> None:
            self.keys = compared(keys)

        def aggregate(self, requests: list[Any]) -> Any:
            names = self.keys.column_names
            groups = self.keys.group_by(names, use_threads=False).aggregate([])
            found = []
            for values, aggregations in requests:
                whole = self.keys.append_column("v", _with_one_nan(values.value))
                kinds = [("v", *named(each._name)) for each in aggregations]
                made = whole.group_by(names, use_threads=False).aggregate(kinds)
                columns = made.columns[len(names) :]
                found.append(pa.table(columns, names=[*map(str, range(len(columns)))]))
            backwards = pa.array(range(groups.num_rows - 1, -1, -1), pa.int64())
            return back(groups.take(backwards)), [back(each.take(backwards)) for each in found]

    def semi_join(left: Any, right: Any, _nulls: Any) -> Any:
        numbers = pa.array(range(of(left).num_rows), pa.int32())
        numbered = compared(left).append_column("n", numbers)
        kept = numbered.join(compared(right), of(left).column_names, join_type="left semi")
        return column(kept["n"].combine_chunks())

    def distinct(given: Any, keys: list[int], *_: Any) -> Any:
        rows = of(given)
        values = zip(*(_bytes(rows.column(key)) for key in keys), strict=True)
        first = {row: place for place, row in reversed(list(enumerate(values)))}
        return back(rows.take(pa.array(sorted(first.values()), pa.int64())))

    def lower_bound(within: Any, needles: Any, *_: Any) -> Any:
        values = _bytes(within.columns()[0].value)
        places = {value: place for place, value in reversed(list(enumerate(values)))}
        wanted = _bytes(needles.columns()[0].value)
        # Behind the last row where nothing is equal: the rows there are compared anyway.
        return column(pa.array([places.get(each, len(values)) for each in wanted], pa.int32()))

    def sequence(rows: int, first: Any, step: Any) -> Any:
        start, by = first.to_py(), step.to_py()
        return column(pa.array(range(start, start + rows * by, by), first.value.type))

    def filled(given: Any, value: Any) -> Any:
        return column(pc.fill_null(given.value, value.value))

    names.groupby.GroupBy = GroupBy
    names.groupby.GroupByRequest = lambda values, aggregations: (values, aggregations)
    names.join.left_semi_join = semi_join
    names.stream_compaction.stable_distinct = distinct
    names.stream_compaction.drop_nulls = lambda it, *_: back(of(it).drop_null())
    names.stream_compaction.drop_nans = lambda it, *_: back(
        of(it).filter(pc.fill_null(pc.invert(pc.is_nan(of(it)["0"])), True))
    )
    names.search.lower_bound = lower_bound
    names.filling.sequence = sequence
    names.replace.replace_nulls = filled
    names.unary.is_valid = lambda it: column(it.value.is_valid())
    names.unary.unary_operation = lambda it, _: column(pc.invert(it.value))
    names.copying.slice = lambda it, ends: [column(it.value.slice(ends[0], ends[1] - ends[0]))]
    names.copying.get_element = lambda it, place: column(it.value.slice(place, 1)).to_scalar()
    names.copying.copy_if_else = lambda yes, no, mask: column(
        pc.if_else(mask.value.fill_null(False), yes.value, no.value)
    )
