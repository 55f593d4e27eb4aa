"""The command line."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .driver import DriverError
from .goals import OURS
from .page import page
from .peers import PEERS
from .plots import NoPlots, plot
from .rows import PARTS, ROWS, chosen
from .runner import FORMAT, Options, Run
from .table import terminal
from .units import size_of

# Seconds for the whole, after which nothing new is begun.
TIME = {False: 360.0, True: 120.0}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="bench", description="How fast the package is.")
    commands = top.add_subparsers(dest="command", required=True)
    run_command = commands.add_parser("run", help="measure; the default")
    run_command.set_defaults(action=run)
    add = run_command.add_argument
    add(
        "what",
        nargs="*",
        metavar="ROW",
        help="rows by name or pattern (up-*), or parts: limits, table, sweep; by default all, and "
        "with --quick all but sweep",
    )
    add("--quick", action="store_true", help="about a minute and a half: fewer repetitions")
    add("--peers", help=f"with whom, by commas: {','.join(PEERS)}; by default all")
    add("--json", type=Path, metavar="FILE", help="where the result goes")
    add("--seconds", type=float, help="after so many nothing new is begun")
    add("--largest", type=size_of, metavar="SIZE", help="such as 64M: no larger copy")
    add("--list", action="store_true", help="tell the rows' names, and do no more")
    for name, action, told in (
        ("table", table, "show a result"),
        ("plot", draw, "draw a result's sweep as SVG"),
        ("page", write, "write what the documentation shows of a result"),
    ):
        command = commands.add_parser(name, help=told)
        command.set_defaults(action=action)
        command.add_argument("result", type=Path, metavar="RESULT.json")
        if action is not table:
            command.add_argument("folder", type=Path, metavar="OUT_FOLDER")
    return top


def main(arguments: list[str] | None = None) -> None:
    words = sys.argv[1:] if arguments is None else arguments
    if not words or words[0] not in ("run", "table", "plot", "page", "-h", "--help"):
        words = ["run", *words]
    asked = parser().parse_args(words)
    try:
        text, status = asked.action(asked)
    except (ValueError, NoPlots, DriverError, OSError) as error:
        sys.exit(f"bench: {error}")
    print(text)
    sys.exit(status)


# Each command returns the text to print, and the exit status.


def run(asked: argparse.Namespace) -> tuple[str, int]:
    if asked.list:
        return "\n".join(f"{row.name:<28} {row.part:<6} {row.title}" for row in ROWS), 0
    what = asked.what or [part for part in PARTS if not (asked.quick and part == "sweep")]
    peers = list(PEERS) if asked.peers is None else asked.peers.split(",")
    unknown = [name for name in peers if name not in PEERS]
    if unknown:
        raise ValueError(f"no such peer: {', '.join(unknown)}; there are: {', '.join(PEERS)}")
    options = Options(
        chosen(what),
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
    return "\n" + terminal(result), int(failed)


def loaded(path: Path) -> dict[str, Any]:
    try:
        result = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is no result: {error}") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise ValueError(f"{path} is no result of this version of the benchmark")
    return result


def table(asked: argparse.Namespace) -> tuple[str, int]:
    return terminal(loaded(asked.result)), 0


def draw(asked: argparse.Namespace) -> tuple[str, int]:
    return "\n".join(map(str, plot(loaded(asked.result), asked.folder))), 0


def write(asked: argparse.Namespace) -> tuple[str, int]:
    """Without a kept result there still is a page."""
    result = loaded(asked.result) if asked.result.exists() else None
    return str(page(result, asked.folder)), 0
