"""Arguments and options at random for the functions that libcudf answers."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

TYPES: dict[str, list[pa.DataType]] = {
    "bool": [pa.bool_()],
    "int": [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)],
    "float": [pa.float32(), pa.float64()],
    "decimal": [*(pa.decimal128(*it) for it in ((9, 2), (15, 4), (18, 6), (30, 2), (38, 0)))],
    "string": [pa.string()],
    "large_string": [pa.large_string()],
    "binary": [pa.binary()],
    "large_binary": [pa.large_binary()],
    "view": [pa.string_view(), pa.binary_view()],
    "date": [pa.date32()],
    "date64": [pa.date64()],
    "clock": [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")],
    "time": [
        *map(pa.timestamp, ("s", "ms", "us", "ns")),
        pa.timestamp("us", "UTC"),
        pa.timestamp("s", "Asia/Tokyo"),
        *(pa.timestamp(unit, "Europe/Paris") for unit in ("us", "ns")),
        pa.timestamp("s", "America/St_Johns"),
    ],
    "duration": [*map(pa.duration, ("s", "ms", "us", "ns"))],
    "bits": [
        pa.float16(),
        *map(pa.binary, (1, 2, 4, 8, 16)),
        pa.month_day_nano_interval(),
        *(getattr(pa, name)(7, 2) for name in ("decimal32", "decimal64") if hasattr(pa, name)),
    ],
    "null": [pa.null()],
    "list": [*map(pa.list_, (pa.int32(), pa.string(), pa.large_string(), pa.time64("us")))],
    "large_list": [pa.large_list(pa.int32()), pa.large_list(pa.large_string())],
    "fixed_list": [pa.list_(pa.int32(), 2), pa.list_(pa.string(), 3)],
    "map": [pa.map_(pa.string(), pa.int32())],
    "extension": [pa.uuid(), pa.json_(), pa.opaque(pa.list_(pa.binary()), "a", "b")],
    "struct": [
        pa.struct([("a", pa.int32()), ("b", pa.string())]),
        pa.struct([("a", pa.large_binary()), ("b", pa.list_(pa.binary(4)))]),
    ],
    "dictionary": [
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
        pa.dictionary(pa.int32(), pa.int64()),
        pa.dictionary(pa.int32(), pa.float64()),
    ],
    "runs": [
        pa.run_end_encoded(pa.int16(), pa.int64()),
        pa.run_end_encoded(pa.int32(), pa.string()),
    ],
}
#: By their width: numbers whose bits are those of values of other types.
NUMBERS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64(), 128: pa.decimal128(38)}
WORDS = [
    "",
    "a",
    "b",
    "Ab",
    "ab",
    "aB cd",
    "x-1",
    "12",
    "-7",
    "+5",
    "007",
    " pad ",
    "\t",
    "a,b,,c",
    "aaa",
    "a\0",
    "\x1c",
]
BEYOND = ["é", "ß", "Éa", "日本", "😀x", "e\u0301", "\u00a0", "İ", "ǆ", "\u0661"]


class Maker:
    """Makes arguments at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        #: How far tame floating-point numbers are from 0: the squares of some lose their digits.
        self.far = self.pick([0, 0, 0, 1e5, -1e9])
        #: Whether there are times that calendars do not have.
        self.has_extremes = self.random.random() < 0.2

    def pick(self, values: Any) -> Any:
        return self.random.choice(list(values))

    def value(self, kind: pa.DataType, is_tame: bool) -> Any:
        r = self.random
        if pa.types.is_null(kind):
            return None
        if isinstance(kind, pa.BaseExtensionType):
            return self.value(kind.storage_type, is_tame)
        if pa.types.is_map(kind):
            words = self.pick([WORDS, WORDS[:3]])
            keys = [self.pick(words) for _ in range(self.random.randint(0, 3))]
            return [(key, self.value_or_null(kind.item_type, is_tame, 0.2)) for key in keys]
        if pa.types.is_fixed_size_list(kind):
            return [
                self.value_or_null(kind.value_type, is_tame, 0.1) for _ in range(kind.list_size)
            ]
        if pa.types.is_boolean(kind):
            return r.random() < 0.5
        if _is_of_bits(kind):
            return self.bits(kind, is_tame)
        if pa.types.is_integer(kind):
            low, high = _range(kind)
            if is_tame:
                return r.randint(max(low, -9), 9)
            return self.pick(
                [low, high, 0, 1, max(low, -1), r.randint(low, high), r.randint(0, 99)]
            )
        if pa.types.is_floating(kind):
            if is_tame:
                return self.far + r.randint(-40, 40) / 4
            wild = [
                0.0,
                -0.0,
                math.inf,
                -math.inf,
                math.nan,
                1e30,
                -1.0,
                1.0,
                r.uniform(-1e6, 1e6),
                0.5,
            ]
            return self.pick(wild)
        if pa.types.is_decimal(kind):
            most = 10 ** (kind.precision if not is_tame else 3) - 1
            return Decimal(r.randint(-most, most)).scaleb(-kind.scale, None)
        if _is_text(kind):
            return self.pick(WORDS if is_tame else WORDS + BEYOND)
        if _is_bytes(kind):
            words = [word.encode() for word in (WORDS if is_tame else WORDS + BEYOND)]
            return self.pick(words if is_tame else [*words, b"\xff", b"\xe6\x97"])
        if pa.types.is_date32(kind):
            extremes = [-(2**31), 2**31 - 1, -1, 9**7]
            return self.pick(extremes) if self.has_extremes else r.randint(-30000, 60000)
        if pa.types.is_timestamp(kind):
            # Not larger: pyarrow's checked arithmetic looks at values under nulls, too.
            extremes = [-(2**62), 2**62, 0, -1]
            return self.pick(extremes) if self.has_extremes else self.time(kind.unit)
        if pa.types.is_duration(kind):
            return r.randint(-(10**6), 10**6)
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            size = r.randint(0, 3)
            return [self.value_or_null(kind.value_type, is_tame, 0.1) for _ in range(size)]
        return {each.name: self.value_or_null(each.type, is_tame, 0.2) for each in kind}

    def bits(self, kind: pa.DataType, is_tame: bool) -> Any:
        """A number, or bytes where these make no array of numbers within others."""
        r, width = self.random, kind.bit_width
        if pa.types.is_date64(kind):
            return 86400000 * r.randint(-9 if is_tame else -30000, 9 if is_tame else 60000)
        if pa.types.is_time(kind):
            return r.randrange(9 if is_tame else 86400)
        if pa.types.is_decimal(kind):
            return r.randint(-9, 9) if is_tame else r.randint(-(10**7) + 1, 10**7 - 1)
        most = 9 if is_tame or width == 128 else 2 ** (width - 1) - 1
        return r.randint(-most, most) * (10**36 if width == 128 and not is_tame else 1)

    def time(self, unit: str) -> int:
        seconds = self.random.randint(-2 * 10**9, 4 * 10**9)
        if self.random.random() < 0.2:
            seconds -= seconds % 86400
        factor = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
        return seconds * factor + (self.random.randrange(factor) if factor > 1 else 0)

    def value_or_null(self, kind: pa.DataType, is_tame: bool, nulls: float) -> Any:
        return None if self.random.random() < nulls else self.value(kind, is_tame)

    def array(self, kind: pa.DataType, size: int, *, nulls: float | None = None) -> Any:
        """With nulls or none, tame or wild; whole, a slice, or chunks."""
        if nulls is None:
            nulls = self.pick([0, 0, 0.1, 0.4, 1.0 if self.random.random() < 0.2 else 0.2])
        is_tame = self.random.random() < 0.6
        extra = self.pick([0, 0, 3])
        if pa.types.is_dictionary(kind):
            return self.array(kind.value_type, size, nulls=nulls).dictionary_encode()
        if pa.types.is_run_end_encoded(kind):
            values = whole(self.array(kind.value_type, size + extra, nulls=nulls))
            return pc.run_end_encode(values, kind.run_end_type).slice(extra)
        stored = [self.value_or_null(kind, is_tame, nulls) for _ in range(size + extra)]
        made = _made(stored, kind).slice(extra)
        if self.random.random() < 0.2:
            cut = self.random.randint(0, size)
            return pa.chunked_array([made.slice(0, cut), made.slice(cut, 0), made.slice(cut)], kind)
        return made

    def scalar(self, kind: pa.DataType) -> Any:
        kind = _of_values(kind)
        is_null = self.random.random() < 0.1
        return _made([None if is_null else self.value(kind, self.random.random() < 0.7)], kind)[0]

    def kind(self, kinds: tuple[str, ...]) -> pa.DataType:
        return self.pick(TYPES[self.pick(kinds)])


