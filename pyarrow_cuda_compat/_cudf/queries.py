"""Tables on a device: filters by expressions, groups and joins.

`group_by` and `join` take pyarrow's own function, and its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from . import operations as op
from .caches import Cache
from .columns import dictionary_of, on_device, rows_of_views, table_of, to_table
from .conversions import conversion_of
from .evaluation import Evaluation
from .expressions import fields_of, serialized
from .functions.casts import BY_VALUE, decoded
from .groups import ALL_ROWS, Group
from .refusals import need
from .types import ANY, KEYS, SIMPLE, kind_of

_is = pa.types
_Nulls = plc.types.NullPolicy
_Original = Callable[..., Any]


def _need_kinds(schema: pa.Schema, kinds: str) -> None:
    allowed = kinds.split()
    others = [kind for kind in schema.types if kind_of(kind) not in allowed]
    need(not others, f"not with columns of type {others and others[0]}")


#: A path to a field of the table itself, in which a backslash is before signs of paths.
_PATH = re.compile(r"\.((?:[^.\[\\]|\\.)*)", re.DOTALL)


def _place(schema: pa.Schema, reference: Any) -> int:
    """The place of the column that pyarrow, which has accepted it, takes a reference for."""
    if isinstance(reference, int):
        return reference
    need(isinstance(reference, str), f"not by {reference!r}")
    name = reference
    if reference.startswith("."):
        path = _PATH.fullmatch(reference)
        need(path, f"not by {reference!r}, a field within a column")
        name = re.sub(r"\\(.)", r"\1", path[1], flags=re.DOTALL) if path else ""
    places = schema.get_all_field_indices(name)
    need(len(places) == 1, f"not by {reference!r}")
    return int(places[0])


def filter_table(compute: Callable[..., Any], table: Any, expression: Any) -> Any:
    """The rows where an expression is true, whose functions `compute` answers for columns."""
    schema = table.schema
    _need_kinds(schema, ANY)
    every = table_of(table)
    columns = every.columns()
    compute = _by_values(compute, columns, table.columns)
    mask = Evaluation(columns, schema, compute).of(expression)
    if isinstance(mask, pa.Scalar):
        return table.slice(0, len(table) if mask.as_py() else 0)
    kept = op.kept(every, mask)
    if not kept.num_rows():
        return table.slice(0, 0)
    return to_table(kept.columns(), schema, type(table), table.columns)


def _by_values(
    compute: Callable[..., Any], columns: list[Any], data: list[Any]
) -> Callable[..., Any]:
    """Computes with the dictionaries that the data of some columns have."""
    return partial(_computed, compute, dict(zip(map(id, columns), data, strict=True)))


def _computed(
    compute: Callable[..., Any],
    given: dict[int, Any],
    name: str,
    values: Any,
    types: Any,
    kept: Any,
) -> Any:
    """The answer of a function; of dictionaries in given columns by their values."""
    if name in BY_VALUE or name == "cast":
        values, types = list(values), list(types)
        for place, (value, kind) in enumerate(zip(values, types, strict=True)):
            if _is.is_dictionary(kind) and id(value) in given:
                types[place] = kind.value_type
                values[place] = decoded(value, dictionary_of(given[id(value)]))
    return compute(name, values, types, kept)


_results = Cache(256)


def _result_of(original: _Original, *arguments: Any, **options: Any) -> Any:
    """What pyarrow's function makes of tables without rows, which takes it half a millisecond.
    Schemas among the arguments stand for the tables."""
    named = options.items()

    def make() -> Any:
        empty = (it.empty_table() if isinstance(it, pa.Schema) else it for it in arguments)
        return original(*empty, **options)

    return _results.get(
        make,
        original.__name__,
        *arguments,
        *((name, serialized(it) if isinstance(it, pc.Expression) else it) for name, it in named),
    )


def group_by(
    original: _Original, table: Any, aggregates: Any, keys: Any, use_threads: bool = True
) -> Any:
    """The groups come in no order, or without threads in that of their first rows."""
    _need_no_abort(table.schema, aggregates)
    nothing = _result_of(original, table.schema, aggregates, keys, use_threads=use_threads)
    schema = nothing.schema
    keys = [keys] if isinstance(keys, str) else list(keys or ())
    if not keys:
        return _of_whole_columns(table, aggregates, schema) if aggregates else nothing
    if not len(table):
        return schema.empty_table().copy_to(_native._here().memory_manager)
    keys = [_place(table.schema, key) for key in keys]
    targets = [_place(table.schema, target[0]) if target else keys[0] for target, *_ in aggregates]
    fields = [table.schema.field(key) for key in keys]
    _need_kinds(pa.schema(fields), f"{KEYS} null view")
    used = dict.fromkeys([*keys, *targets])
    columns = dict(zip(used, table_of(table, [*used]).columns(), strict=True))
    by = plc.Table([op.keys_of(columns[key]) for key in keys])
    wanted = [
        Group(columns, by, place, table.schema.field(place).type, (*each, kind))
        for place, each, kind in zip(targets, aggregates, schema.types[len(keys) :], strict=True)
    ]
    for field in map(table.schema.field, {*keys, *targets}):
        _need_no_float_values(field.type)
    are_views = [kind_of(field.type) == "view" for field in fields]
    numbers = op.counter(len(table)) if any(are_views) or not use_threads else None
    groups, firsts = _aggregated(by, wanted, numbers)
    made = [
        op.same_bits(column, columns[key].type())
        for key, column in zip(keys, groups.columns(), strict=True)
    ]
    likes = [table.column(key) for key in keys]
    for place, is_view in enumerate(are_views):
        if is_view:
            made[place], likes[place] = rows_of_views(likes[place], firsts)
    made += [each.result() for each in wanted]
    if not use_threads:
        order = op.order_of([(firsts, False, False)], is_float=[False])
        made = op.gathered(plc.Table(made), order).columns()
    return to_table(made, schema, likes=[*likes, *(None for _ in wanted)])


def _need_no_abort(schema: pa.Schema, aggregates: Any) -> None:
    """pyarrow ends the process for distinct values of some types without rows."""
    for target, name, *_ in aggregates:
        if name == "hash_distinct":
            # A path or number may be that of each column.
            is_name = any(each in schema.names for each in target)
            fields = [field for field in schema if not is_name or field.name in target]
            _need_kinds(pa.schema(fields), SIMPLE)


def _aggregated(by: Any, wanted: list[Group], numbers: Any) -> tuple[Any, Any]:
    """The keys of the groups, and of the numbers of the rows, if given, their first ones."""
    # Values that several aggregations read are grouped once.
    requests: dict[Any, tuple[Any, list[Any]]] = {}
    for each in wanted:
        for source, values, aggregation in each.asked:
            requests.setdefault(source, (values, []))[1].append(aggregation)
    if numbers is not None:
        requests[None] = numbers, [plc.aggregation.min()]
    elif not requests:
        requests[None] = by.columns()[0], [ALL_ROWS]
    asked = [plc.groupby.GroupByRequest(*each) for each in requests.values()]
    groups, found = plc.groupby.GroupBy(by, _Nulls.INCLUDE).aggregate(asked)
    results = {source: it.columns() for source, it in zip(requests, found, strict=True)}
    places = dict.fromkeys(results, 0)
    for each in wanted:
        for source, *_ in each.asked:
            each.found.append(results[source][places[source]])
            places[source] += 1
    return groups, results[None][0] if numbers is not None else None


def _of_whole_columns(table: Any, aggregates: Any, schema: pa.Schema) -> Any:
    """One row, with the results of pyarrow's functions of whole columns."""
    found = []
    for (target, name, options, _), kind in zip(aggregates, schema.types, strict=True):
        need(len(target) == (name != "count_all"), f"not {name} without keys")
        columns = [table.column(_place(table.schema, each)) for each in target]
        value = pc.call_function(name, columns, options) if target else len(table)
        found.append(pa.array([value], kind))
    row = pa.Table.from_arrays(found, schema=schema)
    return row.copy_to(_native._here().memory_manager)


