"""The command line."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Collection
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from .machine import DriverError
from .measure import FULL, QUICK
from .page import filled
from .peers import PEERS
from .rows import PARTS, ROWS, chosen
from .runner import FORMAT, Run
from .table import OURS, Result, size_of
from .tpch.result import ENGINES, TpchResult


def parser() -> ArgumentParser:
    top = ArgumentParser(prog="bench", description="How fast the package is.")
    commands = top.add_subparsers(required=True)
    for action, told, *paths in (
        (run, "measure"),
        (tpch, "measure the queries of TPC-H"),
        (table, "show a result", "result"),
        (plot, "draw a result's sweep as SVG", "result", "folder"),
        (
            images,
            "draw a result for the documentation, and write what shows it",
            "result",
            "folder",
        ),
        (page, "write the tables of results into a page", "page", "results"),
    ):
        command = commands.add_parser(action.__name__, help=told)
        command.set_defaults(action=action)
        for path in paths:
            command.add_argument(path, type=Path)
    add = commands.choices["run"].add_argument
    rows = "rows by name or pattern (up-*), or parts: limits, table, devices, compute, "
    rows += "sweep; by default all, and with --quick all but sweep"
    add("what", nargs="*", metavar="ROW", help=rows)
    add("--quick", action="store_true", help="about two minutes: fewer repetitions")
    add("--peers", default=",".join(PEERS), help="with whom; by default all: %(default)s")
    add("--json", type=Path, metavar="FILE", help="where the result goes")
    add("--seconds", type=float, help="after so many nothing new is begun; 480, with --quick 150")
    add("--largest", type=size_of, default="1024G", help="such as 64M: no larger copy")
    add("--list", action="store_true", help="tell the rows' names, and do no more")
    add = commands.choices["tpch"].add_argument
    add("--scale", nargs="+", type=float, default=[1.0, 10.0], help="scale factors; 1 and 10")
    add("--peers", default=",".join(ENGINES), help="with whom; by default all: %(default)s")
    add("--quick", action="store_true", help="two calls of each query, or half a second")
    add("--rounds", type=int, help="how often a query is timed; 3")
    add("--seconds", type=float, help="after so many, a query is not repeated; 2")
    add("--folder", type=Path, help="where the folders with the tables are, or get made")
    add("--json", type=Path, metavar="FILE", help="where the result goes")
    return top


def main(arguments: list[str] | None = None) -> None:
    asked = parser().parse_args(arguments)
    try:
        sys.exit(asked.action(asked))
    except (ValueError, ImportError, DriverError, OSError) as error:
        sys.exit(f"bench: {error}")


def run(asked: Namespace) -> bool:
    """Whether ours has failed: a failure of another library is a result, not a bug."""
    if asked.list:
        print(*(f"{row.name:<28} {row.part:<6} {row.title}" for row in ROWS), sep="\n")
        return False
    peers = peers_of(asked, PEERS)
    what = asked.what or [part for part in PARTS if not (asked.quick and part == "sweep")]
    rows = chosen(what)
    budget, time = (QUICK, 150.0) if asked.quick else (FULL, 480.0)
    seconds = time if asked.seconds is None else asked.seconds
    started = Run(peers, budget, seconds, asked.largest, asked.json)
    result = started.measure(rows, has_limits="limits" in what)
    print("", *result.terminal(), sep="\n")
    return any("error" in row["cells"].get(OURS, {}) for row in result["rows"])


def peers_of(asked: Namespace, known: Collection[str]) -> list[str]:
    """Those that are asked for; the folder of the result is there afterwards."""
    peers: list[str] = asked.peers.split(",")
    unknown = [name for name in peers if name not in known]
    if unknown:
        raise ValueError(f"no such peer: {', '.join(unknown)}; there are: {', '.join(known)}")
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
    return peers


def tpch(asked: Namespace) -> bool:
    """Whether ours has failed."""
    from .tpch.measure import TpchRun

    few = (2, 0.5) if asked.quick else (3, 2.0)
    rounds, seconds = asked.rounds or few[0], asked.seconds or few[1]
    started = TpchRun(peers_of(asked, ENGINES), rounds, seconds, asked.folder, asked.json)
    result = started.measure(asked.scale)
    print("", *result.terminal(), sep="\n")
    return result.has_failed()


def loaded(path: Path) -> Result:
    with suppress(json.JSONDecodeError):
        result = json.loads(path.read_text())
        if isinstance(result, dict) and result.get("format") == FORMAT:
            return TpchResult(result) if result.get("benchmark") == "tpch" else Result(result)
    raise ValueError(f"{path} is no result of this version of the benchmark")


def table(asked: Namespace) -> None:
    print(*loaded(asked.result).terminal(), sep="\n")


# Only these three need matplotlib.


def plots_of(result: Result) -> Any:
    """The module that draws a result."""
    name = ".tpch.plots" if isinstance(result, TpchResult) else ".plots"
    return import_module(name, __package__)


def plot(asked: Namespace) -> None:
    result = loaded(asked.result)
    print(*plots_of(result).plot(result, asked.folder), sep="\n")


def images(asked: Namespace) -> None:
    result = loaded(asked.result)
    shown = plots_of(result).shown(result, asked.folder)
    path = asked.folder / f"{asked.result.stem}.md"
    path.write_text("\n\n".join(shown) + "\n")
    print(path)


def page(asked: Namespace) -> None:
    text = filled(asked.page, lambda name: loaded(asked.results / f"{name}.json"))
    asked.page.write_text(text)