def _of_values(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_of_bits(kind: pa.DataType) -> bool:
    """Whether arrays are made of numbers with the same bits."""
    return kind in TYPES["bits"] or pa.types.is_time(kind) or pa.types.is_date64(kind)


def _is_text(kind: pa.DataType) -> bool:
    return any(kind == each for each in (pa.string(), pa.large_string(), pa.string_view()))


def _is_bytes(kind: pa.DataType) -> bool:
    return any(kind == each for each in (pa.binary(), pa.large_binary(), pa.binary_view()))


def _made(values: list[Any], kind: pa.DataType) -> Any:
    if _is_of_bits(kind):
        return pa.array(values, NUMBERS[kind.bit_width]).view(kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        elements = [item for items in values if items is not None for item in items]
        ends = list(accumulate(len(it or ()) for it in values))
        starts = [
            None if it is None else end - len(it) for it, end in zip(values, ends, strict=True)
        ]
        cls = pa.ListArray if pa.types.is_list(kind) else pa.LargeListArray
        offsets = pa.array(
            [*starts, ends[-1] if ends else 0], cls.from_arrays([0], []).offsets.type
        )
        return cls.from_arrays(offsets, _made(elements, kind.value_type)).cast(kind)
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _made(values, kind.storage_type))
    if pa.types.is_struct(kind):
        fields = [[None if it is None else it[each.name] for it in values] for each in kind]
        parts = [_made(it, each.type) for it, each in zip(fields, kind, strict=True)]
        mask = pa.array([it is None for it in values], pa.bool_())
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=mask)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).cast(kind)
    return pa.array(values, kind)


def _range(kind: pa.DataType) -> tuple[int, int]:
    is_signed = pa.types.is_signed_integer(kind)
    bits = kind.bit_width - is_signed
    return -(2**bits) * is_signed, 2**bits - 1


