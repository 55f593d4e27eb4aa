"""``write.py WRITER SAMPLES FOLDER``: the library writes the samples, and types of its own.

It runs in the library's environment.  A library that does not know a type writes no file of it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from inspect import signature
from itertools import product
from pathlib import Path
from typing import Any

CODECS = (None, "lz4", "zstd")

Write = Callable[[Path], object]


def polars(samples: list[Path]) -> Iterator[tuple[str, Write]]:
    import polars as pl

    def frame(sample: Path) -> Any:
        read = pl.read_ipc_stream(sample)
        return pl.concat([read, read[1:-1], read[:0]], rechunk=False)

    def words() -> Any:
        return pl.DataFrame({"x": pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"]))})

    def write(read: Callable[[], Any], method: str, options: dict[str, Any], to: Path) -> None:
        getattr(read(), method)(to, **options)

    # Older versions make a batch of each chunk.
    has_size = "record_batch_size" in signature(pl.DataFrame.write_ipc).parameters
    batches = {"record_batch_size": 300} if has_size else {}
    if hasattr(pl, "CompatLevel"):
        levels = {
            it: {"compat_level": getattr(pl.CompatLevel, it)()} for it in ("oldest", "newest")
        }
    else:
        levels = {"oldest": {}, "newest": {"future": True}}
    frames = {it.stem: partial(frame, it) for it in samples} | {"enum": words}
    for (name, read), (level, options), codec in product(frames.items(), levels.items(), CODECS):
        stem = f"{name}.{level}.{codec or 'plain'}"
        given = {"compression": codec or "uncompressed", **options}
        yield f"{stem}.arrow", partial(write, read, "write_ipc", given | batches)
        yield f"{stem}.arrows", partial(write, read, "write_ipc_stream", given)


def arro3(samples: list[Path]) -> Iterator[tuple[str, Write]]:
    for name, read in _tables(samples):
        yield from _by_rust(name, read)


def _tables(samples: list[Path]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The samples, and parts of them."""
    from arro3 import core, io

    def part(sample: Path) -> Any:
        table = core.Table.from_arrow(io.read_ipc_stream(sample))
        return table.slice(min(1, table.num_rows), max(table.num_rows - 2, 0))

    for sample in samples:
        yield sample.stem, partial(io.read_ipc_stream, sample)
        yield f"{sample.stem}.sliced", partial(part, sample)


def _by_rust(
    name: str, read: Callable[[], Any], codecs: tuple[str | None, ...] = CODECS
) -> Iterator[tuple[str, Write]]:
    """What gives batches is written by the implementation of Rust."""
    from arro3 import io

    for codec in codecs:
        for function, end in ((io.write_ipc, "arrow"), (io.write_ipc_stream, "arrows")):
            write = lambda to, of=function, by=codec: of(read(), to, compression=by)  # noqa: E731
            yield f"{name}.{codec or 'plain'}.{end}", write


def nanoarrow(samples: list[Path]) -> Iterator[tuple[str, Write]]:
    from nanoarrow.ipc import StreamWriter

    def write(read: Callable[[], Any], to: Path) -> None:
        with StreamWriter.from_path(to) as writer:
            writer.write_stream(read())

    for name, read in _tables(samples):
        yield f"{name}.arrows", partial(write, read)


def datafusion(samples: list[Path]) -> Iterator[tuple[str, Write]]:
    import datafusion as df
    import pyarrow as pa

    def write(sample: Path, rows: str, to: Path) -> None:
        context = df.SessionContext()
        context.register_record_batches("x", [pa.ipc.open_stream(sample).read_all().to_batches()])
        context.sql(f"COPY {rows} TO '{to}' STORED AS ARROW").collect()

    for sample in samples:
        yield f"{sample.stem}.arrow", partial(write, sample, "x")
        yield f"{sample.stem}.sliced.arrow", partial(write, sample, "(SELECT * FROM x OFFSET 1)")


#: The layouts of arrays that DuckDB gives.
_LEVELS = {
    "oldest": (),
    "newest": (
        "SET arrow_lossless_conversion = true",
        "SET arrow_output_list_view = true",
        "SET arrow_output_version = '1.4'",
    ),
}
#: Columns that DuckDB's extension cannot write: its database ends.
_FATAL = ("null", "null.sliced", "list_of_dictionaries.sliced")


def duckdb(samples: list[Path]) -> Iterator[tuple[str, Write]]:
    """Old versions write by an extension; of newer ones, the implementation of Rust gets arrays."""
    import duckdb as db

    if extension := find_spec("duckdb_extension_arrow"):
        (library,) = Path(extension.origin).parent.rglob("*.duckdb_extension")
        connection = db.connect()
        # By several threads, messages come in any order.
        connection.execute(f"LOAD '{library}'; SET threads = 1")
        for name, read in _relations(connection, samples):
            if name not in _FATAL:
                yield f"{name}.arrows", partial(_by_extension, read)
        return
    for level, statements in _LEVELS.items():
        connection = db.connect()
        for statement in statements:
            connection.execute(statement)
        for name, read in _relations(connection, samples):
            yield from _by_rust(f"{name}.{level}", read, (None,))


def _relations(connection: Any, samples: list[Path]) -> Iterator[tuple[str, Callable[[], Any]]]:
    own = connection.sql("FROM test_all_types()")
    for column in own.columns:
        yield f"its_{column}", partial(own.select, f'"{column}" AS x')
    for name, read in _tables(samples):
        yield name, lambda read=read: connection.from_arrow(read())


def _by_extension(read: Callable[[], Any], to: Path) -> None:
    messages = read().query("x", "SELECT ipc FROM to_arrow_ipc((FROM x))").fetchall()
    to.write_bytes(b"".join(it for (it,) in messages) + b"\xff\xff\xff\xff\0\0\0\0")


WRITERS = {it.__name__: it for it in (polars, arro3, nanoarrow, datafusion, duckdb)}


def main() -> None:
    writer, samples, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    for name, write in WRITERS[writer](sorted(samples.iterdir())):
        try:
            write(folder / name)
        except BaseException as error:  # a panic of Rust is no Exception
            print(f"{name}: {error!r}")
            (folder / name).unlink(missing_ok=True)


if __name__ == "__main__":
    main()
