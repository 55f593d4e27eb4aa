"""Which functions libcudf answers for which types, from the registry and from pyarrow.

    python -P -m compute.covered FILE      writes the table into `docs/functions.md`
    python -P -m compute.covered --count   counts functions and types

A function answers a type if its kernel takes it, if pyarrow itself has the function for it, and if
a call with few rows is not refused.  Where the stand-in for pylibcudf lacks what a call needs, the
first two decide.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from itertools import combinations, product
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import standin
from .arguments import TYPES, Maker, options, whole

#: Stands for tables and record batches among the types.
TABLES = "tables"
#: How often options are made at random: some are not for all types.
_TRIES = 40
#: Arguments of which each function takes one kind, beside those of its own types.
_FURTHER = {"struct": [pa.struct([("a", pa.bool_())])]}
#: Functions without a row of types.
_APART = ("cast",)


@cache
def part(name: str) -> Any:
    """A module of the engine, over pylibcudf or over what stands in for it."""
    try:
        import pylibcudf  # noqa: F401
    except ImportError:
        standin.install()
    return import_module(f"pyarrow_cuda_compat._cudf.{name}")


def kernels() -> dict[str, Any]:
    """Those of functions that this pyarrow has."""
    known = set(pc.list_functions()).difference(_APART)
    return {name: it for name, it in listed().items() if name in known}


def listed() -> dict[str, Any]:
    part("dispatch")  # imports all that list some
    found: dict[str, Any] = part("registry").KERNELS
    return found


def types() -> list[pa.DataType]:
    return [kind for kinds in TYPES.values() for kind in kinds]


def place_of_types(kernel: Any) -> int:
    """The argument that the table is about: the first one that is not a condition."""
    takes = kernel.takes
    return int(takes[0] in (("bool",), ("struct",)) and len(takes) > 1 and len(takes[1]) > 1)


@cache
def answered(name: str) -> tuple[Any, ...]:
    """The types for which a function has an answer; `TABLES` is one of them."""
    return tuple(kind for kind in [*types(), TABLES] if call_of(name, kind))


@cache
def call_of(name: str, kind: Any) -> tuple[list[Any], Any] | None:
    """Arguments that a function answers of which one has this type, and options for them; None if
    there are no such arguments."""
    kernel = kernels()[name]
    if kind is not TABLES and _kind_of(kind) not in kernel.takes[place_of_types(kernel)]:
        return None
    calls = ((given, it) for given in calls_with(name, kind) for it in options_for(name, given))
    for given, chosen in calls:
        if _has_plan(name, given, chosen) and not _refuses(name, given, chosen):
            return given, chosen
    return None


def _has_plan(name: str, given: list[Any], chosen: Any) -> bool:
    dispatch = part("dispatch")
    shapes = tuple(map(dispatch.calls.shape_of, given))
    try:
        kept, _ = dispatch.calls.options_of(pc.get_function(name), chosen)
        dispatch._plan(pc.Function.call, name, shapes, kept, lambda: chosen)
    except (dispatch.NotCovered, pa.ArrowException, TypeError, ValueError, KeyError):
        return False
    return True


def _refuses(name: str, given: list[Any], chosen: Any) -> bool:
    """Whether a function is refused for data on a device."""
    return _is_refused(lambda *data: pc.call_function(name, list(data), chosen), *given)


def _is_refused(call: Callable[..., Any], *given: Any) -> bool:
    """Whether the engine refuses a call with data on a device, before it meets a function that the
    stand-in lacks."""
    from pyarrow import cuda

    lacks = standin.LACKING.total()
    there = [it if isinstance(it, pa.Scalar) else it.copy_to(cuda.Context(0)) for it in given]
    try:
        with computing():
            call(*there)
    except NotImplementedError as error:
        is_refusal = "libcudf does not answer" in str(error)
        return is_refusal and standin.LACKING.total() == lacks
    except Exception:
        return False
    return False


@contextmanager
def computing() -> Iterator[None]:
    """Has the engine compute, with its memory as it is."""
    from pyarrow_cuda_compat import _native

    engine, resource = part("engine"), part("rmm_resource")
    before = engine._found, resource._set_resource
    engine._found, resource._set_resource = part("dispatch"), lambda *_: None
    _native._set_has_engine(True)
    try:
        yield
    finally:
        engine._found, resource._set_resource = before
        _native._set_has_engine(isinstance(before[0], ModuleType))


def calls_with(name: str, kind: Any) -> Iterator[list[Any]]:
    """Arguments of calls with one of this type: arrays, also with a value for all rows at last."""
    kernel = kernels()[name]
    place = place_of_types(kernel)
    arity = pc.get_function(name).arity
    count = max(2, place + 1) if arity is Ellipsis else arity
    others = [
        [kind, *_taken(kernel, it)] if it != place and not kernel.of_one_type else [kind]
        for it in range(count)
    ]
    for kinds in product(*others):
        given = [data_of(each) for each in kinds]
        yield given
        if count > max(1, place + 1):
            yield [*given[:-1], given[-1][0]]


def mixes(name: str) -> bool:
    """Whether a function answers arguments of which each has another type."""
    kernel, arity = kernels()[name], pc.get_function(name).arity
    place = place_of_types(kernel)
    is_alike = kernel.takes[place:][1:2] in ((), (kernel.takes[place],))
    if kernel.of_one_type or not is_alike or (arity is not Ellipsis and arity < place + 2):
        return False
    first = [data_of(_taken(kernel, 0)[-1])] * place
    for one, other in combinations([it for it in answered(name) if it is not TABLES], 2):
        given = [*first, data_of(one), data_of(other)]
        if _has_plan(name, given, None) and not _refuses(name, given, None):
            return True
    return False


class Tame(Maker):
    """Makes no value that a function may refuse."""

    def value(self, kind: pa.DataType, is_tame: bool) -> Any:
        self.has_extremes = False
        return super().value(kind, True)


@cache
def data_of(kind: Any) -> Any:
    """Two rows."""
    if kind is TABLES:
        return pa.table({"a": data_of(pa.int64())})
    return whole(Tame(0).array(kind, 2, nulls=0))


def _taken(kernel: Any, place: int) -> list[pa.DataType]:
    """The types that an argument may have, and some more."""
    kinds = kernel.takes[min(place, len(kernel.takes) - 1)]
    return [it for kind in kinds for it in (of_kind(kind) + _FURTHER.get(kind, []))]


def _kind_of(kind: pa.DataType) -> str:
    return str(part("types").kind_of(kind))


def of_kind(name: str) -> list[pa.DataType]:
    return [kind for kind in types() if _kind_of(kind) == name]


def options_for(name: str, given: list[Any]) -> Iterator[Any]:
    """Options for a call: first None, which is the default, where the function has one."""
    yield None
    for seed in range(_TRIES):
        try:
            chosen = options(name, Maker(seed), given)
        except Exception:  # there are none for such arguments
            continue
        if chosen is None:
            return
        yield chosen


# The table.

#: The areas, with the names of pyarrow's functions in each: the first that fits.
AREAS: dict[str, str] = {
    "aggregates": r"sum|mean|product|variance|stddev|quantile|tdigest|skew|kurtosis|mode|min|max"
    r"|min_max|count|count_all|count_distinct|first|last|first_last|index|any|all|approximate_median"
    r"|pivot_wider|winsorize",
    "nulls": r"is_null|is_valid|true_unless_null|drop_null|is_nan|is_finite|is_inf|coalesce"
    r"|fill_null.*",
    "choices": r"if_else|case_when|choose|is_in|index_in|replace_with_mask|is_in_meta_binary"
    r"|index_in_meta_binary",
    "comparisons": r"(not_)?equal|(less|greater)(_equal)?|(max|min)_element_wise|between",
    "logic": r"(and|or|xor|and_not)(_kleene)?|invert",
    "selection": r"(array_)?(filter|take)|indices_nonzero|scatter|inverse_permutation",
    "order": r"(array_)?sort_indices|select_k_unstable|rank.*|partition_nth_indices|search_sorted",
    "distinct": r"unique|value_counts|dictionary_.*|run_end_.*",
    "nested": r"list_.*|struct_field|make_struct|map_lookup",
    "strings": r"(utf8|ascii|binary|string)_.*|match_.*|(starts|ends)_with|.*_substring.*|split_.*"
    r"|extract_.*",
    "times": r"(iso_)?(year|week|calendar)|us_(week|year)|quarter|month|day|day_of_.*|is_leap_year"
    r"|(nano|micro|milli)?second|minute|hour|subsecond|year_month_day|.*_temporal|.*_between"
    r"|local_timestamp|assume_timezone|str[fp]time|is_dst|.*cast.*",
    "arithmetic": r"(add|subtract|multiply|divide|abs|negate|sign|power|sqrt|floor|ceil|trunc|round"
    r"|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh|exp|expm1|ln|log.*"
    r"|shift_.*|bit_wise_.*|round_.*|cumulative_.*|pairwise_.*|hypot|modulo|remainder)(_checked)?",
}


#: Ends of cells about functions of several arguments.
OF_ONE_TYPE = "; all of one type"
OF_SEVERAL_TYPES = "; also of several types"


def area_of(name: str) -> str:
    return next((area for area, names in AREAS.items() if re.fullmatch(names, name)), "others")


#: The words of the page, with the names of groups of kinds in the engine, or with a kind.
_GROUPS = {
    "all": "ANY",
    "keys": "KEYS",
    "flat": "SIMPLE",
    "numbers": "NUMBERS",
    "times": "TIMES",
    "strings": "TEXTS",
}
_WORDS = {
    "booleans": "bool",
    "integers": "int",
    "floating-point numbers": "float",
    "decimals": "decimal",
    "strings": "string",
    "dates": "date",
    "timestamps": "time",
    "durations": "duration",
    "times of day": "clock",
    "nulls": "null",
    "views": "view",
    "lists": "list",
    "large lists": "large_list",
    "fixed-size lists": "fixed_list",
    "structs": "struct",
    "run-end encoded data": "runs",
    "dictionaries": "dictionary",
    "extension types": "extension",
}


_is = pa.types
#: Words for some of the types of a kind.
_CHECKS: dict[str, Callable[[pa.DataType], bool]] = {
    "signed integers": _is.is_signed_integer,
    "unsigned integers": _is.is_unsigned_integer,
    "timestamps without a time zone": lambda it: _is.is_timestamp(it) and it.tz is None,
    "timestamps in UTC": lambda it: _is.is_timestamp(it) and it.tz == "UTC",
    "timestamps with a time zone": lambda it: _is.is_timestamp(it) and it.tz is not None,
    "lists of strings": lambda it: it == pa.list_(pa.string()),
    "fixed-size binary": _is.is_fixed_size_binary,
    "intervals": _is.is_interval,
    "maps": _is.is_map,
    "`float16`": _is.is_float16,
    "`decimal32`": lambda it: str(it).startswith("decimal32"),
    "`decimal64`": lambda it: str(it).startswith("decimal64"),
}


@cache
def words() -> dict[str, frozenset[Any]]:
    """The types that each word of the table stands for."""
    groups = {word: getattr(part("types"), name, "") for word, name in _GROUPS.items()}
    named = _WORDS | {word: kinds for word, kinds in groups.items() if kinds}
    found = {
        word: frozenset(it for kind in named[word].split() for it in of_kind(kind))
        for word in {**_GROUPS, **_WORDS}
        if word in named
    }
    found |= {word: frozenset(filter(check, types())) for word, check in _CHECKS.items()}
    found["tables"] = frozenset([TABLES])
    return {word: meant for word, meant in found.items() if meant}


def _parts(wanted: frozenset[Any]) -> list[str]:
    """Words, and names of single types, that together stand for these types."""
    found = []
    for word, meant in sorted(words().items(), key=lambda it: -len(it[1])):
        if meant <= wanted:
            found.append(word)
            wanted -= meant
    return sorted(found, key=[*words()].index) + sorted({name_of(kind) for kind in wanted})


def name_of(kind: pa.DataType) -> str:
    """A type in the table; of dictionaries only the values matter."""
    return f"`dictionary<{kind.value_type}>`" if _is.is_dictionary(kind) else f"`{kind}`"


def text_of(given: Iterable[Any]) -> str:
    """The types in few words: a list, or a word and the exceptions from it."""
    wanted = frozenset(given)
    lists = [[_parts(wanted)]]
    for meant in words().values():
        if not wanted - {TABLES} or not wanted - {TABLES} <= meant:
            continue
        lists.append([_parts(meant | (wanted & {TABLES})), _parts(meant - wanted)])
    shortest = min(lists, key=lambda it: sum(map(len, it)) + len(it))
    return ", except ".join(", ".join(each) for each in shortest)


def names_text(names: Iterable[str]) -> str:
    """Names of functions, of which those that differ in a prefix or a suffix come together."""
    left = sorted(names)
    parts = []
    twice = [it for it in left if f"{it}_checked" in left]
    stems = [it[5:] for it in left if it.startswith("utf8_") and f"ascii_{it[5:]}" in left]
    taken = {f"{it}{end}" for it in twice for end in ("", "_checked")}
    taken |= {f"{start}_{it}" for it in stems for start in ("utf8", "ascii")}
    if rest := [it for it in left if it not in taken]:
        parts.append(_quoted(rest))
    if twice:
        parts.append(f"{_quoted(twice)}, also with `_checked`")
    if stems:
        parts.append(f"`utf8_` and `ascii_` with {_quoted(stems)}")
    return "; ".join(parts)


def _quoted(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def rows() -> Iterator[tuple[str, str, str]]:
    """The area, the functions and the types of each row."""
    found: dict[str, dict[str, list[str]]] = {area: {} for area in (*AREAS, "others")}
    for name, kernel in kernels().items():
        text = text_of(answered(name))
        text += OF_ONE_TYPE * kernel.of_one_type + OF_SEVERAL_TYPES * mixes(name)
        found[area_of(name)].setdefault(text, []).append(name)
    for area, by_types in found.items():
        for kinds, names in by_types.items():
            yield area, names_text(names), kinds


def table() -> str:
    """In Markdown: an area is named in its first row."""
    lines = ["| | functions | types |", "|---|---|---|"]
    last = ""
    for area, names, kinds in rows():
        lines.append(f"| {area if area != last else ''} | {names} | {kinds} |")
        last = area
    lines.append("| casts | `cast` | [see there](compute.md#casts) |")
    return "\n".join(lines).replace("|  |", "| |") + "\n"


def filled(page: str) -> str:
    """A page with the table in its place."""
    before, start, rest = page.partition("<!-- begin -->\n")
    return f"{before}{start}{table()}{rest[rest.index('<!-- end -->') :]}"


# The counts.


def counts() -> dict[str, int]:
    """How many functions there are, and for how many of the types of the tests they answer."""
    found = {name: len(set(answered(name)) - {TABLES}) for name in kernels()}
    return {
        "functions": len(listed()),
        "functions by types": sum(found.values()),
        "functions by kinds": sum(len(_kinds(answered(name))) for name in kernels()),
        "casts by types": len(list(_casts())),
        "aggregations of groups by types": len(list(_grouped())),
    }


def _kinds(given: Iterable[Any]) -> set[str]:
    return {_kind_of(it) for it in given if it is not TABLES}


def _casts() -> Iterator[tuple[Any, Any]]:
    """Types, and those that they are converted to."""
    for given, wanted in product(types(), types()):
        call = [data_of(given)], pc.CastOptions.safe(wanted)
        if _has_plan("cast", *call) and not _refuses("cast", *call):
            yield given, wanted


def _grouped() -> Iterator[tuple[str, Any]]:
    """Aggregations of groups, and their types; not of dictionaries, for which pyarrow may end the
    process."""
    names = [it for it in pc.list_functions() if it.startswith("hash_")]
    for name, kind in product(names, types()):
        if _is.is_dictionary(kind):
            continue
        table = pa.table({"k": pa.array([0, 1]), "v": data_of(kind)})

        def group(it: Any, wanted: str = name.removeprefix("hash_")) -> Any:
            return it.group_by("k").aggregate([("v", wanted)])

        if not _is_refused(group, table):
            with suppress(pa.ArrowException):
                group(table)
                yield name, kind


def main(given: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--count", action="store_true", help="count functions and types")
    parser.add_argument("file", nargs="?", type=Path, help="the page with the table")
    chosen = parser.parse_args(given)
    if chosen.count:
        print(*(f"{count:6} {what}" for what, count in counts().items()), sep="\n")
    if chosen.file:
        chosen.file.write_text(filled(chosen.file.read_text()))


if __name__ == "__main__":
    main(sys.argv[1:])
