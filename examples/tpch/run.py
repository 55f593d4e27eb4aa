"""Runs the 22 queries of TPC-H on the host or on a device.

The first of these commands also compares the answers with DuckDB's; `ci/bench tpch` measures.

    python examples/tpch/run.py --scale 0.1 --check
    python examples/tpch/run.py --scale 10 --on device
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
from check import difference, duckdb_answers
from data import default_folder, load, make, to_device, to_host
from queries import QUERIES


def parser(description: str) -> argparse.ArgumentParser:
    """The options that both programs have."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--scale", type=float, default=0.01, help="TPC-H's scale factor (0.01)")
    made.add_argument("--folder", type=Path, help="of the Parquet files, which are made if missing")
    made.add_argument("--on", choices=["host", "device"], default="host", help="where to compute")
    made.add_argument("--decimals", action="store_true", help="keep the files' decimals")
    return made


def parsed(made: argparse.ArgumentParser) -> argparse.Namespace:
    """The options, with the folder of the files, which are there."""
    options = made.parse_args()
    options.folder = (options.folder or default_folder(options.scale)).resolve()
    make(options.folder, options.scale)
    return options


def progress(text: str = "") -> None:
    """Replaces the last line of a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and after how many milliseconds."""
    start = perf_counter()
    result = call()
    return result, (perf_counter() - start) * 1000


def answer(name: str, tables: dict[str, pa.Table]) -> pa.Table:
    """The answer to a query, on the host.  The copy to there waits for the device."""
    return to_host(QUERIES[name](tables))


def run(tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """The answer to each query.  The times are those of first calls."""
    answers, total = {}, 0.0
    for name in QUERIES:
        progress(f"{name} of {len(QUERIES)}")
        answers[name], elapsed = timed(partial(answer, name, tables))
        total += elapsed
        progress()
        print(f"{name:>5} {elapsed:10.1f} ms {answers[name].num_rows:8} rows", flush=True)
    print(f"total {total:10.1f} ms")
    return answers


def report(found: dict[str, str]) -> None:
    """Prints the differences between answers; ends the program if there are any."""
    for name, text in found.items():
        print(f"{name}: {text}", file=sys.stderr)
    if found:
        raise SystemExit(1)


def differences(answers: dict[str, pa.Table], expected: dict[str, pa.Table]) -> dict[str, str]:
    """For each query whose answers differ, where."""
    found = {name: difference(name, it, expected[name]) for name, it in answers.items()}
    return {name: text for name, text in found.items() if text is not None}


def main() -> None:
    arguments = parser("Run the 22 queries of TPC-H.")
    arguments.add_argument("--device", type=int, default=0, help="the number of the device (0)")
    arguments.add_argument("--check", action="store_true", help="compare with DuckDB's answers")
    options = parsed(arguments)
    tables, load_ms = timed(lambda: load(options.folder, decimals=options.decimals))
    print(f"read {options.folder} in {load_ms:.0f} ms")
    if options.on == "device":
        tables, copy_ms = timed(lambda: to_device(tables, options.device))
        print(f"copied to device {options.device} in {copy_ms:.0f} ms")
    answers = run(tables)
    if options.check:
        report(differences(answers, dict(duckdb_answers(options.folder))))
        print("all answers are DuckDB's")


if __name__ == "__main__":
    main()
