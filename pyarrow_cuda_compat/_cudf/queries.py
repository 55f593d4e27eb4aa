"""Tables on a device: filters by expressions, groups and joins.

`group_by` and `join` take pyarrow's own function, and its arguments.
"""

from __future__ import annotations

import re
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
from .columns import on_device, table_of, to_table
from .conversions import conversion_of
from .evaluation import Evaluation
from .expressions import fields_of, serialized
from .functions.casts import EXACT
from .functions.comparisons import need_no_negative_zero
from .refusals import need
from .types import ANY, NUMBERS, SIMPLE, TIMES, cudf_type, kind_of

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


def _columns(table: Any, places: Iterable[int]) -> Any:
    """Some columns of a table as libcudf's."""
    if conversion_of(table) is None:
        return table_of(table.select(list(places)))
    columns = table_of(table).columns()
    return plc.Table([columns[place] for place in places])


def filter_table(compute: Callable[..., Any], table: Any, expression: Any) -> Any:
    """The rows where an expression is true, whose functions `compute` answers for columns."""
    schema = table.schema
    _need_kinds(schema, ANY)
    every = table_of(table)
    mask = Evaluation(every.columns(), schema, compute).of(expression)
    if isinstance(mask, pa.Scalar):
        return table.slice(0, len(table) if mask.as_py() else 0)
    kept = op.kept(every, mask)
    if not kept.num_rows():
        return table.slice(0, 0)
    return to_table(kept.columns(), schema, type(table))


_results = Cache(256)


def _result_of(original: _Original, *arguments: Any, **options: Any) -> Any:
    """What pyarrow's function makes of tables without rows, which takes it half a millisecond."""
    named = options.items()
    return _results.get(
        lambda: original(*arguments, **options),
        original.__name__,
        *(it.schema if isinstance(it, pa.Table) else it for it in arguments),
        *((name, serialized(it) if isinstance(it, pc.Expression) else it) for name, it in named),
    )


_EXTREMES = f"bool {NUMBERS} decimal string {TIMES}"
#: By name: libcudf's aggregation of the values that are not null, and what it needs of their types.
_AGGREGATIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "hash_sum": (lambda _: plc.aggregation.sum(), f"{NUMBERS} decimal"),
    "hash_product": (lambda _: plc.aggregation.product(), NUMBERS),
    "hash_mean": (lambda _: plc.aggregation.mean(), "float decimal"),
    "hash_min": (lambda _: plc.aggregation.min(), _EXTREMES),
    "hash_max": (lambda _: plc.aggregation.max(), _EXTREMES),
    "hash_variance": (lambda it: plc.aggregation.variance(it["ddof"]), NUMBERS),
    "hash_stddev": (lambda it: plc.aggregation.std(it["ddof"]), NUMBERS),
    "hash_count": (plc.aggregation.count, ANY),
    "hash_count_distinct": (plc.aggregation.nunique, SIMPLE),
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
    if not keys:
        return _of_whole_columns(table, aggregates, schema) if aggregates else nothing
    if not len(table):
        return schema.empty_table().copy_to(_native._here().memory_manager)
    keys = [_place(table.schema, key) for key in keys]
    targets = [_place(table.schema, target[0]) if target else keys[0] for target, *_ in aggregates]
    _need_kinds(pa.schema([table.schema.field(key) for key in keys]), SIMPLE)
    used = dict.fromkeys([*keys, *targets])
    columns = dict(zip(used, _columns(table, used).columns(), strict=True))
    wanted = [
        _Aggregate(columns, table.schema, place, each, kind)
        for place, each, kind in zip(targets, aggregates, schema.types[len(keys) :], strict=True)
    ]
    by = plc.Table([op.keys_of(columns[key]) for key in keys])
    # A column that several aggregations read is grouped once.
    requests: dict[Any, list[Any]] = {}
    for each in wanted:
        each.place = len(requests.setdefault(each.source, []))
        requests[each.source] += each.aggregations
    values = {each.source: each.values for each in wanted}
    asked = [plc.groupby.GroupByRequest(values[it], each) for it, each in requests.items()]
    if not use_threads:
        numbers = op.counter(len(table))
        asked.append(plc.groupby.GroupByRequest(numbers, [plc.aggregation.min()]))
    elif not asked:
        asked.append(plc.groupby.GroupByRequest(columns[keys[0]], [_ALL_ROWS]))
    groups, found = plc.groupby.GroupBy(by, _Nulls.INCLUDE).aggregate(asked)
    results = dict(zip(requests, found, strict=False))
    rest = [each.result(results[each.source].columns()) for each in wanted]
    made = [
        op.same_bits(column, columns[key].type())
        for key, column in zip(keys, groups.columns(), strict=True)
    ]
    made += rest
    if not use_threads:
        order = op.order_of([(op.one(found[-1]), False, False)], is_float=[False])
        made = op.gathered(plc.Table(made), order).columns()
    return to_table(made, schema)


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


