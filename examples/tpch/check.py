"""Compares answers, and has DuckDB answer the queries."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from math import isclose
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from data import every_column, path_of

#: Sums that differ in the last bits may exchange rows: the columns that the rows are ordered by.
_ORDERED_BY = {
    "q3": "revenue",
    "q5": "revenue",
    "q10": "revenue",
    "q11": "value",
    "q18": "o_totalprice",
}


def difference(name: str, found: pa.Table, expected: pa.Table) -> str | None:
    """Where the answers to a query differ, or None if they agree."""
    if found.column_names != expected.column_names:
        return f"columns {found.column_names}, expected {expected.column_names}"
    if found.num_rows != expected.num_rows:
        return f"{found.num_rows} rows, expected {expected.num_rows}"
    rows, wanted = (list(_rows(table)) for table in (found, expected))
    column = _ORDERED_BY.get(name)
    if column is not None:
        place = found.column_names.index(column)
        for row, other in zip(rows, wanted, strict=True):
            if not _agree(row[place], other[place]):
                return f"{column} {row[place]} in order, expected {other[place]}"
        rows, wanted = sorted(rows, key=_exact), sorted(wanted, key=_exact)
    for number, (row, other) in enumerate(zip(rows, wanted, strict=True)):
        if not all(map(_agree, row, other)):
            return f"row {number} is {row}, expected {other}"
    return None


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _exact(row: tuple[Any, ...]) -> list[str]:
    return [str(value) for value in row if not isinstance(value, float | Decimal)]


def _agree(one: Any, other: Any) -> bool:
    if isinstance(one, Decimal) and isinstance(other, float):
        # pyarrow's mean of decimals has the digits of the files' decimals, which are two.
        return isclose(one, other, rel_tol=1e-9, abs_tol=0.01)
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, rel_tol=1e-9)
    return bool(one == other)


def duckdb_answers(folder: Path) -> Iterator[tuple[str, pa.Table]]:
    """The name of each query, and DuckDB's answer from the same files."""
    connection = duckdb_tables(folder)
    for name, text in texts():
        yield name, connection.execute(text).to_arrow_table()


def duckdb_tables(folder: Path, *, decimals: bool = False, in_memory: bool = False) -> Any:
    """A connection to DuckDB with the tables: views of the files, or copies in memory."""
    import duckdb

    connection = duckdb.connect()
    kind = "table" if in_memory else "view"
    for name, columns in every_column().items():
        path = path_of(folder, name)
        schema = pq.read_schema(path)
        doubles = set() if decimals else {it.name for it in schema if pa.types.is_decimal(it.type)}
        wanted = ", ".join(
            f"cast({it} as double) as {it}" if it in doubles else it for it in columns
        )
        quoted = str(path).replace("'", "''")
        source = f"select {wanted} from read_parquet('{quoted}')"
        connection.execute(f"create {kind} {name} as {source}")
    return connection


def texts() -> Iterator[tuple[str, str]]:
    """The name and the text of each query in the file."""
    file = Path(__file__).with_name("queries.sql")
    parts = re.split(r"^-- (q\d+).*\n", file.read_text(), flags=re.MULTILINE)
    yield from zip(parts[1::2], parts[2::2], strict=True)
