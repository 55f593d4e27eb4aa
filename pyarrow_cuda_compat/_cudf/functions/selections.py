"""Rows that are selected, sorted, distinct or encoded; lists and structs."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call, rows_of
from ..columns import rows_of_views, to_arrow, to_cudf
from ..registry import kernel
from ..types import ANY, KEYS, NUMBERS, SIMPLE, cudf_type, kind_of
from .casts import decoded
from .comparisons import need_no_negative_zero, places_in

_is = pa.types
_UINT64 = plc.DataType(plc.TypeId.UINT64)
_UNSIGNED = {
    getattr(plc.TypeId, f"INT{bits}"): plc.DataType(getattr(plc.TypeId, f"UINT{bits}"))
    for bits in (8, 16, 32, 64)
}


def _as_table(value: Any) -> Any:
    return value if isinstance(value, plc.Table) else plc.Table([value])


def _table_or_column(call: Call, table: Any) -> Any:
    """The table if the first argument was one; else its only column."""
    return table if isinstance(call.value, plc.Table) else op.one(table)


@kernel(ANY, "bool", elementwise=True, filter_=(), array_filter=())
def filter_rows(call: Call) -> Any:
    values, mask = call.values
    call.need(isinstance(mask, plc.Column), "not by one value for all rows")
    if not mask.null_count() or call.options["null_selection_behavior"] == 0:
        return _table_or_column(call, op.kept(_as_table(values), mask))
    # An index after the last row gives a row of nulls.
    out_of_range = op.scalar(mask.size(), pa.int32())
    indices = op.choose(op.is_valid(mask), op.counter(mask.size()), out_of_range)
    indices = op.one(op.kept(plc.Table([indices]), op.filled(mask, op.scalar(True))))
    return _table_or_column(call, op.gathered(_as_table(values), indices, may_lack=True))


@kernel(ANY, "int", elementwise=False, take=(), array_take=())
def take(call: Call) -> Any:
    values, indices = call.values
    call.need(isinstance(indices, plc.Column), "not of one row")
    size = rows_of(values)
    call.need(size, "not of no rows")
    has_null = indices.null_count() > 0
    if not 0 < call.upper_bounds[1] <= size:
        _check_bounds(indices, size)
    if has_null:
        indices = op.filled(op.cast(indices, op.INT64), op.scalar(size, pa.int64()))
    return _table_or_column(call, op.gathered(_as_table(values), indices, may_lack=has_null))


def _check_bounds(indices: Any, size: int) -> None:
    if indices.size() == indices.null_count():
        return
    # Without a sign, negative numbers are larger than all others.
    unsigned = op.same_bits(indices, _UNSIGNED.get(indices.type().id(), indices.type()))
    if op.reduced(unsigned, plc.aggregation.max()).to_py() >= size:
        lowest, highest = (each.to_py() for each in plc.reduce.minmax(indices))
        found = highest if 0 <= lowest < size else lowest
        raise pa.lib.ArrowIndexError(f"Index {found} out of bounds")


@kernel(ANY)
def drop_null(call: Call) -> Any:
    return _table_or_column(call, op.without_nulls(_as_table(call.value).columns()))


@kernel(f"bool {NUMBERS}")
def indices_nonzero(call: Call) -> Any:
    (value,) = call.values
    if not _is.is_boolean(call.given):
        value = op.binary("NOT_EQUAL", value, op.scalar(0, call.given))
    return op.cast(op.places(value), _UINT64)


#: pyarrow's numbers for the descending order, and for nulls at the start.
_DESCENDS, _AT_START = 1, 0


def _sort_keys(call: Call) -> list[tuple[Any, int, bool, pa.DataType]]:
    """For each key in the options: its column, order, whether nulls come first, and type."""
    value, options = call.value, call.options
    keys = options.get("sort_keys") or []
    if not isinstance(value, plc.Table):
        key = keys[0] if keys else {"order": 0, **options}
        if _is.is_dictionary(call.given):
            is_float = _is.is_floating(call.given.value_type)
            call.need(not is_float, "not of dictionaries of floating-point numbers")
            value = decoded(value, call.array(0).dictionary)
        else:
            call.need(kind_of(call.given) in SIMPLE.split(), f"not of type {call.given}")
        return [(value, key["order"], _nulls_first(key, options), call.given)]
    schema = call.array(0).schema
    return [_sort_key(call, schema, value, key, options) for key in keys]


def _sorted_order(call: Call) -> Any:
    """The numbers of the rows in the order of the keys."""
    keys = _sort_keys(call)
    is_float = [_is.is_floating(kind) for *_, kind in keys]
    found = [(column, order == _DESCENDS, first) for column, order, first, _ in keys]
    return op.order_of(found, is_float=is_float)


def _nulls_first(key: dict[str, Any], options: dict[str, Any]) -> bool:
    placement = key.get("null_placement")
    return bool((options.get("null_placement") if placement is None else placement) == _AT_START)


def _sort_key(
    call: Call, schema: pa.Schema, table: Any, key: dict[str, Any], options: dict[str, Any]
) -> tuple[Any, int, bool, pa.DataType]:
    place = _place(schema, key["target"])
    call.need(place >= 0, "not by such a name, which may be a path")
    kind = schema.field(place).type
    call.need(kind_of(kind) in SIMPLE.split(), f"not by keys of type {kind}")
    return table.columns()[place], key["order"], _nulls_first(key, options), kind


def _top_level_name(path: str) -> str | None:
    """The name in a path that names a field of the table itself, without escapes; else None."""
    is_name = path.startswith(".") and not any(sign in path[1:] for sign in ".[\\")
    return path[1:] if is_name else None


def _place(schema: pa.Schema, path: str) -> int:
    """The place of the column of a path that pyarrow has accepted and written without escapes.
    Such a path may lead into another column only if one has fields."""
    number = re.fullmatch(r"\[(\d+)\]", path)
    if number:
        return int(number[1])
    has_fields = any(kind.num_fields for kind in schema.types)
    name = _top_level_name(path) if has_fields else path[1:]
    place: int = -1 if name is None else schema.get_field_index(name)
    return place


@kernel(ANY, sort_indices=(), array_sort_indices=())
def sort_indices(call: Call) -> Any:
    call.result_upper_bound = call.rows
    return op.cast(_sorted_order(call), _UINT64)


#: pyarrow before 25 leaves out the rows whose first key is null or NaN, which are the last ones.
_KEEPS_NULLS = len(pc.select_k_unstable(pa.nulls(1, pa.int64()), 1, [("x", "ascending")])) > 0


#: pyarrow ends the process where it is asked for keys of other types.
@kernel(SIMPLE)
def select_k_unstable(call: Call) -> Any:
    rows = call.rows if _KEEPS_NULLS else _count_comparable(*_sort_keys(call)[0])
    return op.cast(
        plc.copying.slice(_sorted_order(call), [0, min(call.options["k"], rows)])[0], _UINT64
    )


def _count_comparable(column: Any, _order: int, _nulls_first: bool, kind: pa.DataType) -> int:
    """How many values of a key are neither null nor NaN."""
    if _is.is_floating(kind):
        column = op.one(plc.stream_compaction.drop_nans(plc.Table([column]), [0], 1))
    return int(column.size() - column.null_count())


#: Ways to rank equal values, by pyarrow's numbers.
_RANKS = ("MIN", "MAX", "FIRST", "DENSE")


@kernel(SIMPLE)
def rank(call: Call) -> Any:
    (value,) = call.values
    call.need(isinstance(value, plc.Column), "not of tables")
    options = call.options
    key = options["sort_keys"][0] if options["sort_keys"] else {"order": 0}
    descends, first = key["order"] == _DESCENDS, _nulls_first(key, options)
    if _is.is_floating(call.given):
        # NaN stands beside the nulls in both orders.
        largest = 2 ** (call.given.bit_width - 1) - 1
        value = op.order_key(value, largest if descends == first else -largest)
    order = op.Order.DESCENDING if descends else op.Order.ASCENDING
    found = plc.sorting.rank(
        value,
        getattr(plc.aggregation.RankMethod, _RANKS[options["tiebreaker"]]),
        order,
        plc.types.NullPolicy.INCLUDE,
        op.null_order(descends, first),
        False,
    )
    return op.cast(found, _UINT64)


def _distinct_rows(value: Any) -> tuple[Any, Any]:
    """The distinct values in the order of their first appearance, and the numbers of these rows."""
    table = plc.Table([value, op.counter(value.size())])
    equal = op.EQUAL, op.NANS_EQUAL
    found = plc.stream_compaction.stable_distinct(table, [0], op.FIRST, *equal)
    distinct, rows = found.columns()
    return distinct, rows


def _is_view(call: Call) -> bool:
    return bool(kind_of(call.given) == "view")


def _need_no_null_view(call: Call) -> None:
    """pyarrow takes null for the empty view."""
    call.need(not (_is_view(call) and call.value.null_count()), "not with views that are null")


@kernel(f"{KEYS} view")
def unique(call: Call) -> Any:
    _need_no_null_view(call)
    if _is_view(call):
        return rows_of_views(call.array(0), _distinct_rows(call.value)[1])[0]
    return op.first_rows(call.value)


@kernel(f"bool {NUMBERS} decimal")
def mode(call: Call) -> Any:
    value, options = op.valid(call.value), call.options
    has_nulls = call.value.null_count() and not options["skip_nulls"]
    if has_nulls or value.size() < options["min_count"] or not value.size():
        return op.counter(0)  # no rows of any type
    if _is.is_floating(call.given):
        need_no_negative_zero(value)
        call.need(not op.has_nan(value), "not with NaN")
    group = plc.groupby.GroupBy(plc.Table([value]), plc.types.NullPolicy.INCLUDE)
    count = plc.aggregation.count(plc.types.NullPolicy.INCLUDE)
    request = plc.groupby.GroupByRequest(op.counter(value.size()), [count])
    keys, (found,) = group.aggregate([request])
    keys, counts = op.one(keys), op.cast(op.one(found), op.INT64)
    order = op.order_of([(counts, True, False), (keys, False, False)], is_float=[False, False])
    table = op.gathered(plc.Table([keys, counts]), order).columns()
    last = min(options["n"], keys.size())
    columns = [plc.copying.slice(column, [0, last])[0] for column in table]
    fields = zip(columns, call.type, strict=True)
    return _struct_array(call, [to_arrow(column, field.type) for column, field in fields])


@kernel(SIMPLE)
def run_end_encode(call: Call) -> Any:
    (value,) = call.values
    kind = call.type.run_end_type
    most = 2 ** (kind.bit_width - 1) - 1
    if call.rows > most:
        text = "Cannot run-end encode Arrays with more elements than the run end type can hold"
        raise pa.ArrowInvalid(f"{text}: {most}")
    starts = op.places(_differs_from_last(op.keys_of(value)))
    values = op.one(op.gathered(plc.Table([value]), starts))
    rest = plc.copying.slice(starts, [1, starts.size()])[0]
    end = plc.Column.from_scalar(op.scalar(call.rows, pa.int32()), 1)
    ends = op.cast(plc.concatenate.concatenate([rest, end]), cudf_type(kind))
    parts = [to_arrow(ends, kind), to_arrow(values, call.given)]
    return pa.Array.from_buffers(call.type, call.rows, [None], 0, 0, parts)


def _differs_from_last(value: Any) -> Any:
    """Whether each row has another value than the row before it.  Null is a value."""
    nothing = plc.Column.all_null_like(value, 1).to_scalar()
    last = plc.copying.shift(value, 1, nothing)
    differs = op.filled(op.binary("NOT_EQUAL", value, last), op.scalar(True))
    if value.null_count():
        are_null = op.binary("LOGICAL_AND", *map(plc.unary.is_null, (value, last)))
        differs = op.binary("LOGICAL_AND", differs, op.invert(are_null))
    is_first = op.binary("EQUAL", op.counter(value.size()), op.scalar(0, pa.int32()))
    return op.binary("LOGICAL_OR", differs, is_first)


@kernel("runs")
def run_end_decode(call: Call) -> Any:
    return call.value


_SLICE = pa.array([True, False]).slice(1)
#: pyarrow 21 takes other bits than those of slices.
_MIXES_UP_BITS = pc.replace_with_mask(_SLICE, pa.array([True]), _SLICE)[0].as_py()


@kernel(SIMPLE, "bool", SIMPLE, elementwise=False)
def replace_with_mask(call: Call) -> Any:
    value, mask, wanted = call.values
    is_mixed_up = _MIXES_UP_BITS and _is.is_boolean(call.given)
    call.need(not is_mixed_up, "not of booleans, whose slices this pyarrow mixes up")
    call.need(call.types[2] == call.given, "not by values of another type")
    mask = op.column_of(mask, value.size())
    if mask.size() != value.size():
        sizes = f"expected {value.size()} items but got {mask.size()} items"
        raise pa.ArrowInvalid(f"Mask must be of same length as array ({sizes})")
    if not value.size():
        return value
    is_replaced = op.filled(mask, op.scalar(False))
    if isinstance(wanted, plc.Column):
        wanted = _spread(is_replaced, wanted)
    found = value if wanted is None else op.choose(is_replaced, wanted, value)
    return op.null_where(plc.unary.is_null(mask), found) if mask.null_count() else found


def _spread(mask: Any, values: Any) -> Any:
    """The values one after the other, where a mask is true; None if it is so nowhere."""
    sums = op.cast(mask, op.INT32)
    ranks = plc.reduce.scan(sums, plc.aggregation.sum(), plc.reduce.ScanType.INCLUSIVE)
    count = plc.copying.get_element(ranks, ranks.size() - 1).to_py()
    if count > values.size():
        sizes = f"expected {count} items but got {values.size()} items"
        raise pa.ArrowInvalid(f"Replacement array must be of appropriate length ({sizes})")
    if not count:
        return None
    places = op.binary("SUB", ranks, op.scalar(1, pa.int32()), op.INT32)
    places = op.choose(mask, places, op.scalar(0, pa.int32()))
    return op.one(op.gathered(plc.Table([values]), places))


@kernel(f"{KEYS} view")
def value_counts(call: Call) -> Any:
    _need_no_null_view(call)
    (value,) = call.values
    group = plc.groupby.GroupBy(plc.Table([op.keys_of(value)]), plc.types.NullPolicy.INCLUDE)
    first_and_count = [plc.aggregation.min(), plc.aggregation.count(plc.types.NullPolicy.INCLUDE)]
    places = plc.groupby.GroupByRequest(op.counter(value.size()), first_and_count)
    keys, (found,) = group.aggregate([places])
    first, counts = found.columns()
    order = op.order_of([(first, False, False)], is_float=[False])
    counts = op.cast(counts, op.INT64)
    values, first, counts = op.gathered(
        plc.Table([*keys.columns(), first, counts]), order
    ).columns()
    values, like = op.same_bits(values, value.type()), None
    if _is_view(call):
        values, like = rows_of_views(call.array(0), first)
    elif _is.is_dictionary(call.given):
        like = call.array(0)
    types = [field.type for field in call.type]
    arrays = map(to_arrow, (values, counts), types, (like, None))
    return _struct_array(call, [*arrays])


def _struct_array(call: Call, arrays: list[Any]) -> Any:
    return pa.Array.from_buffers(call.type, len(arrays[0]), [None], 0, 0, arrays)


#: Null is a value of the dictionary, or its indices are null: pyarrow's numbers.
_ENCODE, _MASK = 0, 1


@kernel(f"{KEYS} view")
def dictionary_encode(call: Call) -> Any:
    (value,) = call.values
    if call.given == call.type:
        return call.array(0)
    nulls = call.options.get("null_encoding_behavior", call.options.get("null_encoding"))
    if _is_view(call):
        return _encoded_views(call, nulls)
    distinct = op.first_rows(value)
    if nulls == _MASK:
        distinct = op.valid(distinct)
    found = places_in(op.keys_of(distinct), op.keys_of(value))
    if nulls == _ENCODE and value.null_count():
        null = plc.copying.get_element(op.places(plc.unary.is_null(distinct)), 0)
        found = op.filled(found, null)
    return _dictionary_array(call, found, to_arrow(distinct, call.given))


def _encoded_views(call: Call, nulls: Any) -> Any:
    if nulls == _ENCODE:
        _need_no_null_view(call)
    distinct, rows = op.without_nulls(_distinct_rows(call.value)).columns()
    views, like = rows_of_views(call.array(0), rows)
    found = places_in(distinct, call.value)
    return _dictionary_array(call, found, to_arrow(views, call.given, like))


def _dictionary_array(call: Call, places: Any, values: Any) -> Any:
    places = to_arrow(places, pa.int32())
    return pa.DictionaryArray.from_buffers(
        call.type, len(places), places.buffers(), values, places.null_count, places.offset
    )


_LISTS = "list large_list fixed_list"


@kernel(_LISTS)
def list_flatten(call: Call) -> Any:
    value, kind = call.value, call.given
    while kind_of(kind) in _LISTS.split() and value.size():
        value = op.valid(value).list_view().get_sliced_child()  # null may have elements
        kind = kind.field(0).type if call.options.get("recursive") else pa.null()
    return value


@kernel(_LISTS, "int")
def list_element(call: Call) -> Any:
    value, place = call.values
    call.need(isinstance(place, plc.Scalar), "not with several indices")
    place = place.to_py()
    call.need(place is None or place < 2**31, "not such an index")
    lengths = plc.lists.count_elements(value)
    if place is None or place < 0:
        limits = "greater than or equal to 0"
    elif op.is_anywhere(op.binary("LESS_EQUAL", lengths, op.scalar(place, pa.int32()))):
        limits = "in [0, length)"
    else:
        return plc.lists.extract_list_element(value, place)
    raise pa.ArrowInvalid(f"Index {place} is out of bounds: should be {limits}")


@kernel("struct")
def struct_field(call: Call) -> Any:
    value, valid = call.array(0), None
    for place in _places_in(call, value.type):
        if value.null_count:
            mask = op.is_valid(to_cudf(value))
            valid = mask if valid is None else op.binary("LOGICAL_AND", valid, mask)
        value = value.field(place)
    return value if valid is None else op.null_where(op.invert(valid), to_cudf(value))


#: A path is made of names and numbers, without signs for the names' own dots.
_PATH = re.compile(r"(?:\.[^.\[\\]+|\[[0-9]+\])+")
_STEPS = re.compile(r"\.([^.\[\\]+)|\[([0-9]+)\]")


def _places_in(call: Call, kind: pa.DataType) -> list[int]:
    """The number of a field in each struct on the way to it."""
    path, found = call.options["field_ref"], []
    if number := re.fullmatch(r"\[(\d+)\]", path):  # which no name is written as
        return [int(number[1])]
    call.need(_PATH.fullmatch(path), "not by such a path")
    for name, number in _STEPS.findall(path):
        is_plain = not any({*".[\\"} & {*field.name} for field in kind)
        call.need(is_plain, "not in structs with such names")
        place = int(number) if number else kind.get_field_index(name)
        call.need(place >= 0, "not by a name that several fields have")
        found.append(place)
        kind = kind.field(place).type
    return found


@kernel(ANY)
def make_struct(call: Call) -> Any:
    call.need(all(isinstance(it, plc.Column) for it in call.values), "not with scalars")
    may_be_null = zip(call.values, call.options["field_nullability"], strict=False)
    call.need(all(null or not it.null_count() for it, null in may_be_null), "not with such nulls")
    return _struct_array(call, [call.array(place) for place in range(len(call.values))])