#: By function: the class of its options, and what each of them may be.
_NULLS = {"skip_nulls": [True, False], "min_count": [0, 1, 3]}
_ORDERS, _ENDS = ["ascending", "descending"], ["at_end", "at_start"]
_INTERPOLATIONS = ["linear", "lower", "higher", "nearest", "midpoint"]
_HALVES = ["down", "up", "towards_zero", "towards_infinity", "to_even", "to_odd"]
_ROUNDINGS = [*_HALVES[:4], *(f"half_{each}" for each in _HALVES)]
_COUNTS = ["only_valid", "only_null", "all"]
_UNITS = [
    "nanosecond",
    "microsecond",
    "millisecond",
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
]
_PATTERNS = [
    "a",
    "b",
    "ab",
    "aa",
    "",
    "a%",
    "_b",
    "é",
    ".",
    "B",
    "\0",
    "%\\b",
    "a\\%",
    "%é_",
    "x\\",
]
_REGEXES = ["a", "a+b*", "^a", "[a-c]b", "[0-9]+", "a$", "(a|b)", "^[^a]+$", "\\d{2,3}", "\\s\\S"]
_REGEXES += [
    "a.c?|^b$",
    "(?P<x>a|,)+b",
    "\\W",
    "[^\\d\\w-]",
    "a\\.?",
    "(?:ab){1,2}$",
    "é.",
    "[b-é]",
    "A.*?b",
]
_REGEXES += ["a**", "(", "\\bA"]
_CASE = {"ignore_case": [False, False, True]}
_FEW = [None, 1, 0]
_FORMATS = ["%Y-%m-%d", "%Y%m%d", "%FT%T", "%Y-%m-%dT%H:%M:%S", "%d/%m/%Y,%H.%M", "%H:%M", "%j%y%%"]
_SLICES = {
    "stop": [None, 2, 3, 9],
    "step": [1, 1, 2, 3],
    "return_fixed_size_list": [None, None, False, True],
}
_OPTIONS: tuple[tuple[str, Any, dict[str, Any]], ...] = (
    ("sum product mean min max min_max", pc.ScalarAggregateOptions, _NULLS),
    ("first last first_last any all", pc.ScalarAggregateOptions, _NULLS),
    ("variance stddev", pc.VarianceOptions, {"ddof": [0, 1, 2], **_NULLS}),
    ("count count_distinct", pc.CountOptions, {"mode": _COUNTS}),
    (
        "quantile",
        pc.QuantileOptions,
        {"q": [[0.5], [0, 0.3, 1]], "interpolation": _INTERPOLATIONS, **_NULLS},
    ),
    ("round", pc.RoundOptions, {"ndigits": [0, 0, 1, 2, 3, -1, -2], "round_mode": _ROUNDINGS}),
    ("is_null", pc.NullOptions, {"nan_is_null": [True, False]}),
    ("max_element_wise", pc.ElementWiseAggregateOptions, {"skip_nulls": [True, False]}),
    ("min_element_wise", pc.ElementWiseAggregateOptions, {"skip_nulls": [True, False]}),
    ("filter array_filter", pc.FilterOptions, {"null_selection_behavior": ["drop", "emit_null"]}),
    ("array_sort_indices", pc.ArraySortOptions, {"order": _ORDERS, "null_placement": _ENDS}),
    ("pairwise_diff pairwise_diff_checked", pc.PairwiseOptions, {"period": [1, 2, -1, 100]}),
    ("utf8_trim utf8_ltrim utf8_rtrim", pc.TrimOptions, {"characters": ["a", "ab", " ", "é"]}),
    ("ascii_trim ascii_ltrim ascii_rtrim", pc.TrimOptions, {"characters": ["a", "ab", " "]}),
    ("utf8_lpad utf8_rpad", pc.PadOptions, {"width": [0, 3, 6, 9], "padding": ["x", " "]}),
    ("ascii_lpad ascii_rpad", pc.PadOptions, {"width": [0, 3, 6, 9], "padding": ["x", " "]}),
    (
        "utf8_center ascii_center",
        pc.PadOptions,
        {"width": [0, 3, 6, 9], "padding": ["x", " "], "lean_left_on_odd_padding": [True, False]},
    ),
    (
        "utf8_split_whitespace ascii_split_whitespace",
        pc.SplitOptions,
        {"max_splits": _FEW, "reverse": [True, False]},
    ),
    ("match_substring match_like", pc.MatchSubstringOptions, {"pattern": _PATTERNS, **_CASE}),
    ("starts_with ends_with", pc.MatchSubstringOptions, {"pattern": _PATTERNS, **_CASE}),
    ("find_substring count_substring", pc.MatchSubstringOptions, {"pattern": _PATTERNS, **_CASE}),
    ("match_substring_regex", pc.MatchSubstringOptions, {"pattern": _REGEXES, **_CASE}),
    (
        "replace_substring",
        pc.ReplaceSubstringOptions,
        {
            "pattern": ["a", "ab", "aa", "é"],
            "replacement": ["", "zz", "日"],
            "max_replacements": _FEW,
        },
    ),
    (
        "replace_substring_regex",
        pc.ReplaceSubstringOptions,
        {
            "pattern": ["a", "[a-c]", "a+b", "[0-9]+"],
            "replacement": ["", "zz"],
            "max_replacements": _FEW[:2],
        },
    ),
    (
        "split_pattern",
        pc.SplitPatternOptions,
        {"pattern": [",", "a", "ab"], "max_splits": _FEW, "reverse": [True, False]},
    ),
    ("utf8_slice_codeunits", pc.SliceOptions, {"start": [0, 1, 2], "stop": [0, 1, 3, None]}),
    (
        "utf8_replace_slice",
        pc.ReplaceSliceOptions,
        {"start": [0, 1], "stop": [1, 2, 9], "replacement": ["", "zz"]},
    ),
    (
        "binary_join_element_wise",
        pc.JoinOptions,
        {"null_handling": ["emit_null", "skip", "replace"], "null_replacement": ["?"]},
    ),
    (
        "day_of_week weeks_between",
        pc.DayOfWeekOptions,
        {"count_from_zero": [True, False], "week_start": range(1, 8)},
    ),
    ("strftime", pc.StrftimeOptions, {"format": _FORMATS}),
    (
        "strptime",
        pc.StrptimeOptions,
        {"format": _FORMATS, "unit": ["s", "ms", "us", "ns"], "error_is_null": [True, False]},
    ),
    (
        "week",
        pc.WeekOptions,
        {
            "week_starts_monday": [True, False],
            "count_from_zero": [False, False, True],
            "first_week_is_fully_in_year": [False, False, True],
        },
    ),
    (
        "floor_temporal ceil_temporal round_temporal",
        pc.RoundTemporalOptions,
        {
            "unit": _UNITS,
            "multiple": [1, 1, 1, 2, 5, 7, 100],
            "week_starts_monday": [True, False],
            "ceil_is_strictly_greater": [False, False, True],
            "calendar_based_origin": [False, False, True],
        },
    ),
    (
        "assume_timezone",
        pc.AssumeTimezoneOptions,
        {
            "timezone": ["UTC", "Europe/Paris", "America/St_Johns", "Asia/Kolkata"],
            "ambiguous": ["raise", "earliest", "latest"],
            "nonexistent": ["raise", "earliest", "latest"],
        },
    ),
    ("list_slice", pc.ListSliceOptions, {"start": [0, 1, 2], **_SLICES}),
    ("run_end_encode", pc.RunEndEncodeOptions, {"run_end_type": [pa.int16(), pa.int32()]}),
    ("mode", pc.ModeOptions, {"n": [1, 2, 5], **_NULLS}),
    ("list_flatten", pc.ListFlattenOptions, {"recursive": [False, True]}),
    ("dictionary_encode", pc.DictionaryEncodeOptions, {"null_encoding": ["mask", "encode"]}),
)


