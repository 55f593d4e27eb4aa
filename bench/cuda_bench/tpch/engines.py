"""Who answers the queries: each engine as its users would call it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .programs import check, data, queries

#: A call that leaves its result where the engine computes, or that returns an answer on the host.
Call = Callable[[], Any]
ITEM_COLUMNS = data.every_column()["lineitem"]


class Engine:
    """What it has loaded stays until the next `load`."""

    title: str
    versions: dict[str, str]

    def load(self, folder: Path, *, decimals: bool) -> None:
        """Reads all tables to where the engine computes; decimals stay, or become doubles."""
        raise NotImplementedError

    def unload(self) -> None:
        """Releases what is loaded."""
        raise NotImplementedError

    def answer(self, name: str) -> Call:
        """A query over what is loaded."""
        raise NotImplementedError

    def answer_from_files(self, folder: Path, name: str) -> Call:
        """A query over the files, of which the engine reads the columns that it needs."""
        raise NotImplementedError

    def read_items(self, folder: Path) -> Call:
        """Reads 14 columns of `lineitem` from the file to where the engine computes."""
        raise NotImplementedError


TEXTS = dict(check.texts())


class Host(Engine):
    title = "pyarrow on the host"

    def __init__(self) -> None:
        self.versions = {"pyarrow": pa.__version__}
        self.tables: dict[str, pa.Table] = {}

    def load(self, folder: Path, *, decimals: bool) -> None:
        self.tables = data.load(folder, decimals=decimals)

    def unload(self) -> None:
        self.tables = {}

    def answer(self, name: str) -> Call:
        return partial(queries.QUERIES[name], self.tables)

    def answer_from_files(self, folder: Path, name: str) -> Call:
        columns = data.columns_in(TEXTS[name])
        return lambda: queries.QUERIES[name](data.load(folder, decimals=True, columns=columns))

    def read_items(self, folder: Path) -> Call:
        return partial(pq.read_table, data.path_of(folder, "lineitem"), columns=ITEM_COLUMNS)


class Device(Engine):
    """The same queries over tables on device 0.  Answers come back to the host."""

    title = "ours"

    def __init__(self) -> None:
        package = import_module("pyarrow_cuda_compat")
        self.versions = {"pyarrow-cuda-compat": package.__version__}
        with suppress(PackageNotFoundError):
            self.versions["pylibcudf"] = version("pylibcudf-cu13")
        self.context = package.Context(0)
        pc.sum(pa.array([1]).copy_to(self.context))  # tells why nothing computes
        self.tables: dict[str, pa.Table] = {}

    def load(self, folder: Path, *, decimals: bool) -> None:
        self.tables = data.to_device(data.load(folder, decimals=decimals), 0)

    def unload(self) -> None:
        self.tables = {}

    def answer(self, name: str) -> Call:
        return lambda: data.to_host(queries.QUERIES[name](self.tables))

    def answer_from_files(self, folder: Path, name: str) -> Call:
        read = self.reader(folder, data.columns_in(TEXTS[name]))
        return lambda: data.to_host(queries.QUERIES[name](read()))

    def read_items(self, folder: Path) -> Call:
        read = self.reader(folder, {"lineitem": ITEM_COLUMNS})

        def call() -> Any:
            read()
            self.context.synchronize()

        return call

    def reader(self, folder: Path, columns: dict[str, list[str]]) -> Callable[[], dict[str, Any]]:
        """Reads columns of several tables, each in a thread.  The schemas are known before, as
        DuckDB knows those of its views."""
        paths = {it: data.path_of(folder, it) for it in columns}
        schemas = {
            it: data.usable_schema(pq.read_schema(path), decimals=True)
            for it, path in paths.items()
        }

        def read(name: str) -> Any:
            options = {"columns": columns[name], "schema": schemas[name]}
            return self.context.table_from_file(paths[name], **options)

        def read_all() -> dict[str, Any]:
            with ThreadPoolExecutor() as threads:
                return dict(zip(columns, threads.map(read, columns), strict=True))

        return read_all


class DuckDB(Engine):
    title = "DuckDB"

    def __init__(self) -> None:
        self.versions = {"duckdb": import_module("duckdb").__version__}
        self.connection: Any = None

    def load(self, folder: Path, *, decimals: bool) -> None:
        self.connection = check.duckdb_tables(folder, decimals=decimals, in_memory=True)

    def unload(self) -> None:
        self.connection = None

    def answer(self, name: str) -> Call:
        return partial(self.answered, self.connection, name)

    def answer_from_files(self, folder: Path, name: str) -> Call:
        return partial(self.answered, check.duckdb_tables(folder, decimals=True), name)

    def read_items(self, folder: Path) -> Call:
        connection = check.duckdb_tables(folder, decimals=True)
        return partial(
            connection.execute,
            f"create or replace table items as select {', '.join(ITEM_COLUMNS)} from lineitem",
        )

    @staticmethod
    def answered(connection: Any, name: str) -> pa.Table:
        return connection.execute(TEXTS[name]).to_arrow_table()


class Polars(Engine):
    """Its SQL, which takes all texts except one word of query 15."""

    title = "Polars"

    def __init__(self) -> None:
        self.polars = import_module("polars")
        self.versions = {"polars": self.polars.__version__}
        self.context: Any = None

    def tables(self, folder: Path, *, decimals: bool) -> dict[str, Any]:
        """Frames that are not read yet."""
        found = {}
        for name, columns in data.every_column().items():
            frame = self.polars.scan_parquet(data.path_of(folder, name)).select(columns)
            if not decimals:
                of_decimals = self.polars.selectors.decimal()
                frame = frame.with_columns(of_decimals.cast(self.polars.Float64))
            found[name] = frame
        return found

    def load(self, folder: Path, *, decimals: bool) -> None:
        tables = self.tables(folder, decimals=decimals)
        self.context = self.polars.SQLContext({it: each.collect() for it, each in tables.items()})

    def unload(self) -> None:
        self.context = None

    def answer(self, name: str) -> Call:
        return partial(self.answered, self.context, name)

    def answer_from_files(self, folder: Path, name: str) -> Call:
        context = self.polars.SQLContext(self.tables(folder, decimals=True))
        return partial(self.answered, context, name)

    def read_items(self, folder: Path) -> Call:
        frame = self.tables(folder, decimals=True)["lineitem"]
        return lambda: frame.collect()

    @staticmethod
    def answered(context: Any, name: str) -> pa.Table:
        text = TEXTS[name].replace(" materialized", "").rstrip().rstrip(";")
        return context.execute(text, eager=True).to_arrow()


#: Ours first: the others are compared with it.
ENGINES: dict[str, type[Engine]] = {
    "ours": Device,
    "host": Host,
    "duckdb": DuckDB,
    "polars": Polars,
}
