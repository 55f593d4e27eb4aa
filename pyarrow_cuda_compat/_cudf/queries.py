"""Tables on a device: filters by expressions, groups and joins.

`group_by` and `join` take pyarrow's own function, and its arguments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from . import operations as op
from .caches import Cache
from .calls import options_of
from .columns import dictionary_of, on_device, rows_of_views, table_of, to_table
from .conversions import conversion_of
from .evaluation import Evaluation
from .functions.casts import BY_VALUE, EXACT, decoded
from .functions.comparisons import need_no_negative_zero
from .refusals import need
from .types import ANY, KEYS, NUMBERS, SIMPLE, cudf_type, kind_of

_is = pa.types
_Nulls = plc.types.NullPolicy
_Original = Callable[..., Any]


def _need_kinds(schema: pa.Schema, kinds: str) -> None:
    allowed = kinds.split()
    others = [kind for kind in schema.types if kind_of(kind) not in allowed]
    need(not others, f"not with columns of type {others and others[0]}")


def _need_names(schema: pa.Schema, names: Iterable[Any]) -> None:
    """Refuses numbers and paths, which pyarrow takes, too, and names of several columns."""
    counts = Counter(schema.names)
    for name in names:
        is_name = isinstance(name, str) and not name.startswith((".", "["))
        need(is_name and counts[name] == 1, f"not by {name!r}")


def _columns(table: Any, names: Iterable[str]) -> Any:
    """Some columns of a table as libcudf's."""
    if conversion_of(table) is None:
        return table_of(table.select(list(names)))
    columns = table_of(table).columns()
    return plc.Table([columns[table.schema.get_field_index(name)] for name in names])


def filter_table(compute: Callable[..., Any], table: Any, expression: Any) -> Any:
    """The rows where an expression is true, whose functions `compute` answers for columns."""
    schema = table.schema
    _need_kinds(schema, ANY)
    every = table_of(table)
    columns = every.columns()
    compute = partial(_by_values, compute, dict(zip(map(id, columns), table.columns, strict=True)))
    mask = Evaluation(columns, schema, compute).of(expression)
    need(isinstance(mask, plc.Column), "not with an expression without fields")
    kept = op.kept(every, mask)
    if not kept.num_rows():
        return table.slice(0, 0)
    return to_table(kept.columns(), schema, type(table), table.columns)


def _by_values(
    compute: Callable[..., Any],
    given: dict[int, Any],
    name: str,
    values: Any,
    types: Any,
    kept: Any,
) -> Any:
    """The answer of a function; of dictionaries in columns of the table by their values."""
    if name in BY_VALUE or name == "cast":
        values, types = list(values), list(types)
        for place, (value, kind) in enumerate(zip(values, types, strict=True)):
            if _is.is_dictionary(kind) and id(value) in given:
                types[place] = kind.value_type
                values[place] = decoded(value, dictionary_of(given[id(value)]))
    return compute(name, values, types, kept)


_results = Cache(256)


def _result_of(original: _Original, *arguments: Any, **options: Any) -> Any:
    """What pyarrow's function makes of tables without rows, which takes it half a millisecond."""
    return _results.get(
        lambda: original(*arguments, **options),
        original.__name__,
        *(it.schema if isinstance(it, pa.Table) else it for it in arguments),
        *options.items(),
    )


#: By name: libcudf's aggregation of the values that are not null, and what it needs of their types.
_AGGREGATIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "hash_sum": (lambda _: plc.aggregation.sum(), f"{NUMBERS} decimal"),
    "hash_product": (lambda _: plc.aggregation.product(), NUMBERS),
    "hash_mean": (lambda _: plc.aggregation.mean(), "float decimal"),
    "hash_min": (lambda _: plc.aggregation.min(), SIMPLE),
    "hash_max": (lambda _: plc.aggregation.max(), SIMPLE),
    "hash_variance": (lambda it: plc.aggregation.variance(it["ddof"]), NUMBERS),
    "hash_stddev": (lambda it: plc.aggregation.std(it["ddof"]), NUMBERS),
    "hash_count": (plc.aggregation.count, f"{ANY} view"),
    "hash_count_distinct": (plc.aggregation.nunique, f"{KEYS} view"),
    "hash_any": (lambda _: plc.aggregation.max(), "bool"),
    "hash_all": (lambda _: plc.aggregation.min(), "bool"),
}

