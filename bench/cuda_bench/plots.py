"""A result's plots, as SVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .goals import OURS
from .table import Result, present, rows_of
from .units import size_text

SWEPT = re.compile(r"sweep-(up|down)-(pageable|pinned)-")
WAYS = {"up": "host to device", "down": "device to host"}
MEMORY = {"pageable": "ordinary (pageable) memory", "pinned": "pinned memory"}
# They tell libraries apart without colours, too.
MARKERS = "osD^vP"


class Look(NamedTuple):
    """The colours on a page of one theme; its background shows through."""

    suffix: str
    text: str
    grid: str
    libraries: tuple[str, ...]

    def mark(self, number: int) -> dict[str, Any]:
        """The style of a library."""
        marker = MARKERS[number % len(MARKERS)]
        colour = self.libraries[number % len(self.libraries)]
        return {"marker": marker, "color": colour, "markersize": 5}


LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DARK = ("#56b4e9", "#f0803c", "#2fc79c", "#e29bc4", "#f0c043", "#8ab8ff")
LOOKS = (
    Look("", "#22272e", "#d8dce1", LIGHT),
    Look("-dark", "#ced6dd", "#454c55", DARK),
)


class Sweep(NamedTuple):
    """A figure of the sweep: two diagrams side by side, one for each direction."""

    name: str
    title: str
    unit: str
    value: Callable[[float, float], float]
    smallest: int = 1
    largest: int = 1 << 62
    ticks: tuple[float, ...] = (1.0,)
    shows_link: bool = False


BANDWIDTH = Sweep(
    "bandwidth",
    "Bandwidth",
    "GB/s",
    lambda size, time: size / time / 1e9,
    smallest=1 << 10,
    shows_link=True,
)
LATENCY = Sweep(
    "latency",
    "Time of small copies",
    "microseconds",
    lambda _, time: time * 1e6,
    largest=1 << 20,
    ticks=(1.0, 2.0, 5.0),
)


class NoPlots(Exception):
    """The reason why there are no plots."""


def points(result: Result, way: str, memory: str, peer: str) -> list[tuple[float, float]]:
    """Sizes in bytes with medians in seconds."""
    found = set()
    for row in rows_of(result, "sweep"):
        named = SWEPT.match(row["name"])
        median = row["cells"].get(peer, {}).get("median")
        if named and named.groups() == (way, memory) and median:
            found.add((float(row["size"]), float(median)))
    return sorted(found)


def link(result: Result, way: str) -> float | None:
    """The driver's rate for the largest copy of pinned memory, in GB/s."""
    found = [
        limit
        for limit in result["limits"].values()
        if limit["name"] == f"pinned-{way}" and "median" in limit and limit["size"] >= 1 << 20
    ]
    largest = max(found, key=lambda limit: int(limit["size"]), default=None)
    return largest["size"] / largest["median"] / 1e9 if largest else None


def times(result: Result) -> list[dict[str, Any]]:
    """The rows of the table that compare times: ours with those of others."""

    def is_compared(row: dict[str, Any]) -> bool:
        timed = [name for name in present(result) if row["cells"].get(name, {}).get("median")]
        return not row.get("counts") and OURS in timed and len(timed) > 1

    return [row for row in rows_of(result, "table") if is_compared(row)]


def plot(result: Result, folder: Path) -> list[Path]:
    """Draws a result into the folder, once for each look, and tells which files."""
    try:
        matplotlib: Any = import_module("matplotlib")
        matplotlib.use("svg")
        pyplot: Any = import_module("matplotlib.pyplot")
    except ImportError as error:
        raise NoPlots(f"plots need matplotlib: {error}") from None
    if not any(points(result, way, memory, OURS) for way in WAYS for memory in MEMORY):
        raise NoPlots("nothing was swept: run it with the part `sweep`")
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for look in LOOKS:
        with matplotlib.rc_context(settings(look)):
            for name, figure in figures(pyplot, result, look):
                path = folder / f"{name}{look.suffix}.svg"
                figure.savefig(path, metadata={"Date": None, "Creator": None}, transparent=True)
                pyplot.close(figure)
                drawn.append(path)
    return drawn


