"""TPC-H's tables: makes them as Parquet files, reads them, and copies them to a device."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import cuda

#: The columns that the queries read, by table.
COLUMNS = {
    "region": "r_regionkey r_name",
    "nation": "n_nationkey n_name n_regionkey",
    "supplier": "s_suppkey s_name s_address s_nationkey s_phone s_acctbal s_comment",
    "customer": "c_custkey c_name c_address c_nationkey c_phone c_acctbal c_mktsegment c_comment",
    "part": "p_partkey p_name p_mfgr p_brand p_type p_size p_container",
    "partsupp": "ps_partkey ps_suppkey ps_availqty ps_supplycost",
    "orders": "o_orderkey o_custkey o_orderstatus o_totalprice o_orderdate o_orderpriority "
    "o_shippriority o_comment",
    "lineitem": "l_orderkey l_partkey l_suppkey l_quantity l_extendedprice l_discount l_tax "
    "l_returnflag l_linestatus l_shipdate l_commitdate l_receiptdate l_shipinstruct l_shipmode",
}


def default_folder(scale: float) -> Path:
    """Where the files of a scale factor stay for the next run."""
    return Path(tempfile.gettempdir(), f"tpch-{scale:g}")


def make(folder: Path, scale: float) -> None:
    """Makes the files with tpchgen-cli, unless the folder exists.

    The folder gets its name at the end, so that one with this name has all files.
    """
    if folder.exists():
        if not (folder / "lineitem.parquet").exists():
            raise SystemExit(
                f"{folder} has no lineitem.parquet; name a folder that is not there yet"
            )
        return
    beside_python = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent))
    program = beside_python or shutil.which("tpchgen-cli")
    if program is None:
        raise SystemExit("tpchgen-cli is missing: pip install tpchgen-cli")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
        made = Path(unfinished, "tables")
        command = [program, "parquet", f"--scale-factor={scale:g}", f"--output-dir={made}"]
        subprocess.run([*command, "--quiet"], check=True)
        with contextlib.suppress(OSError):  # another process was faster
            made.rename(folder)


def load(
    folder: Path, *, decimals: bool = False, columns: Mapping[str, Sequence[str]] | None = None
) -> dict[str, pa.Table]:
    """Reads some columns, by default those that the queries use; decimals become doubles, unless
    they are to stay."""
    wanted = every_column() if columns is None else columns
    return {
        name: _usable(pq.read_table(path_of(folder, name), columns=list(each)), decimals)
        for name, each in wanted.items()
    }


def every_column() -> dict[str, list[str]]:
    return {name: columns.split() for name, columns in COLUMNS.items()}


def columns_in(text: str) -> dict[str, list[str]]:
    """The columns that a query in SQL reads, by table."""
    words = set(re.findall(r"\w+", text))
    found = {
        name: [it for it in columns if it in words] for name, columns in every_column().items()
    }
    return {name: columns for name, columns in found.items() if columns}


def scale_of(folder: Path) -> float:
    """There are 10,000 suppliers for scale factor 1."""
    rows: int = pq.read_metadata(path_of(folder, "supplier")).num_rows
    return rows / 10_000


def path_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.parquet"


def _usable(table: pa.Table, decimals: bool) -> pa.Table:
    return table.cast(usable_schema(table.schema, decimals=decimals))


def usable_schema(schema: pa.Schema, *, decimals: bool) -> pa.Schema:
    """With `string` in place of views, for which pyarrow has few functions."""
    return pa.schema([(it.name, _usable_type(it.type, decimals)) for it in schema])


def _usable_type(kind: pa.DataType, decimals: bool) -> pa.DataType:
    if pa.types.is_decimal(kind) and not decimals:
        return pa.float64()
    return pa.string() if pa.types.is_string_view(kind) else kind


def to_device(tables: dict[str, pa.Table], device: int) -> dict[str, pa.Table]:
    """With one chunk for each column: libcudf would join several in each call."""
    context = cuda.Context(device)
    return {name: table.combine_chunks().copy_to(context) for name, table in tables.items()}


def to_host(table: pa.Table) -> pa.Table:
    return table.copy_to("cpu")


@cache
def loaded(folder: Path, device: int | None) -> dict[str, pa.Table]:
    """The tables on a device or, without one, on the host; read once in a process."""
    tables = load(folder)
    return tables if device is None else to_device(tables, device)
