"""Parquet files as other programs write them, with the types and options that each of them has."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Rows of the columns that DuckDB makes: flat types, decimals of all widths, times, nested ones.
_SQL = """
    SELECT (i % 100)::TINYINT AS a, (i * 3)::USMALLINT AS b, i::BIGINT - 5 AS c,
        (i / 4)::FLOAT AS d, i % 2 = 0 AS f,
        CASE WHEN i % 3 = 0 THEN NULL ELSE (i * 1.25)::DOUBLE END AS e,
        CASE WHEN i % 5 = 0 THEN NULL ELSE 'word ' || (i % 7) END AS g,
        (i / 7)::DECIMAL(4, 1) AS h, (i / 7)::DECIMAL(9, 3) AS j, (i / 7)::DECIMAL(18, 6) AS k,
        (i / 7)::DECIMAL(38, 9) AS l, DATE '1970-01-01' + i::INT AS m,
        TIMESTAMP '2001-02-03 04:05:06.789' + INTERVAL (i) HOUR AS n,
        TIMESTAMPTZ '2001-02-03 04:05:06.789+01' + INTERVAL (i) HOUR AS o,
        TIME '01:02:03.000456' AS p, [i, NULL, i + 1] AS q, {'x': i, 'y': 'of ' || i} AS r,
        ('b' || i)::BLOB AS s, i::HUGEINT AS t, [['n', NULL], []] AS u
    FROM range(500) AS made(i)
"""


def duckdb(folder: Path) -> Iterator[Path]:
    import duckdb

    for compression in ("snappy", "zstd", "gzip", "uncompressed", "lz4_raw"):
        for version in ("V1", "V2"):
            path = folder / f"duckdb-{compression}-{version}.parquet"
            options = f"FORMAT parquet, CODEC '{compression}', PARQUET_VERSION {version}"
            # A cursor is a connection of its own.
            with duckdb.connect() as connection:
                connection.execute("SET TimeZone = 'UTC'")
                connection.execute(f"COPY ({_SQL}) TO '{path}' ({options}, ROW_GROUP_SIZE 2048)")
            yield path


def polars(folder: Path) -> Iterator[Path]:
    import polars as pl

    numbers = list(range(400))
    frame = pl.DataFrame(
        {
            "a": pl.Series(numbers, dtype=pl.Int16),
            "b": pl.Series([None if it % 4 == 0 else it / 8 for it in numbers]),
            "c": pl.Series([None if it % 9 == 0 else f"w{it % 5}" for it in numbers]),
            "d": pl.Series([it % 2 == 0 for it in numbers]),
            "e": pl.Series([[it, None] for it in numbers]),
            "f": pl.Series([{"x": it, "y": str(it)} for it in numbers]),
        }
    )
    frame = frame.with_columns(
        pl.col("a").cast(pl.Date).alias("g"),
        (pl.col("a").cast(pl.Int64) * 10**12).cast(pl.Datetime("us")).alias("h"),
        (pl.col("a").cast(pl.Int64) * 10**12).cast(pl.Datetime("ns", "UTC")).alias("i"),
        pl.col("c").cast(pl.Categorical).alias("j"),
        pl.col("c").cast(pl.Binary).alias("k"),
        pl.col("a").cast(pl.Int64).cast(pl.Duration("us")).alias("l"),
        pl.col("a").cast(pl.Decimal(15, 2)).alias("m"),
    )
    for compression in ("zstd", "snappy", "gzip", "uncompressed"):
        path = folder / f"polars-{compression}.parquet"
        frame.write_parquet(path, compression=compression, row_group_size=150)
        yield path


def fastparquet(folder: Path) -> Iterator[Path]:
    import fastparquet as writer
    import pandas as pd

    numbers = np.arange(300)
    frame = pd.DataFrame(
        {
            "a": numbers.astype(np.int32),
            "b": np.where(numbers % 3 == 0, np.nan, numbers / 4),
            "c": [f"w{it % 6}" for it in numbers],
            "d": numbers % 2 == 0,
            "e": pd.to_datetime(numbers, unit="h"),
            "f": pd.Series(numbers).astype("Int64").where(numbers % 4 != 0),
        }
    )
    for compression in ("SNAPPY", "GZIP", "ZSTD", None):
        for times in ("int64", "int96"):
            path = folder / f"fastparquet-{compression}-{times}.parquet"
            writer.write(str(path), frame, [0, 100], compression=compression, times=times)
            yield path


def tpchgen(folder: Path) -> Iterator[Path]:
    command = ["parquet", "--scale-factor=0.001", f"--output-dir={folder}/tpch", "--quiet"]
    subprocess.run([Path(sys.executable).parent / "tpchgen-cli", *command], check=True)
    yield from sorted(Path(folder, "tpch").glob("*.parquet"))


def spark(folder: Path) -> Iterator[Path]:
    """As Spark writes them: times of 96 bits, decimals as integers, nested lists."""
    rows = 300
    table = pa.table(
        {
            "time": pa.array([it * 10**15 for it in range(rows)], pa.timestamp("ns")),
            "money": pa.array(range(rows), pa.int64())
            .cast(pa.decimal128(19, 0))
            .cast(pa.decimal128(21, 2)),
            "large": pa.array(range(rows), pa.int64())
            .cast(pa.decimal128(19, 0))
            .cast(pa.decimal128(38, 18)),
            "word": [None if it % 2 else f"w{it % 3}" for it in range(rows)],
            "list": [[it, None] if it % 5 else None for it in range(rows)],
        }
    )
    for name, columns in (("int96", table.column_names), ("int64", table.column_names[1:])):
        path = folder / f"spark-{name}.parquet"
        pq.write_table(
            table.select(columns),
            path,
            version="1.0",
            store_schema=False,
            store_decimal_as_integer=True,
            use_deprecated_int96_timestamps=True,
            use_compliant_nested_type=True,
        )
        yield path


WRITERS: dict[str, Callable[[Path], Iterator[Any]]] = {
    it.__name__: it for it in (duckdb, polars, fastparquet, tpchgen, spark)
}
