"""Compares the answers of libcudf with pyarrow's own, on a GPU.

    python -m compute.answers [--each 1000] [--json FILE] [NAME...]

Makes arguments at random for each kernel, calls pyarrow's function with copies on the device and
with the arguments themselves, and counts the answers that are the same.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import zlib
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import sha256
from importlib.metadata import version
from inspect import getsource
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from pyarrow_cuda_compat._cudf import engine
from pyarrow_cuda_compat._cudf.library import load
from pyarrow_cuda_compat._cudf.refusals import EngineUnavailable

from .arguments import METHODS, Maker, arguments, options, whole
from .faults import right

#: Functions whose results may differ by this factor of themselves: the order of sums and products,
#: and the last bits of functions of numbers.
TOLERANCES = {
    **dict.fromkeys(["sum", "product", "mean", "quantile"], 1e-9),
    **dict.fromkeys(["variance", "stddev"], 1e-7),
    **dict.fromkeys(["cumulative_sum", "cumulative_prod", "cumulative_mean"], 1e-9),
    **dict.fromkeys(
        [
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "exp",
            "ln",
            "sqrt",
            "power",
            "atan2",
        ],
        1e-12,
    ),
}
_SINGLE = 1e-5


def tolerance(name: str, kind: pa.DataType) -> float:
    found = TOLERANCES.get(name.removesuffix("_checked"), 0)
    return max(found, _SINGLE) if found and kind == pa.float32() else found


def are_same(one: Any, other: Any, allowed: float) -> bool:
    """Values of Python; also the signs of zeros, unless the last bits may differ."""
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        if allowed:
            return one == other or math.isclose(one, other, rel_tol=allowed, abs_tol=allowed)
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            are_same(*each, allowed) for each in zip(one, other, strict=True)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_same(one[k], other[k], allowed) for k in one)
    return type(one) is type(other) and one == other


def plain(result: Any) -> Any:
    """A result as values of Python; times as numbers, since nanoseconds have no class there."""
    if isinstance(result, pa.Table | pa.RecordBatch):
        return [plain(column) for column in result.columns]
    if isinstance(result, pa.Scalar):
        return plain(pa.array([result], result.type))
    kind = result.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain(result.cast(kind.storage_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return result.cast(pa.large_binary()).to_pylist()  # it may be other than UTF-8
    if pa.types.is_float16(kind):
        return result.cast(pa.float32()).to_pylist()
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return result.cast(pa.int64()).to_pylist()
    if pa.types.is_date32(kind):
        return result.cast(pa.int32()).to_pylist()
    if pa.types.is_time(kind) or pa.types.is_date64(kind):
        return result.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    if pa.types.is_run_end_encoded(kind):
        if isinstance(result, pa.ChunkedArray):
            return plain(pc.run_end_decode(result))
        return [result.run_ends.to_pylist(), plain(result.values)]
    if pa.types.is_dictionary(kind):
        # Where null is: a value, or an index.
        chunks = result.chunks if isinstance(result, pa.ChunkedArray) else [result]
        indices = [index for chunk in chunks for index in chunk.indices.to_pylist()]
        filled = [chunk for chunk in chunks if len(chunk)]
        return [indices, *(plain(chunk.dictionary) for chunk in filled[:1])]
    if pa.types.is_struct(kind):
        chunks = result.chunks if isinstance(result, pa.ChunkedArray) else [result]
        return [item for chunk in chunks for item in _structs(chunk)]
    if pa.types.is_list(kind):
        chunks = result.chunks if isinstance(result, pa.ChunkedArray) else [result]
        return [item for chunk in chunks for item in _lists(chunk)]
    return result.to_pylist()


def _structs(array: Any) -> list[Any]:
    parts = [array.field(place) for place in range(array.type.num_fields)]
    parts = [it.dictionary_decode() if pa.types.is_dictionary(it.type) else it for it in parts]
    rows = zip(*map(plain, parts), strict=True)
    valid = array.is_valid().to_pylist()
    return [list(row) if is_valid else None for row, is_valid in zip(rows, valid, strict=True)]


def without_dictionaries(table: pa.Table) -> pa.Table:
    """With a value in each row, which can be sorted with it."""
    types = [it.value_type if pa.types.is_dictionary(it) else it for it in table.schema.types]
    columns = [column.cast(kind) for column, kind in zip(table.columns, types, strict=True)]
    return pa.table(columns, names=table.column_names)


def _lists(array: Any) -> list[Any]:
    elements = iter(plain(array.flatten()))
    lengths = array.value_lengths().to_pylist()
    return [None if size is None else [next(elements) for _ in range(size)] for size in lengths]


UNSTABLE = {"select_k_unstable"}
_REFUSALS = ("libcudf does not answer", "Implemented only for data on CPU device")


def outcome(name: str, given: list[Any], chosen: Any) -> Any:
    """The result or the exception of a function with options, or of a method."""
    try:
        return chosen(*given) if callable(chosen) else pc.call_function(name, given, chosen)
    except Exception as error:
        return error


def _with_sorted_lists(table: Any, endings: tuple[str, ...]) -> list[Any]:
    """The columns, of which those with such names get their lists in one order."""
    return [
        [it and sorted(it, key=repr) for it in column]
        if pa.types.is_list(field.type) and field.name.endswith(endings)
        else column
        for field, column in zip(table.schema, plain(table), strict=True)
    ]


def _is_valid(result: Any) -> bool:
    """Sums of decimals may have more digits than their type."""
    with suppress(pa.ArrowInvalid):
        result.validate(full=True)
        return True
    return False


def difference(
    name: str, given: list[Any], expected: Any, found: Any, *, is_ordered: bool
) -> str | None:
    """What differs, or none.  Metadata and names within types may not, which `==` forgets."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        if isinstance(expected, pa.ArrowException) and isinstance(found, pa.ArrowException):
            return None
        if type(expected) is type(found):
            return None
        return f"{expected!r:.150} became {found!r:.300}"
    if type(expected) is not type(found):
        return f"{type(expected)} became {type(found)}"
    if isinstance(expected, pa.Table | pa.RecordBatch):
        if not expected.schema.equals(found.schema, check_metadata=True):
            return f"{expected.schema} became {found.schema}"
    elif not expected.type.equals(found.type, check_metadata=True):
        return f"{expected.type} became {found.type}"
    if not isinstance(found, pa.Scalar) and _is_valid(expected):
        found.validate(full=True)
    if name in UNSTABLE:
        column = whole(given[0])
        expected, found = (column.take(each) for each in (expected, found))
    if name in ("Table.group_by", "Table.join"):
        if is_ordered:
            # pyarrow's own groups may come later than their first rows where hashes collide.
            wanted, keys = (
                [*dict.fromkeys(map(repr, plain(without_dictionaries(it).column(0))))]
                for it in (given[0], found)
            )
            if keys != wanted:
                return f"groups {wanted!r:.300} came as {keys!r:.300}"
        # pyarrow's lists come in no order with threads, and distinct values may come later.
        in_no_order = ("_distinct",) if is_ordered else ("_distinct", "_list")
        rows = [
            list(map(list, zip(*_with_sorted_lists(each, in_no_order), strict=True)))
            for each in map(without_dictionaries, (expected, found))
        ]
        # Groups, which differ by their keys, and matches come in no order.
        is_join = name == "Table.join"
        one, other = (
            sorted(each, key=lambda row: repr(row if is_join else row[0])) for each in rows
        )
        return None if are_same(one, other, 1e-5) else f"{one!r:.400} became {other!r:.400}"
    first = given[0]
    kind = first.type if not isinstance(first, pa.Table | pa.RecordBatch) else pa.null()
    allowed = 1e-15 if name in UNSTABLE else tolerance(name, kind)
    if are_same(plain(expected), plain(found), allowed):
        return None
    return f"{plain(expected)!r:.300} became {plain(found)!r:.300}"


