"""Runs the conformance suite against the installed package, and tells how it went."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path

from .. import info
from . import cases
from .cases import Case, Result

EPILOG = """\
The exit status is 0 when no case failed, 1 when one did, 2 when none could be run, and 130 when
the run was broken off.
Cases that need what this machine lacks (a second device, Numba) are skipped, and say so.
"""
BAR = 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", nargs="*", help="run only cases whose names begin so")
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--json",
        metavar="FILE",
        type=writable,
        help="also write the results there",
    )
    output.add_argument("--list", action="store_true", help="name the cases, and run none")
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=positive,
        default=min(os.cpu_count() or 1, 8),
        help="how many to run at the same time (default: %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=120.0,
        help="end a case after so long (default: %(default)g)",
    )


def writable(text: str) -> Path:
    """Tried before the run, which would be lost otherwise; what is there stays until then."""
    path = Path(text)
    try:
        path.open("a").close()
    except OSError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 86400:
        raise ValueError
    return number


def main(arguments: argparse.Namespace) -> int:
    """Returns the exit status."""
    chosen = cases.find(arguments.name)
    if not chosen:
        print("There is no case of that name; --list names them all.", file=sys.stderr)
        return 2
    if arguments.list:
        width = max(len(case.name) for case in chosen)
        for case in chosen:
            print(f"{case.name:<{width}}  {case.title}")
        return 0
    facts = info.collect()
    if not info.usable(facts):
        print(info.render(facts), file=sys.stderr)
        print("No case was run, because there is no usable device.", file=sys.stderr)
        return 2
    done: list[Result] = []
    status = None
    try:
        for result in progress(run_all(chosen, arguments), len(chosen)):
            done.append(result)
    except KeyboardInterrupt:
        status = 130
    done.sort(key=by_name)
    # First: whoever reads the table may stop reading.
    if arguments.json:
        arguments.json.write_text(json.dumps(as_dict(facts, done), indent=2) + "\n")
    print(table(done))
    return exit_status(done) if status is None else status


def exit_status(done: list[Result]) -> int:
    found = {result.status for result in done}
    return 1 if "failed" in found else 0 if "passed" in found else 2


def by_name(result: Result) -> str:
    return result.case.name


def run_all(chosen: list[Case], arguments: argparse.Namespace) -> Iterator[Result]:
    """The results as they come."""
    with ThreadPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(cases.run, case, arguments.timeout) for case in chosen]
        try:
            for future in as_completed(running):
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def progress(results: Iterator[Result], total: int) -> Iterator[Result]:
    """Passes the results on, and shows on a terminal how many there are."""
    shown = sys.stderr.isatty()
    for count, result in enumerate(results, 1):
        if shown:
            filled = BAR * count // total
            bar = "#" * filled + "." * (BAR - filled)
            text = f"[{bar}] {count}/{total}  {result.case.name}"
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)
        yield result
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def table(results: list[Result]) -> str:
    width = max((len(result.case.name) for result in results), default=0)
    lines = []
    for result in results:
        reason = f"  ({result.detail})" if result.status == "skipped" else ""
        name = f"{result.case.name:<{width}}"
        lines.append(f"{result.status:<7}  {name}  {result.seconds:6.2f} s  "
                     f"{result.case.title}{reason}")  # fmt: skip
    for result in results:
        if result.status == "failed":
            lines += ["", f"=== {result.case.name}", result.detail]
    counts = Counter(result.status for result in results)
    parts = [f"{counts[status]} {status}" for status in ("passed", "failed", "skipped")]
    return "\n".join([*lines, "", ", ".join(parts)])


def as_dict(facts: dict[str, object], results: list[Result]) -> dict[str, object]:
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": facts,
        "cases": [
            {
                "name": result.case.name,
                "title": result.case.title,
                "status": result.status,
                "seconds": round(result.seconds, 3),
                "detail": result.detail,
            }
            for result in results
        ],
    }