class _Aggregate:
    """One of the results of a grouping: what libcudf is asked for, and what is made of it."""

    def __init__(
        self, columns: Any, schema: pa.Schema, place: int, wanted: Any, kind: pa.DataType
    ) -> None:
        target, name, options, _ = wanted
        self.kind, self.least, self.place = kind, 0, 0
        #: Makes the result of those of two aggregations.
        self.of_two: Callable[[Any, Any], Any] | None = None
        #: Names the values among those of the other results.
        self.source: Any = place
        self.values = columns[self.source]
        if not target and name == "hash_count_all":
            self.aggregations, self.nothing = [_ALL_ROWS], None
            return
        need(len(target) == 1 and name in _AGGREGATIONS, f"not with {name}")
        make, kinds = _AGGREGATIONS[name]
        given = schema.field(place).type
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
    empty = [it.schema.empty_table() if isinstance(it, pa.Table) else it for it in sides]
    options = {"coalesce_keys": coalesce_keys, "filter_expression": filter_expression, **options}
    schema = _result_of(
        original, join_type, empty[0], left_keys, empty[1], right_keys, **options
    ).schema
    need(all(isinstance(it, pa.Table) for it in sides), "not with others than tables")
    lists = [[*it] if isinstance(it, list | tuple) else [it] for it in (left_keys, right_keys)]
    halves = [_Side(table, keys) for table, keys in zip(sides, lists, strict=True)]
    for one, other in zip(*(side.kinds for side in halves), strict=True):
        need(one == other, "not with keys of several types")
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
    columns = _joined(join_type, *halves, coalesces=coalesce_keys)
    return to_table(columns, schema)


class _Side:
    """A table of a join."""

    def __init__(self, table: Any, keys: list[Any]) -> None:
        _need_kinds(table.schema, ANY)
        # Chunks become one only once.
        self.table, self.keys = table if conversion_of(table) else on_device(table), keys
        self.schema = table.schema
        places = [_place(table.schema, key) for key in keys]
        fields = [table.schema.field(place) for place in places]
        _need_kinds(pa.schema(fields), SIMPLE)
        self.kinds = [field.type for field in fields]
        self.by = plc.Table([*map(op.keys_of, _columns(self.table, places).columns())])
        #: The numbers of the rows of the result, of which those that are too large are null.
        self.map: Any = None
        self.may_lack = False

    def names(self) -> list[str]:
        names: list[str] = self.schema.names
        return names

    def rows(self, places: list[int]) -> list[Any]:
        if self.map is None or not places:
            return []
        table = _columns(self.table, places)
        return list(op.gathered(table, self.map, may_lack=self.may_lack).columns())


def _filtered_pairs(
    compute: Callable[..., Any], first: _Side, second: _Side, expression: Any
) -> list[Any]:
    """The numbers of the rows of both sides that have equal keys, and for which it is true."""
    pairs = plc.join.inner_join(first.by, second.by, plc.types.NullEquality.UNEQUAL)
    if not pairs[0].size():
        return list(pairs)
    used, columns, fields = fields_of(expression), [], []
    for side, rows in zip((first, second), pairs, strict=True):
        # pyarrow refuses names of several columns.
        places = [place for place, name in enumerate(side.names()) if name in used]
        fields += [side.schema.field(place) for place in places]
        if places:
            columns += op.gathered(_columns(side.table, places), rows).columns()
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


def _joined(join_type: str, left: _Side, right: _Side, *, coalesces: bool) -> list[Any]:
    """The columns of a result."""
    sides = left, right
    if not coalesces:
        return [each for side in sides for each in side.rows([*range(len(side.names()))])]
    # pyarrow looks up the names of columns as it looks up those of keys.
    lefts, rights = (side.names() for side in sides)
    if join_type in ("inner", "left outer"):
        rights = [name for name in rights if name not in right.keys]
    elif join_type == "right outer":
        lefts = [name for name in lefts if name not in left.keys]
    from_left, from_right = (
        side.rows([_place(side.schema, name) for name in names] if side.map else [])
        for side, names in zip(sides, (lefts, rights), strict=True)
    )
    if "full" not in join_type:
        return [*from_left, *from_right]
    for place, name in enumerate(lefts):
        if name in left.keys:
            # Of a key that is there twice, the last one counts.
            last = len(left.keys) - 1 - left.keys[::-1].index(name)
            other = from_right[rights.index(right.keys[last])]
            from_left[place] = op.filled(from_left[place], other)
    pairs = zip(rights, from_right, strict=True)
    return [*from_left, *(column for name, column in pairs if name not in right.keys)]