def options(name: str, maker: Maker, given: list[Any]) -> Any:
    """Options for a function with these arguments, or none."""
    special = _SPECIAL.get(name)
    if special is not None:
        return special(maker, given)
    for names, cls, each in _OPTIONS:
        if name in names.split():
            return cls(**{option: maker.pick(values) for option, values in each.items()})
    return None


def _lookup(maker: Maker, given: list[Any]) -> Any:
    own = _of_values(given[0].type)
    is_same = maker.random.random() < 0.8
    kind = own if is_same else maker.kind(("bool", "int", "float", "decimal", "string"))
    values = whole(maker.array(kind, maker.pick([0, 1, 5])))
    return pc.SetLookupOptions(values, skip_nulls=maker.pick([True, False]))


def _path(maker: Maker, given: list[Any]) -> Any:
    paths = [[0], [1], ["a"], ".b", "nowhere"]
    if given[0].type == _NESTED:
        paths += [[1, 0], ["b", "x"], ".b.x", [0, 0]]
    return pc.StructFieldOptions(maker.pick(paths))


def _lookup_of_map(maker: Maker, given: list[Any]) -> Any:
    occurrence = maker.pick(["first", "last", "all"])
    return pc.MapLookupOptions(pa.scalar(maker.pick(WORDS), given[0].type.key_type), occurrence)


def _cumulative(maker: Maker, given: list[Any]) -> Any:
    start = maker.pick([None, None, 0, 1, -3, 100, 2.5, -0.0, math.nan])
    start = start if pa.types.is_floating(given[0].type) or start in (None, 0, 1, 100) else None
    return pc.CumulativeOptions(start, skip_nulls=maker.pick([True, False]))


def _select(maker: Maker, given: list[Any]) -> Any:
    return pc.SelectKOptions(maker.pick([0, 1, 5, 100]), _sort_keys(maker, given[0]))


def _rank(maker: Maker, _: list[Any]) -> Any:
    how = maker.pick(["min", "max", "first", "dense"])
    return pc.RankOptions(_sort_keys(maker, None), tiebreaker=how, **_place(maker))


def _cast(maker: Maker, given: list[Any]) -> Any:
    kind = given[0].type
    kinds = ["bool", "int", "float", "decimal", "string", "date", "time", "duration"]
    kinds += ["large_string", "date64"]
    if _is_text(kind) or _is_bytes(kind):
        kinds = ["string", "large_string", "binary", "large_binary", "int"]
    elif pa.types.is_time(kind):
        kinds = ["clock", "clock", "int"]
    to = kind.value_type if pa.types.is_dictionary(kind) else maker.kind(tuple(kinds))
    if pa.types.is_list(kind):
        to = pa.list_(maker.pick([pa.int8(), pa.int64(), pa.float32(), pa.string(), to]))
    return (pc.CastOptions.safe if maker.random.random() < 0.6 else pc.CastOptions.unsafe)(to)


