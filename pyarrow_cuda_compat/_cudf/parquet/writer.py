"""Tables on a device as Parquet files, in which any reader finds what pyarrow's writer puts there.

The files have no statistics of floating-point columns, of which libcudf's are others for NaN.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from ..columns import table_of
from ..refusals import need
from ..types import kind_of

_is = pa.types
#: Values in a table.  For fewer, pyarrow is as fast.
LEAST = 1 << 20
_KINDS = ("bool", "int", "float", "decimal", "string", "large_string", "date", "time")
#: libcudf's dictionaries have one zero for 0.0 and -0.0.
_PLAIN = plc.io.types.ColumnEncoding.PLAIN
_Compression = plc.io.types.CompressionType
_COMPRESSIONS = {
    "snappy": _Compression.SNAPPY,
    "zstd": _Compression.ZSTD,
    "none": _Compression.NONE,
}


def write(table: pa.Table, path: str, compression: str) -> None:
    """Writes a file, of which a part is left if that fails.

    Raises
    ------
    NotCovered
        If pyarrow has to write it.
    """
    schema = table.schema
    need(table.num_rows * len(schema) >= LEAST, "not small tables, which pyarrow writes sooner")
    need(compression in _COMPRESSIONS, f"not with the compression {compression!r}")
    for field in schema:
        is_written = kind_of(field.type) in _KINDS and getattr(field.type, "unit", None) != "s"
        need(is_written, f"not columns of type {field.type}")
    need(len(set(schema.names)) == len(schema), "not several columns of one name")
    columns = table_of(table)
    options = (
        plc.io.parquet.ParquetWriterOptions.builder(plc.io.SinkInfo([path]), columns)
        .metadata(_described(columns, schema))
        .key_value_metadata([_keys_of(schema)])
        .compression(_COMPRESSIONS[compression])
        .stats_level(_statistics_of(schema))
        .utc_timestamps(_are_zoned(schema))
        .write_arrow_schema(False)
        .build()
    )
    plc.io.parquet.write_parquet(options)


def _described(columns: Any, schema: pa.Schema) -> Any:
    """The names, the digits and the nullability of the columns."""
    metadata = plc.io.types.TableInputMetadata(columns)
    for column, field in zip(metadata.column_metadata, schema, strict=True):
        column.set_name(field.name).set_nullability(field.nullable)
        if _is.is_decimal(field.type):
            column.set_decimal_precision(field.type.precision)
        if _is.is_floating(field.type):
            column.set_encoding(_PLAIN)
    return metadata


def _keys_of(schema: pa.Schema) -> dict[str, str]:
    """The metadata of the file, with Arrow's schema as pyarrow writes it."""
    try:
        keys = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    except UnicodeDecodeError:
        need(False, "not with metadata that is not UTF-8")
    return keys | {"ARROW:schema": b64encode(schema.serialize().to_pybytes()).decode()}


def _statistics_of(schema: pa.Schema) -> Any:
    levels = plc.io.types.StatisticsFreq
    has_floats = any(map(_is.is_floating, schema.types))
    return levels.STATISTICS_NONE if has_floats else levels.STATISTICS_ROWGROUP


def _are_zoned(schema: pa.Schema) -> bool:
    """Whether the times are instants.  The option is one for all columns."""
    zoned = {kind.tz is not None for kind in schema.types if _is.is_timestamp(kind)}
    need(len(zoned) < 2, "not times with and without a zone")
    return zoned == {True}