#: By name: libcudf's join, and whether the sides are exchanged.
_JOINS = {
    "inner": ("inner_join", False),
    "left outer": ("left_join", False),
    "right outer": ("left_join", True),
    "full outer": ("full_join", False),
    "left semi": ("left_semi_join", False),
    "right semi": ("left_semi_join", True),
    "left anti": ("left_anti_join", False),
    "right anti": ("left_anti_join", True),
}


def join(
    compute: Callable[..., Any],
    original: _Original,
    join_type: str,
    left: Any,
    left_keys: Any,
    right: Any,
    right_keys: Any,
    filter_expression: Any = None,
    coalesce_keys: bool = False,
    **options: Any,
) -> Any:
    """The rows come in no order."""
    # pyarrow says what is wrong with others than tables.
    sides = (left, right)
    first, second = (it.schema if isinstance(it, pa.Table) else it for it in sides)
    options = {"coalesce_keys": coalesce_keys, "filter_expression": filter_expression, **options}
    schema = _result_of(original, join_type, first, left_keys, second, right_keys, **options).schema
    need(all(isinstance(it, pa.Table) for it in sides), "not with others than tables")
    lists = [[*it] if isinstance(it, list | tuple) else [it] for it in (left_keys, right_keys)]
    halves = [_Side(table, keys) for table, keys in zip(sides, lists, strict=True)]
    for one, other in zip(*(side.kinds for side in halves), strict=True):
        need(one == other, "not with keys of several types")
    if join_type == "full outer" and coalesce_keys:
        has_dictionary = any(side.has_dictionary for side in halves)
        need(not has_dictionary, "not with the keys of several dictionaries in one column")
    name, is_exchanged = _JOINS[join_type]
    first, second = reversed(halves) if is_exchanged else halves
    is_one_sided = "semi" in join_type or "anti" in join_type
    if filter_expression is None:
        maps = getattr(plc.join, name)(first.by, second.by, plc.types.NullEquality.UNEQUAL)
        maps = (maps, None) if is_one_sided else maps
    else:
        pairs = _filtered_pairs(compute, first, second, filter_expression)
        maps = _completed(name, first, second, pairs)
    first.map, second.map = maps
    first.may_lack = join_type == "full outer"
    second.may_lack = "outer" in join_type
    columns, likes = _joined(join_type, *halves, coalesces=coalesce_keys)
    return to_table(columns, schema, likes=likes)


