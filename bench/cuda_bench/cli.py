"""The command line."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .driver import DriverError
from .judge import OURS
from .page import page
from .peers import PEERS
from .plots import NoPlots, plot
from .rows import PARTS, ROWS, chosen
from .runner import FORMAT, Options, Run
from .table import terminal
from .units import size_of

COMMANDS = ("run", "table", "plot", "page")
# Seconds for the whole, after which nothing new is begun.
TIME = {False: 360.0, True: 120.0}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="bench", description="How fast the package is.")
    commands = top.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure; the default")
    run.add_argument(
        "what",
        nargs="*",
        metavar="ROW",
        help="rows by name or pattern (up-*), or parts: limits, table, sweep; by default all, and "
        "with --quick all but sweep",
    )
    run.add_argument(
        "--quick", action="store_true", help="about a minute and a half: fewer repetitions"
    )
    run.add_argument("--peers", help=f"with whom, by commas: {','.join(PEERS)}; by default all")
    run.add_argument("--json", type=Path, metavar="FILE", help="where the result goes")
    run.add_argument("--seconds", type=float, help="after so many nothing new is begun")
    run.add_argument("--largest", type=size_of, metavar="SIZE", help="such as 64M: no larger copy")
    run.add_argument("--list", action="store_true", help="tell the rows' names, and do no more")
    shown = commands.add_parser("table", help="show a result")
    drawn = commands.add_parser("plot", help="draw a result's sweep as SVG")
    written = commands.add_parser("page", help="write what the documentation shows of a result")
    for command in (shown, drawn, written):
        command.add_argument("result", type=Path, metavar="RESULT.json")
    for command in (drawn, written):
        command.add_argument("folder", type=Path, metavar="OUT_FOLDER")
    return top


def main(arguments: list[str] | None = None) -> None:
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] not in (*COMMANDS, "-h", "--help"):
        words = ["run", *words]
    asked = parser().parse_args(words)
    try:
        done = {"run": run, "table": table, "plot": draw, "page": write}[asked.command](asked)
    except (ValueError, NoPlots, DriverError, OSError) as error:
        sys.exit(f"bench: {error}")
    print(done.text)
    sys.exit(done.status)


@dataclass(frozen=True)
class Done:
    """What is printed, and the exit status."""

    text: str
    status: int = 0


def run(asked: argparse.Namespace) -> Done:
    if asked.list:
        return Done("\n".join(f"{row.name:<28} {row.part:<6} {row.title}" for row in ROWS))
    what = asked.what or [part for part in PARTS if not (asked.quick and part == "sweep")]
    peers = list(PEERS) if asked.peers is None else asked.peers.split(",")
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        raise ValueError(f"no such peer: {', '.join(unknown)}; there are: {', '.join(PEERS)}")
    rows = chosen(what)
    options = Options(
        rows,
        peers,
        limits="limits" in what,
        quick=asked.quick,
        seconds=TIME[asked.quick] if asked.seconds is None else asked.seconds,
        largest=asked.largest or 1 << 40,
    )

    def save(result: dict[str, Any]) -> None:
        if asked.json:
            asked.json.write_text(json.dumps(result, indent=1) + "\n")

    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
    result = Run(options, sys.stderr, save).result()
    # A failure of another library is a result; a failure of ours is a bug.
    failed = any("error" in row["cells"].get(OURS, {}) for row in result["rows"])
    return Done("\n" + terminal(result), int(failed))


def loaded(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no result: {error}") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise ValueError(f"{path} is no result of this version of the benchmark")
    return result


def table(asked: argparse.Namespace) -> Done:
    return Done(terminal(loaded(asked.result)))


def draw(asked: argparse.Namespace) -> Done:
    return Done("\n".join(map(str, plot(loaded(asked.result), asked.folder))))


def write(asked: argparse.Namespace) -> Done:
    """Without a kept result there still is a page."""
    result = loaded(asked.result) if asked.result.exists() else None
    return Done(str(page(result, asked.folder)))
