"""Files that are not read: what they are, and the call that reads them."""

from __future__ import annotations

import codecs
import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from .datasets import format_of

#: How many bytes tell what a file is.
BEGINNING = 64
#: How compressed files begin, by pyarrow's name of the compression.
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
}
#: How other files begin, what they are, and what reads them.
_OTHERS = {
    b"FEA1": ("a Feather file of version 1", "pyarrow.feather.read_table(path).copy_to(context)"),
    b"\x93NUMPY": ("a file of NumPy", "DeviceArray.from_host(numpy.load(path))"),
    b"PK\x03\x04": (
        "a ZIP archive, as those of Excel and NumPy are",
        "zipfile.ZipFile(path).open(name), numpy.load or pandas.read_excel",
    ),
}
_TEXT = ("text, such as CSV", "pyarrow.csv.read_csv(path).copy_to(context)")
_JSON = ("text, such as JSON", "pyarrow.json.read_json(path).copy_to(context)")

_TAKEN = {
    "path": (
        "a path, the descriptor of an open file, or a binary file of `open`, `tempfile` or "
        "`pyarrow.OSFile`"
    ),
    "source": (
        "a path, the descriptor of an open file, a binary file, the bytes of one, or of Parquet "
        "files a list of paths or a dataset"
    ),
}
#: What to do with a URI, of which `fsspec` knows more kinds than pyarrow.
_OPENED = "Context.buffer_from_data(file.read()) copies what fsspec.open(uri) opens"
_CREATED = "fsspec.open(uri, 'wb') opens it, for file.write(buffer.copy_to_host())"
#: What to do with objects that are not files, by their classes.
_OBJECTS: tuple[tuple[Any, str], ...] = (
    (io.TextIOBase, "it is open in text mode, and open(path, 'rb') opens it for bytes"),
    (
        (pa.Array, pa.ChunkedArray, pa.RecordBatch, pa.Table, pa.RecordBatchReader),
        "its method copy_to(context) copies it to a device",
    ),
    ((list, tuple), "call it for each file"),
    ((bytes, bytearray, memoryview, pa.Buffer), "Context.buffer_from_data copies bytes"),
)

#: And by what they have.
_INTERFACES = {
    "to_reader": "its method copy_to(context) copies its rows to a device",
    "read_row_groups": "pass the path from which it was made",
    "read": "Context.buffer_from_data(file.read()) copies what it reads",
    "__arrow_c_stream__": "pyarrow.table(data).copy_to(context) copies it to a device",
    "__next__": (
        "list(paths) is taken, and of record batches pyarrow.RecordBatchReader.from_batches("
        "schema, batches).copy_to(context) reads one after the other"
    ),
}


@contextmanager
def explained(beginning: bytes) -> Iterator[None]:
    """Says what data is that begins so, if it cannot be read."""
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        found = None if getattr(error, "errno", None) else _described(beginning)
        if found is None:
            raise
        raise pa.ArrowInvalid(found) from error


def _described(beginning: bytes) -> str | None:
    """What data is that begins so, and what reads it; None for Arrow data and unknown data."""
    if format_of(beginning) is not None:
        return None
    if not beginning:
        return (
            "the source is empty: it has 0 bytes, and even an empty table takes some; write it "
            "again, and close the writer"
        )
    for magic, name in _COMPRESSED.items():
        if beginning.startswith(magic):
            return (
                f"the source is compressed as a whole, by {name}: "
                f"pyarrow.input_stream(path, compression={name!r}) is a source that unpacks it"
            )
    others = (of for magic, of in _OTHERS.items() if beginning.startswith(magic))
    found = next(others, None) or _text(beginning)
    return found and f"the source is {found[0]}, not of Arrow, Parquet or ORC: {found[1]} reads it"


def _text(beginning: bytes) -> tuple[str, str] | None:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(beginning).lstrip("\ufeff")
    except UnicodeDecodeError:
        return None
    if not all(letter.isprintable() or letter.isspace() for letter in text):
        return None
    return _JSON if text.lstrip().startswith(("{", "[")) else _TEXT


def not_a_file(argument: str, value: Any) -> TypeError:
    """The error for an object that is not a file, and what to do with it."""
    ways_out = (way_out for classes, way_out in _OBJECTS if isinstance(value, classes))
    way_out = next(ways_out, None)
    if way_out is None:
        ways_out = (text for name, text in _INTERFACES.items() if hasattr(value, name))
        way_out = next(ways_out, None)
    rest = "" if way_out is None else f"; {way_out}"
    return TypeError(
        f"{argument} argument must be {_TAKEN[argument]}, not {type(value).__name__}{rest}"
    )


def missing(name: str | bytes, is_read: bool = True) -> OSError:
    """The error for a path that does not exist, and what to do with a pattern or a URI."""
    text, path = os.strerror(errno.ENOENT), os.fsdecode(name)
    if "://" in path:
        text += f"; it is a URI, and {_OPENED if is_read else _CREATED}"
    elif any(letter in path for letter in "*?["):
        text += "; patterns are not expanded, and glob.glob(pattern) lists their files"
    return OSError(errno.ENOENT, text, name)
