"""Compares tables that libcudf reads from Parquet files with pyarrow's own, on a GPU.

    python -m compute.files [--each 1000] [--json FILE] [TYPE...]

Writes files at random whose first column has one type, reads them by `Context.table_from_file` and
by `pyarrow.parquet.read_table`, and counts the tables that are the same, for each way of reading.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import zlib
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pyarrow_cuda_compat._methods import datasets

from .answers import plain
from .arguments import Maker
from .faults import read_table

HOST = pa.default_cpu_memory_manager()
_is = pa.types
#: Texts, for which the bytes of strings serve.
_TEXTS = [
    *(pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary_view()),
]
_VIEWS = (pa.string_view(), pa.binary_view())
_WHOLE = [getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)]
_TIMES = [
    *(pa.date32(), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.duration("us")),
    *(pa.timestamp(unit, zone) for unit in ("ms", "us", "ns") for zone in (None, "UTC")),
    pa.timestamp("us", "Europe/Paris"),
]
_DECIMALS = [pa.decimal128(*it) for it in ((5, 2), (9, 0), (15, 2), (18, 6), (25, 3), (38, 10))]
_FLAT = [*_WHOLE, pa.float32(), pa.float64(), pa.bool_(), *_TEXTS, *_TIMES, *_DECIMALS]
TYPES = {
    str(kind): kind
    for kind in (
        *_FLAT,
        *(pa.list_(pa.int32()), pa.list_(pa.string()), pa.list_(pa.list_(pa.float64()))),
        pa.struct([("a", pa.int16()), ("b", pa.string())]),
        pa.struct([("a", pa.struct([("b", pa.date32())])), ("c", pa.list_(pa.bool_()))]),
        pa.dictionary(pa.int32(), pa.string()),
    )
}


def column(maker: Maker, kind: pa.DataType, rows: int) -> Any:
    """Values at random, of which some may be null."""
    nulls = maker.pick([0.0, 0.2])
    if kind in _TEXTS:
        return maker.array(pa.string(), rows, nulls=nulls).cast(kind)
    if _is.is_time(kind):
        seconds = maker.array(pa.uint8(), rows, nulls=nulls).cast(pa.int32())
        return seconds.cast(pa.time32("s")).cast(kind)
    if _is.is_timestamp(kind):
        return maker.array(pa.timestamp(kind.unit), rows, nulls=nulls).cast(kind)
    return maker.array(kind, rows, nulls=nulls)


def table(maker: Maker, kind: pa.DataType) -> pa.Table:
    rows = maker.pick([1, 3, 50, 400])
    kinds = [kind, *(maker.pick(_FLAT) for _ in range(maker.pick([0, 1, 3])))]
    columns, fields = [], []
    for place, each in enumerate(kinds):
        values = column(maker, each, rows)
        has_nulls = values.null_count > 0 or maker.pick([True, False])
        metadata = maker.pick([None, {"of": "the field"}])
        columns.append(values)
        fields.append(pa.field(f"c{place}", each, has_nulls, metadata))
    schema = pa.schema(fields, maker.pick([None, {"of": "the schema"}]))
    return pa.Table.from_arrays(columns, schema=schema)


def written(maker: Maker, data: pa.Table, path: Path) -> dict[str, Any]:
    """Writes a table in one of the many ways that files have, which is returned."""
    chosen = {
        "compression": maker.pick(["snappy", "none", "gzip", "zstd", "lz4", "brotli"]),
        "row_group_size": maker.pick([1, 7, 100, 10**6]) if len(data) < 400 else 100,
        "use_dictionary": maker.pick([True, False]),
        "store_schema": maker.pick([True, True, False]),
        "data_page_version": maker.pick(["1.0", "2.0"]),
        "write_statistics": maker.pick([True, True, False]),
        "data_page_size": maker.pick([100, 2**20]),
        "use_deprecated_int96_timestamps": maker.pick([False, False, False, True]),
        "version": maker.pick(["2.6", "2.6", "2.4", "1.0"]),
        "store_decimal_as_integer": maker.pick([False, True]),
    }
    if not chosen["use_dictionary"]:
        chosen["column_encoding"] = {
            it.name: maker.pick(_encodings_of(it.type)) for it in data.schema
        }
    pq.write_table(data, path, **chosen)
    return chosen


def _encodings_of(kind: pa.DataType) -> list[str]:
    if _is.is_integer(kind) or _is.is_timestamp(kind):
        return ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
    if _is.is_floating(kind):
        return ["PLAIN", "BYTE_STREAM_SPLIT"]
    if kind in _TEXTS:
        return ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
    return ["PLAIN"]


def arguments(maker: Maker, data: pa.Table) -> dict[str, Any]:
    """Columns, filters and a schema to read the file with."""
    names, chosen = data.column_names, {}
    if maker.pick([True, False]):
        chosen["columns"] = ["c0", *(maker.pick(names) for _ in range(maker.pick([0, 1, 2])))]
    if maker.pick([True, False]):
        place = maker.pick(range(len(names)))
        value = _value(maker, data.column(place))
        if value is not None:
            operator = maker.pick(["=", "!=", "<", "<=", ">", ">=", "in"])
            chosen["filters"] = [(names[place], operator, [value] if operator == "in" else value)]
    if maker.pick([True, False, False]):
        fields = [it.with_type(_other_type(maker, it.type)) for it in data.schema]
        chosen["schema"] = pa.schema(fields)
    return chosen


def _value(maker: Maker, values: Any) -> Any:
    """One of the values, for a filter; None where Python has no type for it."""
    if _is.is_nested(values.type) or _is.is_duration(values.type):
        return None
    if values.type in _VIEWS and int(pa.__version__.split(".")[0]) < 25:
        return None  # it compares the statistics of views at the first read only, and raises
    try:
        return values[maker.pick(range(len(values)))].as_py()
    except (OverflowError, ValueError):
        return None


def _other_type(maker: Maker, kind: pa.DataType) -> pa.DataType:
    if _is.is_string_view(kind) or _is.is_binary_view(kind):
        return pa.string() if _is.is_string_view(kind) else pa.binary()
    if _is.is_decimal(kind):
        return maker.pick([kind, pa.float64()])
    return maker.pick([kind, kind, pa.int64()]) if _is.is_integer(kind) else kind


def outcome(read: Any, path: Path, chosen: dict[str, Any]) -> Any:
    try:
        return read(path, **chosen)
    except Exception as error:
        return error


def difference(expected: Any, found: Any) -> str | None:
    """What differs; None if nothing does."""
    if isinstance(expected, Exception) or isinstance(found, Exception):
        same = type(expected) is type(found)
        return None if same else f"{expected!r:.200} became {found!r:.200}"
    if not found.schema.equals(expected.schema, check_metadata=True):
        return f"{expected.schema} became {found.schema}"
    found.validate(full=True)
    # NaN equals itself in a text.
    if found.equals(expected):
        return None
    pairs = zip(expected.columns, found.columns, strict=True)
    for one, other in pairs:
        texts = [repr(plain(it)) for it in (one, other)]
        if texts[0] != texts[1]:
            return f"{one.type}: {texts[0]:.300} became {texts[1]:.300}"
    return None


def difference_as_written(data: pa.Table, folder: Path, **options: Any) -> str | None:
    """What a reader finds otherwise in the file of a table on the device than in pyarrow's."""
    pq.write_table(data.copy_to(0), folder / "ours.parquet", **options)
    pq.write_table(data, folder / "theirs.parquet", **options)
    theirs, ours = (pq.read_table(folder / f"{it}.parquet") for it in ("theirs", "ours"))
    return difference(theirs, ours)


