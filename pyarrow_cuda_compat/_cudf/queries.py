"""Tables on a device: filters by expressions, groups and joins.

Each of these takes pyarrow's own function, and its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from . import operations as op
from .caches import Cache
from .calls import options_of
from .columns import dictionary_of, on_device, rows_of_views, table_of, to_chunks, to_table
from .conversions import conversion_of
from .evaluation import Evaluation
from .expressions import fields_of, parsed, serialized
from .functions.casts import BY_VALUE, decoded, need_distinct_values
from .groups import ALL_ROWS, Group
from .refusals import need
from .types import ANY, KEYS, SIMPLE, kind_of

_is = pa.types
_Nulls = plc.types.NullPolicy
_Original = Callable[..., Any]


def need_kinds(types: list[pa.DataType], kinds: str) -> None:
    allowed = kinds.split()
    others = [kind for kind in types if kind_of(kind) not in allowed]
    need(not others, f"not with columns of type {others and others[0]}")


#: A path to a field of the table itself, in which a backslash is before signs of paths.
_PATH = re.compile(r"\.((?:[^.\[\\]|\\.)*)", re.DOTALL)


def place_of(schema: pa.Schema, reference: Any) -> int:
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


def filter_table(
    compute: Callable[..., Any], _original: _Original, table: Any, expression: Any
) -> Any:
    """The rows where an expression is true, whose functions `compute` answers for columns."""
    schema = table.schema
    need_kinds(schema.types, ANY)
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


def project(
    compute: Callable[..., Any],
    _original: _Original,
    table: Any,
    expressions: Iterable[Any],
    schema: pa.Schema,
) -> Any:
    """A table of what expressions are, whose functions `compute` answers for columns."""
    need_kinds(table.schema.types, ANY)
    columns = table_of(table).columns()
    found = []
    for expression, wanted in zip(expressions, schema.types, strict=True):
        name = parsed(serialized(expression))
        if isinstance(name, str):
            found.append(table.column(place_of(table.schema, name)))
            continue
        evaluation = Evaluation(columns, table.schema, _by_values(compute, columns, table.columns))
        column, kind = evaluation.column(expression)
        need(kind == wanted, f"libcudf's result is not of type {wanted}")
        found.append(to_chunks(op.column_of(column, len(table)), wanted))
    return pa.Table.from_arrays(found, schema=schema)


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


_plans = Cache(256)


def planned(
    plan: Callable[[Any], Any], original: _Original, *arguments: Any, **options: Any
) -> Any:
    """What is planned for the result that pyarrow's function has for tables without rows, which
    takes it half a millisecond.  Schemas among the arguments stand for the tables."""
    named = options.items()

    def make() -> Any:
        empty = (it.empty_table() if isinstance(it, pa.Schema) else it for it in arguments)
        return plan(original(*empty, **options))

    return _plans.get(
        make,
        original.__name__,
        *arguments,
        *((name, serialized(it) if isinstance(it, pc.Expression) else it) for name, it in named),
    )


def group_by(
    original: _Original, table: Any, aggregates: Any, keys: Any, use_threads: bool = True
) -> Any:
    """The groups come in no order, or without threads in that of their first rows."""
    given = table.schema
    _need_no_abort(given, aggregates)
    nothing = planned(lambda it: it, original, given, aggregates, keys, use_threads=use_threads)
    schema = nothing.schema
    keys = [keys] if isinstance(keys, str) else list(keys or ())
    if not keys:
        return _of_whole_columns(table, aggregates, schema) if aggregates else nothing
    if not len(table):
        return schema.empty_table().copy_to(_native._here().memory_manager)
    keys = [place_of(given, key) for key in keys]
    targets = [place_of(given, target[0]) if target else keys[0] for target, *_ in aggregates]
    types = given.types
    need_kinds([types[key] for key in keys], f"{KEYS} null view")
    used = dict.fromkeys([*keys, *targets])
    columns = dict(zip(used, table_of(table, [*used]).columns(), strict=True))
    by = plc.Table([op.keys_of(columns[key]) for key in keys])
    wanted = [
        Group(columns, by, place, types[place], (*each, kind))
        for place, each, kind in zip(targets, aggregates, schema.types[len(keys) :], strict=True)
    ]
    for place in used:
        _need_no_float_values(types[place])
    told_apart = zip(targets, aggregates, strict=True)
    counted = [place for place, (_, name, *_) in told_apart if name == "hash_count_distinct"]
    for place in {*keys, *counted}:
        if _is.is_dictionary(types[place]):
            need_distinct_values(dictionary_of(table.column(place)))
    are_views = [kind_of(types[key]) == "view" for key in keys]
    numbers = op.counter(len(table)) if any(are_views) or not use_threads else None
    results = [each.ask_all() for each in wanted]
    groups, firsts = _aggregated(by, wanted, numbers)
    made = [
        op.same_bits(column, columns[key].type())
        for key, column in zip(keys, groups.columns(), strict=True)
    ]
    likes = [table.column(key) for key in keys]
    for place, is_view in enumerate(are_views):
        if is_view:
            made[place], likes[place] = rows_of_views(likes[place], firsts)
    made += [result() for result in results]
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
            types = [field.type for field in schema if not is_name or field.name in target]
            need_kinds(types, SIMPLE)


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
        if name in ("last", "first_last"):
            # Then pyarrow's last value is one that is not null.
            _, given = options_of(pc.get_function(name), options)
            need(given["skip_nulls"], f"not {name} without keys that counts nulls")
        columns = [table.column(place_of(table.schema, each)) for each in target]
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
    sides = (left, right)
    first, second = (it.schema if isinstance(it, pa.Table) else it for it in sides)
    options = {"coalesce_keys": coalesce_keys, "filter_expression": filter_expression, **options}
    plan = planned(
        lambda it: _plan_of_join(
            it, join_type, (first, second), (left_keys, right_keys), coalesces=coalesce_keys
        ),
        *(original, join_type, first, left_keys, second, right_keys),
        **options,
    )
    halves = [*map(Side, sides, plan.keys, plan.columns)]
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
    from_left, from_right = (side.rows() for side in halves)
    for place, other in plan.merged.items():
        column, like = from_left[place]
        from_left[place] = op.filled(column, from_right[other][0]), like
    every = [*from_left, *(from_right[place] for place in plan.kept)]
    return to_table([it for it, _ in every], plan.schema, likes=[like for _, like in every])


class _JoinPlan(NamedTuple):
    """What a join does, whatever the rows are.  Each pair is for the left and the right table."""

    #: Of the result.
    schema: pa.Schema
    #: The places of the keys, and of the columns whose rows are gathered.
    keys: tuple[list[int], list[int]]
    columns: tuple[list[int], list[int]]
    #: The numbers of gathered columns of the left, by that of the right which fills their nulls.
    merged: dict[int, int]
    #: The numbers of gathered columns of the right that the result has.
    kept: list[int]


def _plan_of_join(
    nothing: pa.Table, join_type: str, schemas: Any, keys: Any, *, coalesces: bool
) -> _JoinPlan:
    # pyarrow has said what is wrong with others than tables.
    need(all(isinstance(it, pa.Schema) for it in schemas), "not with others than tables")
    keys = [[*it] if isinstance(it, list | tuple) else [it] for it in keys]
    places = [[place_of(it, key) for key in names] for it, names in zip(schemas, keys, strict=True)]
    types = [[it.types[place] for place in of] for it, of in zip(schemas, places, strict=True)]
    for schema, kinds in zip(schemas, types, strict=True):
        need_kinds(schema.types, ANY)
        need_kinds(kinds, KEYS)
    for one, other in zip(*types, strict=True):
        need(_type_of_values(one) == _type_of_values(other), "not with keys of several types")
    is_full = join_type == "full outer" and coalesces
    if is_full:
        has_dictionary = any(map(_is.is_dictionary, types[0] + types[1]))
        need(not has_dictionary, "not with the keys of several dictionaries in one column")
    names = [schema.names for schema in schemas]
    for side, one_sided in enumerate((("right semi", "right anti"), ("left semi", "left anti"))):
        if join_type in one_sided:
            names[side] = []
    if not coalesces:
        columns = [*range(len(names[0]))], [*range(len(names[1]))]
        return _JoinPlan(nothing.schema, (places[0], places[1]), columns, {}, columns[1])
    # pyarrow looks up the names of columns as it looks up those of keys.
    for side, types_of_joins in enumerate((("right outer",), ("inner", "left outer"))):
        if join_type in types_of_joins:
            names[side] = [name for name in names[side] if name not in keys[side]]
    left, right = (
        [place_of(it, name) for name in of] for it, of in zip(schemas, names, strict=True)
    )
    merged, kept = dict[int, int](), [*range(len(right))]
    if is_full:
        # Of a key that is there twice, the last one counts.
        last = dict(zip(*keys, strict=True))
        merged = {n: names[1].index(last[it]) for n, it in enumerate(names[0]) if it in last}
        kept = [number for number, name in enumerate(names[1]) if name not in keys[1]]
    return _JoinPlan(nothing.schema, (places[0], places[1]), (left, right), merged, kept)


def _type_of_values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if _is.is_dictionary(kind) else kind


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


class Side:
    """A table of a join."""

    def __init__(self, table: Any, keys: list[int], places: list[int]) -> None:
        # Chunks become one only once.
        self.table = table if conversion_of(table) else on_device(table)
        self._places = places
        used = dict.fromkeys([*keys, *places])
        found = dict(zip(used, table_of(self.table, [*used]).columns(), strict=True))
        values = map(_values_of, map(found.get, keys), map(self.table.column, keys))
        self.by = plc.Table([*map(op.keys_of, values)])
        self._columns = [found[place] for place in places]
        #: The numbers of the rows of the result, of which those that are too large are null.
        self.map: Any = None
        self.may_lack = False

    def rows(self) -> list[Any]:
        """Columns of the result, each with the one of the table that it is of."""
        if not self._places:
            return []
        rows = op.gathered(plc.Table(self._columns), self.map, may_lack=self.may_lack)
        return [*zip(rows.columns(), map(self.table.column, self._places), strict=True)]


def _filtered_pairs(
    compute: Callable[..., Any], first: Side, second: Side, expression: Any
) -> list[Any]:
    """The numbers of the rows of both sides that have equal keys, and for which it is true."""
    pairs = plc.join.inner_join(first.by, second.by, plc.types.NullEquality.UNEQUAL)
    if not pairs[0].size():
        return list(pairs)
    used, data = fields_of(expression), list[Any]()
    columns, fields = list[Any](), list[Any]()
    for side, rows in zip((first, second), pairs, strict=True):
        # pyarrow refuses names of several columns.
        schema = side.table.schema
        places = [place for place, name in enumerate(schema.names) if name in used]
        fields += map(schema.field, places)
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
NO_ROW = 2**31 - 1


def _completed(name: str, first: Side, second: Side, pairs: list[Any]) -> tuple[Any, Any]:
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
    nothing = [plc.Column.from_scalar(op.scalar(NO_ROW, pa.int32()), it.size()) for it in lonely]
    left, right = [pairs[0], lonely[0], *nothing[1:]], [pairs[1], nothing[0], *lonely[1:]]
    return plc.concatenate.concatenate(left), plc.concatenate.concatenate(right)