def settings(look: Look) -> dict[str, Any]:
    """The same result gives the same file, with text as text."""
    painted = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return {
        "svg.hashsalt": "cuda_bench",
        "svg.fonttype": "none",
        "font.size": 11,
        "grid.color": look.grid,
        **dict.fromkeys(painted, look.text),
    }


def figures(pyplot: Any, result: Result, look: Look) -> Iterator[tuple[str, Any]]:
    """Names of files, and their figures."""
    if times(result):
        yield "times", multiples(pyplot, result, look)
    for memory in MEMORY:
        for kind in (BANDWIDTH, LATENCY):
            yield f"{kind.name}-{memory}", swept(pyplot, result, kind, memory, look)


def multiples(pyplot: Any, result: Result, look: Look) -> Any:
    """Others' times as multiples of ours: a line for each row, a mark for each library."""
    rows, peers = times(result), present(result)
    height = 1.6 + 0.24 * len(rows)
    figure, axis = pyplot.subplots(figsize=(9, height))
    axis.axvline(1, color=look.libraries[0], linewidth=2, label=peers[OURS], zorder=2)
    for number, (name, title) in enumerate(peers.items()):
        if name == OURS:
            continue
        marks = [
            (row["cells"][name]["median"] / row["cells"][OURS]["median"], place)
            for place, row in enumerate(rows)
            if row["cells"].get(name, {}).get("median")
        ]
        x, y = zip(*marks, strict=True) if marks else ((), ())
        axis.plot(x, y, linestyle="none", label=title, zorder=3, **look.mark(number))
    axis.set_xscale("log")
    axis.set_yticks(range(len(rows)), [row["title"].replace("`", "") for row in rows], fontsize=9)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlabel("times as long as ours; right of the line is slower")
    ruled(axis, axis.xaxis)
    framed(figure, axis, result, "Times of other libraries, as multiples of ours")
    # In inches from the edges, whatever the height.
    figure.tight_layout(rect=(0, 0.35 / height, 1, 1 - 0.3 / height))
    return figure


def swept(pyplot: Any, result: Result, kind: Sweep, memory: str, look: Look) -> Any:
    ticker: Any = import_module("matplotlib.ticker")
    figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.6), sharey=True)
    for axis, (way, words) in zip(axes, WAYS.items(), strict=True):
        all_sizes: set[float] = set()
        for number, (name, title) in enumerate(present(result).items()):
            line = [
                (size, kind.value(size, time))
                for size, time in points(result, way, memory, name)
                if kind.smallest <= size <= kind.largest
            ]
            sizes, values = zip(*line, strict=True) if line else ((), ())
            all_sizes |= set(sizes)
            width, order = (2.4, 3) if name == OURS else (1.4, 2)
            style = look.mark(number) | {"linewidth": width, "zorder": order}
            axis.plot(sizes, values, label=title, **style)
        best = link(result, way) if kind.shows_link else None
        if best:
            axis.axhline(best, color=look.text, linestyle="--", linewidth=1.2, label="the link")
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        ticks = sorted(all_sizes)[:: max(1, len(all_sizes) // 6)]
        axis.set_xticks(ticks, [size_text(int(size)) for size in ticks])
        axis.minorticks_off()
        axis.yaxis.set_major_locator(ticker.LogLocator(subs=kind.ticks))
        axis.set_xlabel(f"size of the copy, {words}")
        ruled(axis, axis.yaxis)
    axes[0].set_ylabel(kind.unit)
    framed(figure, axes[0], result, f"{kind.title}, {MEMORY[memory]}")
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    return figure


def ruled(axis: Any, scale: Any) -> None:
    """Plain numbers on a logarithmic scale, and lines behind the marks."""
    scale.set_major_formatter(lambda value, _: f"{value:g}")
    axis.grid(which="major", linewidth=0.8)
    axis.set_axisbelow(True)


def framed(figure: Any, axis: Any, result: Result, title: str) -> None:
    """The title above the diagrams, and the legend below them."""
    where = f"{result['machine']['gpu']}, {result['machine']['date'][:10]}"
    height = figure.get_size_inches()[1]
    figure.suptitle(f"{title} ({where})", fontsize=12, y=1 - 0.1 / height, va="top")
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=10
    )