def _need_no_float_values(kind: pa.DataType) -> None:
    """pyarrow finds that a dictionary with NaN differs from itself, and raises an error for it."""
    is_float = _is.is_dictionary(kind) and _is.is_floating(kind.value_type)
    need(not is_float, "not by dictionaries of floating-point numbers")


def _values_of(column: Any, data: Any) -> Any:
    """A column of keys: pyarrow compares the values of dictionaries."""
    if not _is.is_dictionary(data.type):
        return column
    _need_no_float_values(data.type)
    return decoded(column, dictionary_of(data))


class _Side:
    """A table of a join."""

    def __init__(self, table: Any, keys: list[Any]) -> None:
        _need_kinds(table.schema, ANY)
        # Chunks become one only once.
        self.table, self.keys = table if conversion_of(table) else on_device(table), keys
        self.schema = table.schema
        places = [_place(table.schema, key) for key in keys]
        fields = [table.schema.field(place) for place in places]
        _need_kinds(pa.schema(fields), KEYS)
        columns = map(
            _values_of, table_of(self.table, places).columns(), map(self.table.column, places)
        )
        self.by = plc.Table([*map(op.keys_of, columns)])
        self.has_dictionary = any(_is.is_dictionary(field.type) for field in fields)
        self.kinds = [
            it.type.value_type if _is.is_dictionary(it.type) else it.type for it in fields
        ]
        #: The numbers of the rows of the result, of which those that are too large are null.
        self.map: Any = None
        self.may_lack = False

    def names(self) -> list[str]:
        names: list[str] = self.schema.names
        return names

    def rows(self, places: list[int]) -> list[Any]:
        """Columns of the result, each with the one of the table that it is of."""
        if self.map is None or not places:
            return []
        rows = op.gathered(table_of(self.table, places), self.map, may_lack=self.may_lack)
        return [*zip(rows.columns(), map(self.table.column, places), strict=True)]


