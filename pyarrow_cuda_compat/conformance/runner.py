"""The command ``conformance``: runs cases with the installed package, many at a time."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from .._tools import info
from . import cases, examples, outcome, report
from .cases import Case
from .examples import Examples
from .outcome import Outcome

EPILOG = """\
The exit status is 0 when no case failed, 1 when one did, 2 when none could run, and 130 when
you interrupted the run.
A case that needs something that this machine lacks (a second device, Numba) is skipped, and the
table says what is lacking.
"""
BAR = 30
# Each process has a context of its own, which takes about half a GiB of a GPU's memory.
MOST_JOBS = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", nargs="*", help="replay only cases whose names begin with this")
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--json",
        metavar="FILE",
        type=writable,
        help="also write the results and the transcripts there",
    )
    output.add_argument("--list", action="store_true", help="list the cases without replaying them")
    output.add_argument(
        "--update",
        action="store_true",
        help="write what differs here into the cases of --suite, and show it",
    )
    parser.add_argument(
        "--suite",
        metavar="FOLDER",
        type=suite,
        default=cases.PACKAGED,
        help="replay the cases of this folder, `cases/AREA/NAME.pycon`, instead of those that the "
        "package carries; the docstring examples are the installed package's",
    )
    parser.add_argument(
        "--may-lack",
        metavar="LIST",
        type=reasons,
        help="what this machine may lack, such as `a GPU, a second device`: how the reasons begin; "
        "a case that is skipped for another reason has failed (default: any reason is fine)",
    )
    parser.add_argument(
        "--jobs",
        metavar="N",
        type=positive,
        default=min(len(os.sched_getaffinity(0)), MOST_JOBS),
        help="how many cases to replay at the same time (default: %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=seconds,
        default=120.0,
        help="end a case that takes longer (default: %(default)g)",
    )


def writable(text: str) -> Path:
    """Tries the file before the run, whose results would be lost; keeps what is in it so far."""
    path = Path(text)
    is_new = not path.exists()
    try:
        path.open("a").close()
        if is_new:
            path.unlink()
    except OSError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def suite(text: str) -> Path:
    path = Path(text)
    if not (path / "cases").is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path / 'cases'}")
    return path


def reasons(text: str) -> tuple[str, ...]:
    return tuple(filter(None, (each.strip() for each in text.split(","))))


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
    chosen: list[Case | Examples] = [*cases.find(arguments.suite, arguments.name)]
    chosen += examples.find(arguments.name)
    chosen.sort(key=lambda case: case.name)
    if not chosen:
        print("There is no case of that name; --list names them all.", file=sys.stderr)
        return 2
    if arguments.list:
        width = max(len(case.name) for case in chosen)
        for case in chosen:
            print(f"{case.name:<{width}}  {case.title}")
        return 0
    if arguments.update and arguments.suite.resolve() == cases.PACKAGED:
        print("--update changes no case of the package: --suite names others.", file=sys.stderr)
        return 2
    machine = info.collect()
    if reason := obstacle(machine):
        print(info.render(machine), file=sys.stderr)
        print(f"No case was run, because {reason}.", file=sys.stderr)
        return 2
    done: list[Outcome] = []
    status = None
    try:
        for each in progress(run_all(chosen, arguments), len(chosen)):
            done.append(each)
    except KeyboardInterrupt:
        status = 130
    done.sort(key=lambda each: each.case.name)
    if arguments.update:
        done = [outcome.update(each) for each in done]
    # Before the table, because whoever reads that may stop reading.
    if arguments.json:
        results = json.dumps(report.as_dict(machine, done), indent=2)
        arguments.json.write_text(f"{results}\n", encoding="utf-8")
    print(report.table(done))
    return exit_status(done) if status is None else status


def obstacle(machine: dict[str, Any]) -> str | None:
    """Why no case could pass here, whatever it shows."""
    pyarrow = machine["pyarrow"]
    if "error" in pyarrow:
        return f"the package cannot be used: {pyarrow['error']}"
    if not info.usable(machine):
        return "there is no usable device"
    if not pyarrow["hook"] and pyarrow["pyarrow.cuda"] != "pyarrow's own":
        return (
            "`from pyarrow import cuda` does not find the package: PYARROW_CUDA_HOOK=0 is set, or "
            "this Python does not read pyarrow_cuda_compat.pth where the package is installed"
        )
    return None


def exit_status(done: list[Outcome]) -> int:
    found = {each.status for each in done}
    return 1 if "failed" in found else 0 if found & {"passed", "updated"} else 2


def run_all(chosen: list[Case | Examples], arguments: argparse.Namespace) -> Iterator[Outcome]:
    """The outcomes as they come."""
    with ThreadPoolExecutor(arguments.jobs) as pool:
        running = [pool.submit(outcome.run, case, arguments.timeout) for case in chosen]
        try:
            for future in as_completed(running):
                yield outcome.judge(future.result(), arguments.may_lack)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def progress(outcomes: Iterator[Outcome], total: int) -> Iterator[Outcome]:
    """Passes the outcomes on; a terminal shows how many there are so far."""
    shown = sys.stderr.isatty()
    for count, each in enumerate(outcomes, 1):
        if shown:
            filled = BAR * count // total
            bar = "#" * filled + "." * (BAR - filled)
            text = f"[{bar}] {count}/{total}  {each.case.name}"
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)
        yield each
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