def compare(name: str, takes: Any, each: int, device: int, seconds: float) -> dict[str, Any]:
    """Compares until `each` answers were the same, or for `seconds`."""
    from pyarrow import cuda

    context = cuda.Context(device)
    host = pa.default_cpu_memory_manager()
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    failed: list[str] = []
    end = time.monotonic() + seconds
    seed = zlib.crc32(name.encode())
    while (
        counts["same"] < each
        and len(failed) < 5
        and time.monotonic() < end
        and counts["tries"] < 12 * each
    ):
        counts["tries"] += 1
        maker = Maker(seed + counts["tries"])
        if name in METHODS:
            given, chosen = METHODS[name](maker)
        else:
            given = arguments(name, takes, maker)
            chosen = options(name, maker, given)
        expected = right(name, given, chosen, outcome(name, given, chosen))
        there = [it if isinstance(it, pa.Scalar) else it.copy_to(context) for it in given]
        found = outcome(name, there, chosen)
        if isinstance(found, NotImplementedError) and any(word in str(found) for word in _REFUSALS):
            counts["refused"] += 1
            reasons[str(found).rpartition("; ")[2][:160]] += 1
            continue
        try:
            if not isinstance(found, Exception | pa.Scalar):
                found = found.copy_to(host)
            is_ordered = getattr(chosen, "is_ordered", False)
            text = difference(name, given, expected, found, is_ordered=is_ordered)
        except Exception as error:
            text = f"comparing: {error!r:.300}"
        if text is None:
            counts["raised" if isinstance(expected, Exception) else "same"] += 1
        else:
            types = [
                str(it.schema if isinstance(it, pa.Table | pa.RecordBatch) else it.type)
                for it in given
            ]
            failed.append(f"{types} {chosen} {[str(plain(it))[:200] for it in given]}: {text}")
    return {"name": name, **counts, "reasons": dict(reasons.most_common(4)), "failed": failed}