#: Older pyarrows place nulls for all keys at once.
_PLACES_BY_KEY = int(pa.__version__.split(".")[0]) >= 25


def _sort_keys(maker: Maker, data: Any) -> Any:
    names = data.column_names if isinstance(data, pa.Table | pa.RecordBatch) else [""]
    most = 1 + _PLACES_BY_KEY
    return [(name, *[maker.pick(_ORDERS), maker.pick(_ENDS)][:most]) for name in names]


def _place(maker: Maker) -> dict[str, str]:
    return {} if _PLACES_BY_KEY else {"null_placement": maker.pick(_ENDS)}


_SPECIAL: dict[str, Any] = {
    "struct_field": _path,
    "is_in": _lookup,
    "index_in": _lookup,
    "map_lookup": _lookup_of_map,
    "select_k_unstable": _select,
    **{f"cumulative_{it}": _cumulative for it in ("sum", "sum_checked", "prod", "mean")},
    **{f"cumulative_{it}": _cumulative for it in ("min", "max")},
    "rank": _rank,
    "cast": _cast,
    "sort_indices": lambda maker, given: pc.SortOptions(
        _sort_keys(maker, given[0]), **_place(maker)
    ),
    "index": lambda maker, given: pc.IndexOptions(maker.scalar(given[0].type)),
    "make_struct": lambda _, given: pc.MakeStructOptions([f"f{n}" for n in range(len(given))]),
}


def whole(array: Any) -> Any:
    """An array, of chunks, too."""
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def arguments(name: str, takes: Any, maker: Maker) -> list[Any]:
    """Those of a function; `takes` has the kinds of each."""
    size = maker.pick([0, 1, 7, 40, 40, 40])
    recipe = RECIPES.get(name)
    if recipe is not None:
        return recipe(maker, takes, size)
    arity = pc.get_function(name).arity
    count = maker.pick([1, 2, 3]) if arity is Ellipsis else arity
    same = maker.random.random() < 0.7
    first = maker.kind(takes[0])
    given: list[Any] = []
    for place in range(count):
        kinds = takes[min(place, len(takes) - 1)]
        kind = (
            first
            if place and same and _kind_in(first, kinds)
            else maker.kind(kinds)
            if place
            else first
        )
        is_scalar = count > 1 and maker.random.random() < 0.25
        given.append(maker.scalar(kind) if is_scalar else maker.array(kind, size))
    if all(isinstance(it, pa.Scalar) for it in given):
        given[0] = maker.array(given[0].type, size)
    return given


def _kind_in(kind: pa.DataType, kinds: tuple[str, ...]) -> bool:
    return any(kind in TYPES[each] for each in kinds)


def _table(maker: Maker, takes: Any, size: int) -> Any:
    columns = {
        f"c{n}": maker.array(maker.kind(takes[0]), size) for n in range(maker.pick([1, 2, 3]))
    }
    return (
        pa.table(columns)
        if maker.random.random() < 0.5
        else pa.record_batch({k: whole(v) for k, v in columns.items()})
    )


def _data(maker: Maker, takes: Any, size: int) -> Any:
    return (
        _table(maker, takes, size)
        if maker.random.random() < 0.3
        else maker.array(maker.kind(takes[0]), size)
    )


def _indices(maker: Maker, size: int) -> Any:
    most = max(size - 1, 0) if maker.random.random() < 0.9 else size + 2
    count = maker.pick([0, 1, 20]) if size else 0
    nulls = maker.pick([0, 0.3])
    values = [
        None if maker.random.random() < nulls else maker.random.randint(0, most)
        for _ in range(count)
    ]
    return pa.array(values, maker.pick([pa.int64(), pa.int32(), pa.uint8(), pa.uint64()]))


def _small(maker: Maker, size: int, low: int, high: int, kind: pa.DataType) -> Any:
    return pa.array(
        [
            None if maker.random.random() < 0.1 else maker.random.randint(low, high)
            for _ in range(size)
        ],
        kind,
    )


def _case_when(maker: Maker, takes: Any, size: int) -> list[Any]:
    kind, count = maker.kind(takes[1]), maker.pick([1, 2])
    masks = [whole(maker.array(pa.bool_(), size)) for _ in range(count)]
    conditions = pa.StructArray.from_arrays(masks, [str(n) for n in range(count)])
    return [conditions, *(maker.array(kind, size) for _ in range(count + maker.pick([0, 1])))]


_NESTED = pa.struct([("a", pa.int32()), ("b", pa.struct([("x", pa.int64())]))])


def _texts(maker: Maker, takes: Any, size: int) -> list[Any]:
    """Times as texts in one of the formats, and rarely others."""
    times = whole(maker.array(pa.timestamp("s"), size))
    form = maker.pick(["%Y-%m-%d", "%Y%m%d", "%Y-%m-%dT%H:%M:%S"])
    texts = pc.strftime(times, form) if not maker.has_extremes else pa.nulls(size, pa.string())
    odd = ["2021-02-31", " 2020-1-1", "2020-01-01\n", "10000-01-01", ""]
    return [texts if maker.random.random() < 0.8 else pa.array([*texts.to_pylist(), *odd])]