#: By pyarrow's number for what it counts: the rules of counts, of which the first is subtracted if
#: there are two.
_COUNTED = {0: [_Nulls.EXCLUDE], 1: [_Nulls.EXCLUDE, _Nulls.INCLUDE], 2: [_Nulls.INCLUDE]}
_ALL_ROWS = plc.aggregation.count(_Nulls.INCLUDE)


def group_by(
    original: _Original, table: Any, aggregates: Any, keys: Any, use_threads: bool = True
) -> Any:
    """The groups come in no order, or without threads in that of their first rows."""
    empty = table.schema.empty_table()
    nothing = _result_of(original, empty, aggregates, keys, use_threads=use_threads)
    schema = nothing.schema
    keys = [keys] if isinstance(keys, str) else list(keys or ())
    need(len(set(keys)) == len(keys), "not by one key twice")
    if not keys:
        return _of_whole_columns(table, aggregates, schema) if aggregates else nothing
    if not len(table):
        return schema.empty_table().copy_to(_native._here().memory_manager)
    used = dict.fromkeys([*keys, *(target[0] for target, *_ in aggregates if target)])
    _need_names(table.schema, used)
    _need_kinds(pa.schema([table.schema.field(key) for key in keys]), f"{KEYS} null view")
    columns = dict(zip(used, _columns(table, used).columns(), strict=True))
    wanted = [
        _Aggregate(columns, table.schema, keys[0], each, kind)
        for each, kind in zip(aggregates, schema.types[len(keys) :], strict=True)
    ]
    by = plc.Table([op.keys_of(columns[key]) for key in keys])
    # A column that several aggregations read is grouped once.
    requests: dict[Any, list[Any]] = {}
    for each in wanted:
        each.place = len(requests.setdefault(each.source, []))
        requests[each.source] += each.aggregations
    values = {each.source: each.values for each in wanted}
    asked = [plc.groupby.GroupByRequest(values[it], each) for it, each in requests.items()]
    views = [key for key in keys if kind_of(table.schema.field(key).type) == "view"]
    if views or not use_threads:
        numbers = op.counter(len(table))
        asked.append(plc.groupby.GroupByRequest(numbers, [plc.aggregation.min()]))
    elif not asked:
        asked.append(plc.groupby.GroupByRequest(columns[keys[0]], [_ALL_ROWS]))
    groups, found = plc.groupby.GroupBy(by, _Nulls.INCLUDE).aggregate(asked)
    results = dict(zip(requests, found, strict=False))
    rest = [each.result(results[each.source].columns()) for each in wanted]
    # pyarrow has put the keys first, in its order.
    by_name = {
        key: op.same_bits(column, columns[key].type())
        for key, column in zip(keys, groups.columns(), strict=True)
    }
    likes = {key: table.column(key) for key in keys}
    for key in views:
        by_name[key], likes[key] = rows_of_views(likes[key], op.one(found[-1]))
    names = schema.names[: len(keys)]
    made = [*(by_name[name] for name in names), *rest]
    if not use_threads:
        order = op.order_of([(op.one(found[-1]), False, False)], is_float=[False])
        made = op.gathered(plc.Table(made), order).columns()
    return to_table(made, schema, likes=[*map(likes.get, names), *(None for _ in rest)])


def _of_whole_columns(table: Any, aggregates: Any, schema: pa.Schema) -> Any:
    """One row, with the results of pyarrow's functions of whole columns."""
    _need_names(table.schema, [target[0] for target, *_ in aggregates if target])
    found = []
    for (target, name, options, _), kind in zip(aggregates, schema.types, strict=True):
        need(len(target) == (name != "count_all"), f"not {name} without keys")
        value = pc.call_function(name, [table[target[0]]], options) if target else len(table)
        found.append(pa.array([value], kind))
    row = pa.Table.from_arrays(found, schema=schema)
    return row.copy_to(_native._here().memory_manager)