def compare_written(name: str, each: int, seconds: float, folder: Path) -> dict[str, Any]:
    """Compares files that libcudf and pyarrow write, for as many tables, or for `seconds`."""
    import_module("pyarrow_cuda_compat._cudf.parquet.writer").LEAST = 0
    counts: Counter[str] = Counter()
    failed: list[str] = []
    end = time.monotonic() + seconds
    while counts["same"] < each and time.monotonic() < end and len(failed) < 5:
        counts["tries"] += 1
        data = table(Maker(counts["tries"]), TYPES[name])
        try:
            text = difference_as_written(data, folder)
        except pa.ArrowException:
            counts["raised"] += 1
            continue
        counts["same"] += text is None
        if text is not None:
            failed.append(f"{data.schema.types}: {text}")
    return {"name": name, **counts, "failed": failed}


def compare(name: str, each: int, seconds: float, folder: Path) -> dict[str, Any]:
    """Compares until libcudf has read `each` tables, or for `seconds`."""
    from pyarrow import cuda

    context = cuda.Context(0)
    counts: Counter[str] = Counter()
    failed: list[str] = []
    end = time.monotonic() + seconds
    seed = zlib.crc32(name.encode())
    import_module("pyarrow_cuda_compat._cudf.parquet.reader").LEAST = 0
    copied, datasets._copied = datasets._copied, _counting(datasets._copied, counts)
    try:
        while (
            counts["same"] - counts["copied"] < each
            and counts["tries"] < 4 * each
            and time.monotonic() < end
        ):
            counts["tries"] += 1
            maker = Maker(seed + counts["tries"])
            data = table(maker, TYPES[name])
            path = folder / f"{counts['tries'] % 8}.parquet"
            try:
                way = written(maker, data, path)
            except (pa.ArrowException, OSError):  # the options do not fit the values
                continue
            for _ in range(4):
                chosen = arguments(maker, data)
                expected = outcome(read_table, path, chosen)
                found = outcome(context.table_from_file, path, chosen)
                if not isinstance(found, Exception):
                    found = found.copy_to(HOST)
                text = difference(expected, found)
                if text is None:
                    counts["raised" if isinstance(expected, Exception) else "same"] += 1
                else:
                    failed.append(f"{data.schema.types} {way} {chosen}: {text}")
            if len(failed) > 4:
                break
    finally:
        datasets._copied = copied
    return {"name": name, **counts, "failed": failed}


def _counting(copied: Any, counts: Counter[str]) -> Any:
    """Counts the tables that pyarrow reads."""

    def counted(*arguments: Any) -> Any:
        counts["copied"] += 1
        return copied(*arguments)

    return counted


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--each", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60, help="at most, for each type")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="compare files that are written")
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args(words)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.names or TYPES:
            program = compare_written if chosen.write else compare
            found.append(program(name, chosen.each, chosen.seconds, Path(folder)))
            facts = {word: it for word, it in found[-1].items() if word not in ("name", "failed")}
            print(name, facts, flush=True)
            for text in found[-1]["failed"]:
                print("    DIFFERS", text)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")
    return any(each["failed"] for each in found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
