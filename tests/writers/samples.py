"""What the writers are given: streams of pyarrow with each type, in batches of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from support.samples import ALL

#: More rows, so that compressed buffers are smaller.
_TIMES = 50
#: So many that compressed buffers have several blocks.
_ROWS = 70_000
_OPTIONS = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
_METADATA = {"of": "the schema", "": "ü"}
_SEVERAL = ("int8", "string", "bool", "list", "int64", "struct", "dictionary", "null", "date32")
_WORDS = ["a", None, "a word of more than twelve bytes", "b"]


def write(folder: Path) -> None:
    for name, schema, batches in tables():
        path = folder / f"{name.replace(' ', '_')}.arrows"
        with pa.ipc.new_stream(path, schema, options=_OPTIONS) as writer:
            for batch in batches:
                writer.write_batch(batch)


def tables() -> Iterator[tuple[str, pa.Schema, list[pa.RecordBatch]]]:
    for name, arrays in columns():
        field = pa.field("x", arrays[0].type, metadata={"of": "the field"})
        schema = pa.schema([field], metadata=_METADATA)
        yield name, schema, [pa.record_batch([array], schema=schema) for array in arrays]
    yield "no batches", schema, []
    several = pa.record_batch({it: ALL[it][:3] for it in _SEVERAL}, metadata=_METADATA)
    yield "several columns", several.schema, [several, several[:0], several[1:]]
    numbers = pa.array(range(_ROWS), pa.int64())
    many = pa.record_batch({"x": numbers, "y": pa.array(map(str, range(_ROWS)))})
    yield "many rows", many.schema, [many]


def columns() -> Iterator[tuple[str, list[pa.Array]]]:
    """Names, and the columns of batches in sequence."""
    for name, array in (ALL | dict(_dictionaries())).items():
        yield name, [pa.concat_arrays([array] * _TIMES), array[1:], array[:0]]
    grown = [_WORDS, [*_WORDS, "c"], [*_WORDS, "c", "d"]]
    yield "dictionary that grows", [pa.array(words).dictionary_encode() for words in grown]
    other = [_WORDS, ["z", None, "y"], _WORDS]
    yield "dictionary that changes", [pa.array(words).dictionary_encode() for words in other]
    yield "no rows", [pa.array([], pa.string())]


def _dictionaries() -> Iterator[tuple[str, pa.Array]]:
    words = pa.array(_WORDS)
    for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        index = pa.array([2, 0, None, 3, 1], getattr(pa, name)())
        yield f"dictionary by {name}", pa.DictionaryArray.from_arrays(index, words)
    index = pa.array([1, 0, None, 1], pa.int32())
    for type in (pa.large_string(), pa.string_view(), pa.binary()):
        values = words.cast(type)
        yield f"dictionary of {type}", pa.DictionaryArray.from_arrays(index, values)
    yield "dictionary of int64", pa.array([5, None, 7, 5]).dictionary_encode()
    encoded = words.dictionary_encode()
    yield "list of dictionaries", pa.ListArray.from_arrays([0, 2, 2, 4], encoded)
    yield "struct of dictionaries", pa.StructArray.from_arrays([encoded, encoded], ["a", "b"])
    numbers = pa.array([[1, None], [], None])
    yield "dictionary of lists", pa.DictionaryArray.from_arrays(index[:2], numbers)