def _filtered_pairs(
    compute: Callable[..., Any], first: _Side, second: _Side, expression: Any
) -> list[Any]:
    """The numbers of the rows of both sides that have equal keys, and for which it is true."""
    pairs = plc.join.inner_join(first.by, second.by, plc.types.NullEquality.UNEQUAL)
    if not pairs[0].size():
        return list(pairs)
    used, data = fields_of(expression), list[Any]()
    columns, fields = list[Any](), list[Any]()
    for side, rows in zip((first, second), pairs, strict=True):
        # pyarrow refuses names of several columns.
        places = [place for place, name in enumerate(side.names()) if name in used]
        fields += [side.schema.field(place) for place in places]
        if places:
            columns += op.gathered(table_of(side.table, places), rows).columns()
            data += map(side.table.column, places)
    compute = _by_values(compute, columns, data)
    mask = Evaluation(columns, pa.schema(fields), compute).of(expression, folds=False)
    if isinstance(mask, pa.Scalar):
        return (
            list(pairs)
            if mask.as_py()
            else [plc.Column.from_scalar(op.scalar(0, pa.int32()), 0) for _ in pairs]
        )
    return list(op.kept(plc.Table(list(pairs)), mask).columns())


#: Behind the last row of every table.
_NO_ROW = 2**31 - 1


def _completed(name: str, first: _Side, second: _Side, pairs: list[Any]) -> tuple[Any, Any]:
    """The numbers of the rows of a join, of which the pairs have found each other."""
    if name == "inner_join":
        return pairs[0], pairs[1]
    is_found = op.are_among(first.by.num_rows(), pairs[0])
    if name == "left_semi_join":
        return op.places(is_found), None
    lonely = [op.places(op.invert(is_found))]
    if name == "left_anti_join":
        return lonely[0], None
    if name == "full_join":
        others = op.are_among(second.by.num_rows(), pairs[1])
        lonely.append(op.places(op.invert(others)))
    nothing = [plc.Column.from_scalar(op.scalar(_NO_ROW, pa.int32()), it.size()) for it in lonely]
    left, right = [pairs[0], lonely[0], *nothing[1:]], [pairs[1], nothing[0], *lonely[1:]]
    return plc.concatenate.concatenate(left), plc.concatenate.concatenate(right)


def _joined(
    join_type: str, left: _Side, right: _Side, *, coalesces: bool
) -> tuple[list[Any], list[Any]]:
    """The columns of a result, and those of the tables."""
    sides = left, right
    if not coalesces:
        every = [each for side in sides for each in side.rows([*range(len(side.names()))])]
        return [column for column, _ in every], [like for _, like in every]
    # pyarrow looks up the names of columns as it looks up those of keys.
    lefts, rights = (side.names() for side in sides)
    if join_type in ("inner", "left outer"):
        rights = [name for name in rights if name not in right.keys]
    elif join_type == "right outer":
        lefts = [name for name in lefts if name not in left.keys]
    from_left, from_right = (
        side.rows([_place(side.schema, name) for name in names] if side.map is not None else [])
        for side, names in zip(sides, (lefts, rights), strict=True)
    )
    if "full" in join_type:
        for place, name in enumerate(lefts):
            if name in left.keys:
                # Of a key that is there twice, the last one counts.
                last = len(left.keys) - 1 - left.keys[::-1].index(name)
                other, _ = from_right[rights.index(right.keys[last])]
                column, like = from_left[place]
                from_left[place] = op.filled(column, other), like
        pairs = zip(rights, from_right, strict=True)
        from_right = [each for name, each in pairs if name not in right.keys]
    every = [*from_left, *from_right]
    return [column for column, _ in every], [like for _, like in every]
