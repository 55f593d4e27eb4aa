"""What a Parquet file's footer says, and whether libcudf's reader gives pyarrow's answer for it.

libcudf is not asked for encrypted files, for compressions and encodings that `_CODECS` and
`_ENCODINGS` lack, nor for columns of types that `_STORED` lacks.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import pyarrow as pa

from ..refusals import need
from .messages import Source

_is = pa.types
#: Whether a fragment of an open file, which has no path, can be opened.
_OPENS_FILES = int(pa.__version__.split(".")[0]) >= 26
#: The last bytes of a file: the size of its footer, and the magic.
_TAIL, _MAGIC = 8, b"PAR1"
#: Compressions and encodings, by pyarrow's names.
_CODECS = frozenset(("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"))
_ENCODINGS = frozenset(("PLAIN", "PLAIN_DICTIONARY", "RLE", "RLE_DICTIONARY")) | frozenset(
    ("DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT")
)
#: Old writers name it for levels that take no bits.
_OF_LEVELS = frozenset(("BIT_PACKED",))
_INT32 = frozenset((pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16(), pa.uint32()))
_TEXTS = (_is.is_string, _is.is_large_string, _is.is_string_view)
_BYTES = (_is.is_binary, _is.is_large_binary, _is.is_binary_view)
#: By the type in the file: the types of Arrow whose values libcudf reads as pyarrow does.  INT96 is
#: not here: beyond the range of nanoseconds both wrap, to different times.
_STORED = {
    "BOOLEAN": (_is.is_boolean,),
    "INT32": (_INT32.__contains__, _is.is_date32, _is.is_time32, _is.is_decimal128),
    "INT64": (
        frozenset((pa.int64(), pa.uint64())).__contains__,
        *(_is.is_timestamp, _is.is_time64, _is.is_duration, _is.is_decimal128),
    ),
    "FLOAT": (_is.is_float32,),
    "DOUBLE": (_is.is_float64,),
    "BYTE_ARRAY": (*_TEXTS, *_BYTES),
    "FIXED_LEN_BYTE_ARRAY": (_is.is_decimal128,),
}


class File(NamedTuple):
    """A file, of which some columns are read."""

    #: As pyarrow's, which knows the path and the values of partitions.
    fragment: Any
    #: By name: the types that pyarrow gives the columns that are read.
    stored: dict[str, pa.DataType]
    #: Equal for files that can be read at once.
    form: tuple[Any, ...]
    #: The columns of the file that are read, as its footer describes them.
    columns: list[Any]
    #: The bytes after the row groups, from one to another: indexes of pages and the footer.
    rest: tuple[int, int]


def _local_path(filesystem: Any, path: str) -> str | None:
    while filesystem is not None and filesystem.type_name == "subtree":
        filesystem, path = filesystem.base_fs, filesystem.base_path + path
    if filesystem is None or filesystem.type_name != "local" or "://" in path:
        return None
    # Not `abspath`: the folder above a linked one is another than that above the link.
    return os.path.join(os.getcwd(), path)  # noqa: PTH109, PTH118


class RowGroup(NamedTuple):
    file: File
    number: int
    rows: int
    #: The chunks of the columns that are read, as the footer describes them.
    chunks: list[Any]
    #: Their bytes, from one to another.
    ranges: list[tuple[int, int]]

    def nbytes(self) -> int:
        return sum(end - start for start, end in self.ranges)


def source_of(groups: list[RowGroup]) -> Source:
    """What is read of a file, which has an absolute path, or is bytes: one of another file system,
    or in a buffer."""
    file = groups[0].file
    path = _local_path(file.fragment.filesystem, file.fragment.path)
    ranges = [(0, len(_MAGIC))]
    for start, end in sorted([*(it for group in groups for it in group.ranges), file.rest]):
        before, last = ranges[-1]
        if start <= last:
            ranges[-1] = before, max(last, end)
        else:
            ranges.append((start, end))
    content = _bytes_of(file.fragment, 0)[0] if path is None else path
    return Source(content, file.rest[1], ranges)


def row_groups_of(fragment: Any, scan: Any, names: list[str]) -> Iterator[RowGroup]:
    """The row groups of a file that the filter of a scan leaves.  Of their chunks of columns,
    those of the first one are checked.

    Raises
    ------
    NotCovered
        If it is no Parquet file, or one that pyarrow has to read.
    """
    import pyarrow.dataset as ds  # takes milliseconds

    is_parquet = isinstance(fragment, ds.ParquetFileFragment)
    need(is_parquet, "not files of other formats than Parquet")
    options = fragment.format.default_fragment_scan_options
    need(not options.page_checksum_verification, "not with checksums, which it ignores")
    is_opened = _OPENS_FILES or fragment.buffer is not None or fragment.filesystem is not None
    need(is_opened, "not open files, for which pyarrow before 26 may crash")
    end, size = _need_plain_footer(fragment)
    schema, footer = fragment.physical_schema, fragment.metadata
    if scan.decided is not None:
        fragment = fragment.subset(scan.decided, schema=scan.dataset.schema)
    leaves = dict(_leaves(schema))
    stored = {name: schema.field(name).type for name in names if name in leaves}
    need(stored, "not files of which no column is read")
    keys = ds.get_partition_keys(fragment.partition_expression)
    lacking = [name for name in names if name not in leaves and name not in keys]
    need(not lacking, f"not files without the column {lacking and lacking[0]!r}")
    need(stored.keys().isdisjoint(keys), "not partitions by a column that the file has")
    for name, kind in stored.items():
        need(schema.names.count(name) == 1 and "." not in name, f"not a column named {name!r}")
        _check_type(kind, (footer.schema.column(place) for place in leaves[name]))
    places = [place for name in stored for place in leaves[name]]
    columns = [footer.schema.column(place) for place in places]
    form = (*map(str, stored.values()), *map(str, columns))
    file = File(fragment, stored, form, columns, _rest(footer, end, size))
    for number, group in enumerate(fragment.row_groups):
        found = footer.row_group(group.id)
        chunks = [found.column(place) for place in places]
        ranges = [_bytes_of_chunk(it, end) for it in chunks]
        read = RowGroup(file, group.id, found.num_rows, chunks, ranges)
        if number == 0:
            check_chunks([read])
        if read.rows:
            yield read


def check_chunks(groups: list[RowGroup]) -> None:
    """Refuses row groups with compressions and encodings that libcudf is not asked for.

    pyarrow takes longer to tell encodings than all else of a footer.
    """
    passed: set[Any] = set()
    for group in groups:
        for place, (chunk, column) in enumerate(zip(group.chunks, group.file.columns, strict=True)):
            facts = place, chunk.compression, chunk.encodings
            if facts not in passed:  # a file may have thousands of chunks
                _check_chunk(chunk, column)
                passed.add(facts)


def _check_chunk(chunk: Any, column: Any) -> None:
    need(chunk.compression in _CODECS, f"not files compressed by {chunk.compression}")
    known = _ENCODINGS
    if not column.max_definition_level and not column.max_repetition_level:
        known |= _OF_LEVELS
    others = set(chunk.encodings) - known
    need(not others, f"not files with the encodings {', '.join(sorted(others))}")


def _bytes_of_chunk(chunk: Any, most: int) -> tuple[int, int]:
    """From which byte to which one it lies, of so many."""
    start = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
    end = start + chunk.total_compressed_size
    need(0 <= start <= end <= most, "not files that are cut off")
    return start, end


def _rest(footer: Any, most: int, size: int) -> tuple[int, int]:
    """Where indexes of pages may be: from where row groups no longer follow each other."""
    end = len(_MAGIC)
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        if _bytes_of_chunk(group.column(0), most)[0] != end:
            break
        end = max(end, _bytes_of_chunk(group.column(footer.num_columns - 1), most)[1])
    return end, size


def _need_plain_footer(fragment: Any) -> tuple[int, int]:
    """Where the footer begins, and the size of the file.  Refuses encrypted files, of whose columns
    pyarrow may tell nothing.

    The footer of a file that is partly encrypted is followed by a signature.
    """
    tail, size = _bytes_of(fragment, -_TAIL)
    need(tail[4:] == _MAGIC, "not encrypted files")
    length = int.from_bytes(tail[:4], "little")
    need(length == fragment.metadata.serialized_size, "not files that are partly encrypted")
    return size - _TAIL - length, size


def _bytes_of(fragment: Any, start: int) -> tuple[bytes, int]:
    """The bytes of a file from a place on, or so many at its end, and its size."""
    source = fragment.open()
    size: int = source.size()
    source.seek(start if start >= 0 else max(size + start, 0))
    data: bytes = source.read()
    if fragment.filesystem is not None:
        source.close()  # not a program's own file
    return data, size


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, range]]:
    """By name: the places of the columns of the file that a column of Arrow is made of."""
    place = 0
    for field in schema:
        count = _count_leaves(field.type)
        yield field.name, range(place, place + count)
        place += count


def _count_leaves(kind: pa.DataType) -> int:
    parts = _parts(kind)
    return sum(map(_count_leaves, parts)) if parts else 1


def _parts(kind: pa.DataType) -> list[pa.DataType]:
    if isinstance(kind, pa.BaseExtensionType):
        return _parts(kind.storage_type)
    return [kind.field(place).type for place in range(kind.num_fields)]


def _check_type(kind: pa.DataType, columns: Iterator[Any]) -> None:
    """Refuses a type of Arrow that libcudf does not read from the next columns."""
    parts = _parts(kind)
    if parts:
        need(_is.is_list(kind) or _is.is_struct(kind), f"not files with columns of type {kind}")
        for part in parts:
            _check_type(part, columns)
        return
    column = next(columns)
    checks = _STORED.get(column.physical_type, ())
    of = column.physical_type
    need(any(check(kind) for check in checks), f"not columns of type {of} as {kind}")
    need(of != "FIXED_LEN_BYTE_ARRAY" or column.length <= 16, "not decimals of more than 16 bytes")
