"""A result's plots, as SVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from .table import Result, present, rows_of
from .units import size_text

SWEPT = re.compile(r"sweep-(up|down)-(pageable|pinned)-")
WAYS = {"up": "host to device", "down": "device to host"}
MEMORY = {"pageable": "ordinary (pageable) memory", "pinned": "pinned memory"}
# Told apart without colours, too.
MARKERS = "osD^vP"

Point = tuple[float, float]


@dataclass(frozen=True)
class Look:
    """The colours on a page of one theme; its background shows through."""

    suffix: str
    text: str
    grid: str
    libraries: tuple[str, ...]


LOOKS = (
    Look(
        "",
        "#22272e",
        "#d8dce1",
        ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    ),
    Look(
        "-dark",
        "#ced6dd",
        "#454c55",
        ("#56b4e9", "#f0803c", "#2fc79c", "#e29bc4", "#f0c043", "#8ab8ff"),
    ),
)


class NoPlots(Exception):
    """The reason why there are no plots."""


def points(result: Result, way: str, memory: str, peer: str) -> list[Point]:
    """Sizes in bytes with medians in seconds."""
    found = []
    for row in rows_of(result, "sweep"):
        named = SWEPT.match(row["name"])
        median = row["cells"].get(peer, {}).get("median")
        if named and named.groups() == (way, memory) and median:
            found.append((float(row["size"]), float(median)))
    return sorted(set(found))


def link(result: Result, way: str) -> float | None:
    """What the driver moves pinned memory with, in GB/s; of the largest copy."""
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
        return not row.get("counts") and "ours" in timed and len(timed) > 1

    return [row for row in rows_of(result, "table") if is_compared(row)]


def plot(result: Result, folder: Path) -> list[Path]:
    """Draws a result into the folder, once for each look, and tells which files."""
    try:
        matplotlib: Any = import_module("matplotlib")
        matplotlib.use("svg")
        pyplot: Any = import_module("matplotlib.pyplot")
    except ImportError as error:
        raise NoPlots(f"plots need matplotlib: {error}") from None
    if not any(points(result, way, memory, "ours") for way in WAYS for memory in MEMORY):
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
    """Names of files, and what they show."""
    if times(result):
        yield "times", multiples(pyplot, result, look)
    for memory, words in MEMORY.items():
        bandwidth = Panels(
            f"Bandwidth, {words}", "GB/s", lambda size, time: size / time / 1e9, 1 << 10
        )
        latency = Panels(
            f"Time of small copies, {words}", "microseconds", lambda _, time: time * 1e6, 1
        )
        bandwidth.shows_link = True
        latency.largest, latency.ticks = 1 << 20, (1.0, 2.0, 5.0)
        for name, panels in (("bandwidth", bandwidth), ("latency", latency)):
            yield f"{name}-{memory}", panels.draw(pyplot, result, memory, look)


def multiples(pyplot: Any, result: Result, look: Look) -> Any:
    """Others' times as multiples of ours: a line for each row, a mark for each library."""
    rows, peers = times(result), present(result)
    figure, axis = pyplot.subplots(figsize=(9, 1.6 + 0.24 * len(rows)))
    places = range(len(rows))
    axis.axvline(1, color=look.libraries[0], linewidth=2, label=peers["ours"], zorder=2)
    for number, (name, title) in enumerate(peers.items()):
        if name == "ours":
            continue
        cells = [(row["cells"].get(name, {}), row["cells"]["ours"]) for row in rows]
        marks = [
            (theirs["median"] / ours["median"], place)
            for place, (theirs, ours) in zip(places, cells, strict=True)
            if theirs.get("median")
        ]
        axis.plot(
            [multiple for multiple, _ in marks],
            [place for _, place in marks],
            linestyle="none",
            label=title,
            marker=MARKERS[number % len(MARKERS)],
            color=look.libraries[number % len(look.libraries)],
            markersize=5,
            zorder=3,
        )
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_yticks(places, [row["title"].replace("`", "") for row in rows], fontsize=9)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlabel("times as long as ours; right of the line is slower")
    axis.grid(which="major", linewidth=0.8)
    axis.set_axisbelow(True)
    entitled(figure, result, "Times of other libraries, as multiples of ours")
    under(figure, axis)
    # In inches from the edges, whatever the height.
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, 0.35 / height, 1, 1 - 0.3 / height))
    return figure


def entitled(figure: Any, result: Result, title: str) -> None:
    where = f"{result['machine']['gpu']}, {result['machine']['date'][:10]}"
    height = figure.get_size_inches()[1]
    figure.suptitle(f"{title} ({where})", fontsize=12, y=1 - 0.1 / height, va="top")


def under(figure: Any, axis: Any) -> None:
    """The legend, below the diagrams."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=10
    )


class Panels:
    """Two diagrams side by side, one for each direction."""

    largest = 1 << 62
    ticks: tuple[float, ...] = (1.0,)
    shows_link = False

    def __init__(
        self, title: str, unit: str, value: Callable[[float, float], float], smallest: int
    ) -> None:
        self.title, self.unit, self.value, self.smallest = title, unit, value, smallest

    def draw(self, pyplot: Any, result: Result, memory: str, look: Look) -> Any:
        ticker: Any = import_module("matplotlib.ticker")
        figure, axes = pyplot.subplots(1, 2, figsize=(11, 4.6), sharey=True)
        for axis, (way, words) in zip(axes, WAYS.items(), strict=True):
            sizes: set[float] = set()
            for number, (name, title) in enumerate(present(result).items()):
                line = [
                    (size, self.value(size, time))
                    for size, time in points(result, way, memory, name)
                    if self.smallest <= size <= self.largest
                ]
                sizes |= {size for size, _ in line}
                axis.plot(
                    [size for size, _ in line],
                    [value for _, value in line],
                    label=title,
                    marker=MARKERS[number % len(MARKERS)],
                    color=look.libraries[number % len(look.libraries)],
                    linewidth=2.4 if name == "ours" else 1.4,
                    markersize=5,
                    zorder=3 if name == "ours" else 2,
                )
            best = link(result, way) if self.shows_link else None
            if best:
                axis.axhline(best, color=look.text, linestyle="--", linewidth=1.2, label="the link")
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            ticks = sorted(sizes)[:: max(1, len(sizes) // 6)]
            axis.set_xticks(ticks, [size_text(int(size)) for size in ticks])
            axis.minorticks_off()
            axis.yaxis.set_major_locator(ticker.LogLocator(subs=self.ticks))
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_xlabel(f"size of the copy, {words}")
            axis.grid(which="major", linewidth=0.8)
            axis.set_axisbelow(True)
        axes[0].set_ylabel(self.unit)
        entitled(figure, result, self.title)
        under(figure, axes[0])
        figure.tight_layout(rect=(0, 0.07, 1, 1))
        return figure
