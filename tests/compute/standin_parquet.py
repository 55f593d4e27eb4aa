"""The stand-in's reader of Parquet files: pyarrow's, with the types that libcudf gives columns."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

HOST = pa.default_cpu_memory_manager()
_is = pa.types


class _Options:
    """Options, and their own builder."""

    def __init__(self, sources: list[Any], table: Any = None) -> None:
        self.sources, self.table, self.kept = sources, table, {}

    def __getattr__(self, name: str) -> Callable[[Any], _Options]:
        def keep(value: Any) -> _Options:
            self.kept[name.removeprefix("set_")] = value
            return self

        return keep

    def build(self) -> _Options:
        return self


def install(names: Any, column: Any, table: Any, calls: list[str]) -> None:
    def read(options: _Options) -> Any:
        calls.append("read_parquet")
        assert not options.kept["use_pandas_metadata"]
        wanted = options.kept["column_names"]
        parts = [
            opened(source).read_row_groups(groups, columns=wanted)
            for source, groups in zip(options.sources, options.kept["row_groups"], strict=True)
        ]
        found = pa.concat_tables(parts).select(wanted).combine_chunks()
        return SimpleNamespace(
            tbl=table([column(_as_theirs(it.combine_chunks())) for it in found.columns]),
            column_names=lambda: found.column_names,
        )

    def write(options: _Options) -> None:
        calls.append("write_parquet")
        keys = options.kept["key_value_metadata"][0]
        schema = pa.ipc.read_schema(pa.py_buffer(b64decode(keys["ARROW:schema"])))
        zones = {it.type.tz is not None for it in schema if _is.is_timestamp(it.type)}
        assert zones <= {options.kept["utc_timestamps"]}
        described = options.kept["metadata"].column_metadata
        arrays = []
        for each, field, of in zip(options.table.columns(), schema, described, strict=True):
            assert of.kept["name"] == field.name
            assert of.kept["nullability"] == field.nullable
            assert of.kept.get("decimal_precision", 0) == getattr(field.type, "precision", 0)
            arrays.append(each.value.cast(field.type))
        with pq.ParquetWriter(*options.sources, schema) as writer:
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))

    def described(it: Any) -> Any:
        return SimpleNamespace(column_metadata=[_Options([]) for _ in it.columns()])

    names.io.SinkInfo = lambda sinks: sinks
    names.io.parquet.ParquetWriterOptions.builder = _Options
    names.io.types.TableInputMetadata = described
    names.io.parquet.write_parquet = write

    def unpacked(metadata: Any, span: Any) -> Any:
        schema = pa.ipc.read_schema(pa.py_buffer(metadata))
        message = pa.py_buffer(span.owner.copy_to_host())
        return table([*map(column, pa.ipc.read_record_batch(message, schema).columns)])

    names.contiguous_split.pack = lambda it: _Packed(it.columns())
    names.contiguous_split.unpack_from_memoryviews = unpacked
    names.io.SourceInfo = lambda sources: sources
    names.io.parquet.ParquetReaderOptions.builder = _Options
    names.io.parquet.read_parquet = read
    names.filling.repeat = lambda it, counts: table(
        [column(each.value.take(_numbers(counts.value))) for each in it.columns()]
    )


class _Packed:
    """A table as one message on the device."""

    def __init__(self, columns: list[Any]) -> None:
        from pyarrow import cuda

        from pyarrow_cuda_compat import _native

        names = [str(place) for place in range(len(columns))]
        batch = pa.record_batch([each.value for each in columns], names=names)
        context = cuda.Context(_native._current_device())
        self._schema, self._message = batch.schema, cuda.serialize_record_batch(batch, context)

    def release(self) -> Any:
        data = SimpleNamespace(
            ptr=self._message.address, size=self._message.size, owner=self._message
        )
        return memoryview(self._schema.serialize()), data


def opened(source: Any) -> pq.ParquetFile:
    """A file by its path, its bytes, or memory of a device."""
    if isinstance(source, str):
        return pq.ParquetFile(source)
    data = source if isinstance(source, bytes) else source.owner.copy_to_host()
    assert len(data) == getattr(source, "size", len(data))
    return pq.ParquetFile(pa.BufferReader(data))


def _numbers(counts: pa.Array) -> pa.Array:
    pairs = enumerate(counts.to_pylist())
    return pa.array([place for place, count in pairs for _ in range(count)], pa.int32())


def _as_theirs(array: Any) -> pa.Array:
    """Their reader knows neither Arrow's schema nor time zones, and has one type of strings."""
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    kind = array.type
    if _is.is_dictionary(kind):
        return _as_theirs(array.dictionary_decode())
    if _is.is_struct(kind):
        parts = [_as_theirs(part) for part in array.flatten()]
        fields = [pa.field(it.name, part.type) for it, part in zip(kind, parts, strict=True)]
        return pa.StructArray.from_arrays(parts, fields=fields, mask=array.is_null())
    if _is.is_list(kind):
        return pa.ListArray.from_arrays(
            array.offsets, _as_theirs(array.values), mask=array.is_null()
        )
    if _is.is_time(kind):
        return (
            array.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
            .cast(pa.int64())
            .cast(pa.duration(kind.unit))
        )
    if _is.is_timestamp(kind):
        return array.cast(pa.int64()).cast(pa.timestamp(kind.unit))
    if _is.is_duration(kind):
        return array.cast(pa.int64())
    if _is.is_large_string(kind) or _is.is_string_view(kind):
        return array.cast(pa.string())
    if _is.is_large_binary(kind) or _is.is_binary_view(kind) or _is.is_binary(kind):
        array = array.cast(pa.binary())
        return pa.Array.from_buffers(
            pa.string(), len(array), array.buffers(), array.null_count, array.offset
        )
    return array