class _Aggregate:
    """One of the results of a grouping: what libcudf is asked for, and what is made of it."""

    def __init__(
        self, columns: Any, schema: pa.Schema, any_key: str, wanted: Any, kind: pa.DataType
    ) -> None:
        target, name, options, _ = wanted
        self.kind, self.least, self.place = kind, 0, 0
        #: Makes the result of those of two aggregations.
        self.of_two: Callable[[Any, Any], Any] | None = None
        #: Names the values among those of the other results.
        self.source: Any = target[0] if target else any_key
        self.values = columns[self.source]
        if not target and name == "hash_count_all":
            self.aggregations, self.nothing = [_ALL_ROWS], None
            return
        need(len(target) == 1 and name in _AGGREGATIONS, f"not with {name}")
        make, kinds = _AGGREGATIONS[name]
        given = schema.field(self.source).type
        need(kind_of(given) in kinds.split(), f"not {name} of type {given}")
        _, decoded = options_of(pc.get_function(name), options)
        is_spread, is_float = name in ("hash_variance", "hash_stddev"), _is.is_floating(given)
        if is_spread:
            need(decoded["ddof"] >= 0, "not with such degrees of freedom")
            is_exact = op.are_finite if is_float else partial(op.are_within, most=EXACT[kind])
            need(is_exact(self.values), f"not {name} with NaN, infinity or large integers")
        elif name in ("hash_min", "hash_max") and is_float:
            need(not op.has_nan(self.values), f"not {name} with NaN")
            need_no_negative_zero(self.values)
        if is_spread or name in ("hash_sum", "hash_product", "hash_mean"):
            if cudf_type(given) != cudf_type(kind):
                self.source = self.source, kind
            self.values = op.cast(self.values, cudf_type(kind))
        elif name == "hash_count_distinct" and is_float:
            self.source, self.values = (self.source, "bits"), op.keys_of(self.values)
        rules: list[Any] = [decoded]
        if name in ("hash_count", "hash_count_distinct"):
            need("mode" in decoded, f"not {name} with options of another function")
            rules = _COUNTED[decoded["mode"]]
        self.aggregations = [*map(make, rules)]
        self.least = decoded.get("min_count", 0)
        # libcudf's result of no values is null.
        self.nothing = None if self.least else _OF_NOTHING.get(name)
        need(decoded.get("skip_nulls", True) or not self.values.null_count(), "not with nulls")
        # pyarrow itself asks for no number of values there.
        need(self.least <= 1 or name not in ("hash_min", "hash_max"), f"not {name} with min_count")
        if name == "hash_mean" and _is.is_decimal(kind):
            need(op.have_exact_sum(self.values, given), f"not {name} of so large decimals")
            self.aggregations, self.nothing, self.of_two = [plc.aggregation.sum()], None, self._mean
        elif len(rules) == 2:
            self.of_two = self._difference
        if self.of_two == self._mean or self.least > 1:
            self.aggregations.append(plc.aggregation.count(_Nulls.EXCLUDE))
        if is_spread:
            # Has libcudf sort the groups: without, it sums squares, whose digits cancel.
            self.aggregations.append(plc.aggregation.nunique(_Nulls.EXCLUDE))

    def result(self, found: Any) -> Any:
        result = op.cast(found[self.place], cudf_type(self.kind))
        if self.of_two is not None:
            result = self.of_two(result, found[self.place + 1])
        if self.nothing is not None and result.null_count():
            result = op.filled(result, op.scalar(self.nothing, self.kind))
        if self.least <= 1:
            return result
        is_less = op.binary("LESS", found[self.place + 1], op.scalar(self.least, pa.int32()))
        return op.null_where(is_less, result)

    def _difference(self, valid: Any, every: Any) -> Any:
        return op.on_int64("SUB", op.cast(every, op.INT64), valid)

    def _mean(self, total: Any, count: Any) -> Any:
        """Of decimals: rounded half away from zero, where libcudf's own would be truncated."""
        if not self.least and op.is_anywhere(op.binary("EQUAL", count, op.scalar(0, pa.int32()))):
            raise pa.ArrowInvalid("Division by 0 in Decimal")
        scale = self.kind.scale
        longer = cudf_type(pa.decimal128(38, scale + 1))
        quotient = op.binary("DIV", op.cast(total, longer), op.cast(count, op.WIDE), longer)
        return plc.round.round_decimal(quotient, scale, plc.round.RoundingMethod.HALF_UP)