def _compared(work: deque[str], takes: Any, chosen: Any, end: float) -> list[Any]:
    """The results of kernels from the list that several threads share, each with a process of its
    own, and with another one after a kernel that ends it."""
    found: list[dict[str, Any]] = []
    process = None
    with suppress(IndexError):
        while True:
            name = work.popleft()
            if process is None:
                ours, theirs = get_context("spawn").Pipe()
                process = get_context("spawn").Process(target=_serve, args=(theirs,))
                process.start()
                theirs.close()
            seconds = min(chosen.seconds, end - time.monotonic())
            ours.send((name, takes[name], chosen.each, chosen.device, seconds))
            try:
                found.append(ours.recv())
            except EOFError:
                process.join()
                text = f"ended by {process.exitcode}"
                found.append({"name": name, "reasons": {}, "failed": [text]})
                process = None
    if process is not None:
        ours.send(None)
        process.join()
    return found


def _serve(end: Any) -> None:
    while work := end.recv():
        end.send(compare(*work))


def kernels() -> dict[str, Any]:
    try:
        found = engine.implementations(load)
    except EngineUnavailable as error:
        raise SystemExit(error) from None
    return {name: kernel.takes for name, kernel in sorted(found.KERNELS.items())} | dict.fromkeys(
        METHODS
    )


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--each", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60, help="at most, for each kernel")
    parser.add_argument("--total", type=float, default=600, help="seconds for all kernels")
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--device", type=int, default=0, help="that has the data")
    parser.add_argument("--json")
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args(words)
    takes = kernels()
    work = deque(chosen.names or takes)
    end = time.monotonic() + chosen.total
    with ThreadPoolExecutor(chosen.processes) as pool:
        threads = [
            pool.submit(_compared, work, takes, chosen, end) for _ in range(chosen.processes)
        ]
        found = [each for thread in threads for each in thread.result()]
    for each in found:
        print(each["name"], {k: v for k, v in each.items() if isinstance(v, int)}, each["reasons"])
        for text in each["failed"]:
            print("    DIFFERS", text)
    if chosen.json:
        Path(chosen.json).write_text(kept(found))
    return any(each["failed"] for each in found)


def kept(found: list[dict[str, Any]]) -> str:
    """The counts, a line for each kernel, with the versions that they hold for."""
    listed = engine.implementations(load).KERNELS
    lines = []
    for each in sorted(found, key=lambda it: it["name"]):
        kernel = listed.get(each["name"])
        fact = {"digest": digest_of(kernel) if kernel else "", "same": each.get("same", 0)}
        fact |= {word: each.get(word, 0) for word in ("raised", "refused")}
        lines.append(f'  "{each["name"]}": {json.dumps(fact)}')
    versions = f'"pylibcudf": "{version("pylibcudf-cu13")}", "pyarrow": "{pa.__version__}"'
    listing = ",\n".join(lines)
    return f'{{{versions}, "kernels": {{\n{listing}\n}}}}\n'


def digest_of(kernel: Any) -> str:
    """Changes with the kernel: with what it takes, and with the text of its function."""
    text = getsource(kernel.answer)
    text = text[text.index("def ") :]  # the lines above it are in the other facts
    facts = (kernel.takes, kernel.is_elementwise, kernel.of_one_type, kernel.extra, text)
    return sha256(repr(facts).encode()).hexdigest()[:12]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