def _replaced(maker: Maker, takes: Any, size: int) -> list[Any]:
    def made(kind: pa.DataType, rows: int) -> Any:
        is_scalar = maker.random.random() < 0.2
        return maker.scalar(kind) if is_scalar else whole(maker.array(kind, rows))

    kind = maker.kind(takes[0])
    rows = maker.pick([size, size, size // 3])
    return [whole(maker.array(kind, size)), made(pa.bool_(), size), made(kind, rows)]


def _shifted(maker: Maker, takes: Any, size: int) -> list[Any]:
    kind = maker.kind(takes[0])
    is_signed = pa.types.is_signed_integer(kind)
    most = kind.bit_width - is_signed - (maker.random.random() < 0.6)
    least = -is_signed if maker.random.random() < 0.3 else 0
    return [maker.array(kind, size), _small(maker, size, least, most, kind)]


def _like_first(maker: Maker, takes: Any, size: int) -> list[Any]:
    kind = maker.kind(takes[0])
    return [maker.array(kind, size), maker.array(kind, size)]


def _unsliced(maker: Maker, takes: Any, size: int) -> list[Any]:
    """An array that is no slice: pyarrow's differences of slices are wrong."""
    return [pa.concat_arrays([whole(maker.array(maker.kind(takes[0]), size))])]


def _within(low: float, high: float) -> Any:
    """Numbers of which few lie outside of a range."""

    def made(maker: Maker, _: Any, size: int) -> list[Any]:
        outside = [low - 1, math.nan, None] if maker.random.random() < 0.1 else [None, low, high]
        values = [maker.pick([*outside, maker.random.uniform(low, high)]) for _ in range(size)]
        return [pa.array(values, maker.pick([pa.float32(), pa.float64()]))]

    return made


RECIPES: dict[str, Any] = {
    **dict.fromkeys(("asin_checked", "acos_checked"), _within(-1.0, 1.0)),
    "atanh_checked": _within(-0.9, 0.9),
    **dict.fromkeys(("acosh_checked", "ln_checked", "sqrt_checked"), _within(1.0, 1e6)),
    "pairwise_diff": _unsliced,
    "pairwise_diff_checked": _unsliced,
    "filter": lambda m, t, n: [_data(m, t, n), m.array(pa.bool_(), n)],
    "array_filter": lambda m, t, n: [m.array(m.kind(t[0]), n), m.array(pa.bool_(), n)],
    "take": lambda m, t, n: [_data(m, t, n), _indices(m, n)],
    "array_take": lambda m, t, n: [m.array(m.kind(t[0]), n), _indices(m, n)],
    "drop_null": lambda m, t, n: [_data(m, t, n)],
    "sort_indices": lambda m, t, n: [_data(m, t, n)],
    "select_k_unstable": lambda m, t, n: [_data(m, t, n)],
    # pyarrow itself writes out of bounds for many rows, and for nulls.
    "year_month_day": lambda m, t, n: [m.array(m.kind(t[0]), min(n, 7), nulls=0)],
    "list_flatten": lambda m, t, n: [
        m.array(m.pick([*TYPES["list"], pa.list_(pa.list_(pa.int32()))]), n)
        if m.random.random() < 0.5
        else m.array(m.kind(t[0]), n, nulls=0)
    ],
    "list_element": lambda m, t, n: [
        pa.array(
            [[*m.value(pa.list_(pa.int32()), True), 1] for _ in range(n)], pa.list_(pa.int32())
        ),
        pa.scalar(m.pick([0, 0, 0, 1, -1])),
    ],
    "binary_join": lambda m, t, n: [
        m.array(pa.list_(pa.string()), n),
        pa.scalar(m.pick(["", "-"])),
    ],
    "case_when": _case_when,
    "strptime": _texts,
    "replace_with_mask": _replaced,
    "struct_field": lambda m, t, n: [whole(m.array(m.pick([*TYPES["struct"], _NESTED]), n))],
    **dict.fromkeys([f"shift_{side}" for side in ("left", "right")], _shifted),
    **dict.fromkeys([f"shift_{side}_checked" for side in ("left", "right")], _shifted),
    "make_struct": lambda m, t, n: [whole(m.array(m.kind(t[0]), n)) for _ in range(2)],
    "binary_join_element_wise": lambda m, t, n: [
        m.array(k := m.kind(t[0]), n),
        m.array(k, n),
        pa.scalar(m.pick(["", "-"]), k),
    ],
}
for _name in (
    "weeks",
    "years",
    "quarters",
    "days",
    "hours",
    "minutes",
    "seconds",
    "milliseconds",
    "microseconds",
    "nanoseconds",
):
    RECIPES[f"{_name}_between"] = _like_first


def _table_of(maker: Maker, names: str, size: int, kinds: str) -> Any:
    columns = {name: maker.array(maker.kind(tuple(kinds.split())), size) for name in names.split()}
    return pa.table(columns)


_KEY_KINDS = (
    "int float decimal string bool date time large_string binary clock date64 bits dictionary view"
)
#: The kinds of columns of which rows are only selected.
_PASSED = f"{_KEY_KINDS} large_binary null list large_list fixed_list map struct extension"


def _grouped(maker: Maker) -> tuple[list[Any], Any]:
    size = maker.pick([0, 1, 7, 40])
    table = _table_of(maker, "k", size, _KEY_KINDS).append_column(
        "v", maker.array(maker.kind(tuple(_KEY_KINDS.split())), size)
    )
    kinds = [pa.float64(), pa.float64(), pa.float32(), pa.int64(), pa.uint32()]
    kind = maker.pick([*kinds, *TYPES["decimal"]])
    table = table.append_column("w", maker.array(kind, size))
    # pyarrow aborts where it looks for distinct values of dictionaries without rows.
    distinct = [] if any(map(pa.types.is_dictionary, table.schema.types)) else ["distinct"]
    options = pc.ScalarAggregateOptions(**{k: maker.pick(v) for k, v in _NULLS.items()})
    count = pc.CountOptions(maker.pick(_COUNTS))
    wanted = [
        (
            "v",
            maker.pick(["min", "max", "min_max", "sum", "mean", "product", "any", "all"]),
            options,
        ),
        ("w", maker.pick(["sum", "mean", "product", "min_max"]), options),
        ("w", maker.pick(["variance", "stddev"])),
        ("v", maker.pick(["count", "count_distinct"]), count),
        ("v", maker.pick(["first", "last", "first_last"]), options),
        (maker.pick("kvw"), maker.pick(["list", "one", *distinct])),
        ([], "count_all"),
    ]
    chosen = maker.random.sample(wanted, maker.pick([0, 1, 2, 3]))
    is_ordered = maker.random.random() < 0.5
    keys = maker.pick(["k", "k", "k", ".k", ["k", "k"]])

    def grouped(it: Any) -> Any:
        return it.group_by(keys, use_threads=not is_ordered).aggregate(chosen)

    grouped.is_ordered = is_ordered  # type: ignore[attr-defined]
    return [table], grouped


_JOINS = ["inner", "full outer"]
_JOINS += [f"{side} {how}" for side in ("left", "right") for how in ("outer", "semi", "anti")]


def _joined(maker: Maker) -> tuple[list[Any], Any]:
    kinds = maker.pick(_KEY_KINDS.split())
    kind = maker.kind((kinds,))
    left = pa.table(
        {
            "k": maker.array(kind, size := maker.pick([1, 7, 20])),
            "a": maker.array(maker.kind(tuple(_PASSED.split())), size),
            "s": maker.array(pa.string(), size),
            "n": maker.array(pa.int64(), size),
        }
    )
    right = pa.table(
        {"k": maker.array(kind, size := maker.pick([1, 7, 20])), "b": maker.array(pa.int64(), size)}
    )
    right = right.append_column(maker.pick(["m", "n"]), maker.array(pa.int64(), size))
    s, n, b = (pc.field(name) for name in "snb")
    options = {
        "join_type": maker.pick(_JOINS),
        "coalesce_keys": maker.random.random() < 0.8,
        "right_suffix": maker.pick(["_r", ""]),
        "filter_expression": maker.pick(
            [
                *(None, None, None, b > 0, n < b, (s == "ab") | (b == 1), b.is_null(), b > s),
                *(pc.divide(n, b) > 0, pc.add(n, b) > 3, (b < 3) & False, pc.scalar(True)),
            ]
        ),
    }
    keys = maker.pick(["k", "k", ".k", ["k"], 0, ["k", "k"]])
    return [left, right], lambda one, other: one.join(other, keys, **options)


def _joined_asof(maker: Maker) -> tuple[list[Any], Any]:
    """With few numbers, which are near others."""
    kinds = maker.random.choices(["int", "date", "string", "large_binary"], k=maker.pick(range(3)))
    near, *equal = [maker.kind((it,)) for it in (maker.pick(_NEAR_KINDS), *kinds)]
    least = maker.pick([0, 0, -9]) if near in _WITH_SIGN else 0
    names, nulls, sides = [*map(str, range(len(equal)))], maker.pick([*[0] * 9, 0.1]), list[Any]()
    for added in ("a", "b"):
        size = maker.pick([0, 1, 7, 40])
        columns = [maker.array(kind, size, nulls=nulls) for kind in equal]
        numbers = maker.random.choices(range(least, maker.pick([9, 99])), k=size)
        numbers.sort(key=lambda it: (it < 0, it))  # pyarrow clears the sign
        if pa.types.is_date64(near):
            numbers = [it * 86400000 for it in numbers]
        bits = pa.int32() if near.bit_width == 32 else pa.int64()
        columns += pa.array(numbers, bits).cast(near), maker.array(maker.kind(("int",)), size)
        # pyarrow's threads choose among equal rows of several chunks.
        sides.append(pa.table(columns, names=[*names, "on", added]).combine_chunks())
    tolerance = maker.pick([0, 1, -1, 30, -30, 10**12, -(2**63)])
    return sides, lambda one, other: one.join_asof(other, "on", names, tolerance)


_WITH_SIGN = (*TYPES["int"][:4], *TYPES["date"], *TYPES["date64"], *TYPES["time"])
_NEAR_KINDS = ("int", "date", "date64", "clock", "time")


def _filtered(maker: Maker) -> tuple[list[Any], Any]:
    size = maker.pick([0, 1, 7, 40])
    table = pa.table(
        {
            "i": maker.array(maker.kind(("int",)), size),
            "f": maker.array(maker.kind(("float",)), size),
            "s": maker.array(pa.string(), size),
            "d": maker.array(pa.decimal128(15, 2), size),
            "p": maker.array(maker.kind(tuple(_PASSED.split())), size),
            "c": maker.array(TYPES["dictionary"][0], size),
            "b": maker.array(pa.bool_(), size),
            "t": maker.array(maker.kind(("time",)), size),
            "r": maker.array(TYPES["struct"][0], size),
        }
    )
    i, f, s, d, b, t = (pc.field(name) for name in "ifsdbt")
    null = pa.scalar(None, maker.kind(("int", "float")))
    fails = pc.divide(i, 0) > 1
    some, words = Decimal("2.50"), maker.random.sample([*WORDS, None], maker.pick([1, 3, 17]))
    midnight = pa.scalar(0, pa.timestamp("us", table.schema.field("t").type.tz))
    expression = maker.pick(
        [
            i > 3,
            (i > 0) & (f < 2.5),
            (i == 1) | s.isin(["a", "b"]),
            ~(i > 0),
            s == "ab",
            i.is_null(),
            f.is_nan() | (f + 1 > 3),
            (i.cast("int64") * 2 > 5) & pc.starts_with(s, "a"),
            pc.if_else(i > 0, f, 0.0) > 1,
            pc.field("c") == "a",
            pc.field("c").isin(["a", "b"]) | pc.field("c").is_null(),
            pc.add(i, 100) > 50,
            i * 2 - 1 < 2.5,
            f + 0.5 > pc.scalar(1) + 2,
            i > 2.5,
            d > 2.5,
            (d >= pa.scalar(Decimal("-1.00"))) & (d <= pa.scalar(Decimal("9.99"))),
            (d - 1.0) * d > 0.25,
            d.cast("float64") < 3.0,
            d > i.cast("int32", safe=False),
            (d >= some) & ((s == "ab") | (s < "b")) & (i.is_null() | (f <= 2.5)),
            (f < d) & (i < f),
            i.isin([1, 300, -5, None][: maker.pick([1, 3, 4])]),
            ~s.isin(pa.array(words, pa.string())) & b,
            f.isin(pa.array([maker.value(pa.float64(), False), 1.0])) | d.isin([some]),
            (i > null) | b,
            pc.is_null(i + null) & ~(f == null),
            (fails & False) | b,
            b & (fails | True),
            f != math.nan,
            i != math.nan,
            pc.coalesce(i, null) > 1,
            pc.if_else(b, i, null) > 1,
            pc.add(pc.if_else(b, 100, 100), 100) > 0,
            f.is_null(nan_is_null=True) | ~f.is_nan(),
            i.is_valid() & pc.Expression._call("xor", [b, i > 1]),
            (t > midnight) | b,
            (pc.field("r", "a") > 1) | (pc.field("r", "b") == "ab"),
            pc.scalar(True),
        ]
    )
    return [table], lambda it: it.filter(expression)


def _of_dataset(maker: Maker) -> tuple[list[Any], Any]:
    from pyarrow.dataset import dataset

    size = maker.pick([1, 7, 40])
    table = pa.table(
        {
            "i": maker.array(maker.kind(("int",)), size),
            "f": maker.array(maker.kind(("float",)), size),
            "s": maker.array(pa.string(), size),
            "d": maker.array(pa.decimal128(15, 2), size),
            "p": maker.array(maker.kind(tuple(_PASSED.split())), size),
            "b": maker.array(pa.bool_(), size),
        }
    )
    i, f, s, d, p, b = (pc.field(name) for name in "ifsdpb")
    expressions = [
        *(i, f, s, d, p, b, pc.add(i, 1), f * 2, d + d, ~b, i > 2, s == "ab", b & (f < 1)),
        *(pc.if_else(b, s, "no"), i.cast("double", safe=False), pc.utf8_upper(s), p.is_null()),
        *(pc.scalar(3), pc.scalar("a"), pc.coalesce(s, pc.scalar("none")), i.isin([1, 2, None])),
    ]
    columns = dict(zip("uvw", maker.random.sample(expressions, 3), strict=True))
    columns = maker.pick([columns, columns, ["p", "i"], None])
    options = {"columns": columns, "filter": maker.pick([None, i > 0, b, (f > 0) | b])}
    return [table], lambda it: dataset(it).to_table(**options)


def _sorted(maker: Maker) -> tuple[list[Any], Any]:
    size = maker.pick([0, 1, 7, 40])
    table = _table_of(maker, "a b", size, "int string float binary large_string clock time")
    passed = maker.kind(tuple(_PASSED.split()))
    table = table.append_column("p", maker.array(passed, size))
    keys = [(maker.pick(["a", ".a"]), maker.pick(["ascending", "descending"])), ("b", "ascending")]
    return [table], lambda it: it.sort_by(keys)


#: Methods of tables: each returns tables, and what is called with these.
METHODS: dict[str, Any] = {
    "Table.group_by": _grouped,
    "Table.join": _joined,
    "Table.join_asof": _joined_asof,
    "Table.filter": _filtered,
    "Table.sort_by": _sorted,
    "Dataset.to_table": _of_dataset,
}