#: Results of aggregations without values, where these are not null.
_OF_NOTHING: dict[str, Any] = {
    "hash_sum": 0,
    "hash_product": 1,
    "hash_mean": float("nan"),
    "hash_any": False,
    "hash_all": True,
}

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
    empty = [it.schema.empty_table() if isinstance(it, pa.Table) else it for it in sides]
    options = {"coalesce_keys": coalesce_keys, **options}
    schema = _result_of(
        original, join_type, empty[0], left_keys, empty[1], right_keys, **options
    ).schema
    need(all(isinstance(it, pa.Table) for it in sides), "not with others than tables")
    need(filter_expression is None, "not with a filter")
    lists: list[Any] = [[it] if isinstance(it, str | int) else it for it in (left_keys, right_keys)]
    for table, keys in zip(sides, lists, strict=True):
        names = table.schema.names
        need(len(set(names)) == len(names), "not with columns of one name")
        _need_names(table.schema, keys)
        need(len(set(keys)) == len(lists[0]), "not by one key twice, or of one side")
    halves = [_Side(table, keys) for table, keys in zip(sides, lists, strict=True)]
    for one, other in zip(*(side.kinds for side in halves), strict=True):
        need(one == other, "not with keys of several types")
    if join_type == "full outer" and coalesce_keys:
        has_dictionary = any(side.has_dictionary for side in halves)
        need(not has_dictionary, "not with the keys of several dictionaries in one column")
    name, is_exchanged = _JOINS[join_type]
    first, second = reversed(halves) if is_exchanged else halves
    maps = getattr(plc.join, name)(first.by, second.by, plc.types.NullEquality.UNEQUAL)
    if "semi" in join_type or "anti" in join_type:
        maps = (maps, None)
    first.map, second.map = maps
    first.may_lack = join_type == "full outer"
    second.may_lack = "outer" in join_type
    columns, likes = _joined(join_type, *halves, coalesces=coalesce_keys)
    return to_table(columns, schema, likes=likes)


def _values_of(column: Any, data: Any) -> Any:
    """A column of keys: pyarrow compares the values of dictionaries."""
    if not _is.is_dictionary(data.type):
        return column
    is_float = _is.is_floating(data.type.value_type)
    need(not is_float, "not by dictionaries of floating-point numbers")
    return decoded(column, dictionary_of(data))


class _Side:
    """A table of a join."""

    def __init__(self, table: Any, keys: list[str]) -> None:
        _need_kinds(table.schema, ANY)
        # Chunks become one only once.
        self.table, self.keys = table if conversion_of(table) else on_device(table), keys
        fields = [table.schema.field(key) for key in keys]
        _need_kinds(pa.schema(fields), KEYS)
        columns = map(
            _values_of, _columns(self.table, keys).columns(), map(self.table.column, keys)
        )
        self.by = plc.Table([*map(op.keys_of, columns)])
        self.has_dictionary = any(_is.is_dictionary(field.type) for field in fields)
        self.kinds = [
            it.type.value_type if _is.is_dictionary(it.type) else it.type for it in fields
        ]
        #: The numbers of the rows of the result, of which those that are too large are null.
        self.map: Any = None
        self.may_lack = False

    def rows(self, names: list[str]) -> dict[str, Any]:
        if self.map is None or not names:
            return {}
        table = _columns(self.table, names)
        rows = op.gathered(table, self.map, may_lack=self.may_lack)
        return dict(zip(names, rows.columns(), strict=True))


def _joined(
    join_type: str, left: _Side, right: _Side, *, coalesces: bool
) -> tuple[list[Any], list[Any]]:
    """The columns of the result, and those of the tables."""
    lefts, rights = (side.table.schema.names for side in (left, right))
    if coalesces and join_type in ("inner", "left outer"):
        rights = [name for name in rights if name not in right.keys]
    elif coalesces and join_type == "right outer":
        lefts = [name for name in lefts if name not in left.keys]
    from_left, from_right = left.rows(lefts), right.rows(rights)
    if coalesces and join_type == "full outer":
        for one, other in zip(left.keys, right.keys, strict=True):
            from_left[one] = op.filled(from_left[one], from_right.pop(other))
    likes = [*map(left.table.column, from_left), *map(right.table.column, from_right)]
    return [*from_left.values(), *from_right.values()], likes
