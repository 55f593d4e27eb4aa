"""A result's plots, as SVG."""

from __future__ import annotations

import re
from collections.abc import Callable
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
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")

Point = tuple[float, float]


class NoPlots(Exception):
    """Why there are none."""


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


def plot(result: Result, folder: Path) -> list[Path]:
    """Draws what was swept into the folder, and tells which files."""
    try:
        matplotlib: Any = import_module("matplotlib")
        matplotlib.use("svg")
        pyplot: Any = import_module("matplotlib.pyplot")
    except ImportError as error:
        raise NoPlots(f"plots need matplotlib: {error}") from None
    if not any(points(result, way, memory, "ours") for way in WAYS for memory in MEMORY):
        raise NoPlots("nothing was swept: run it with the part `sweep`")
    folder.mkdir(parents=True, exist_ok=True)
    # The same result gives the same file, with text as text.
    settings = {"svg.hashsalt": "cuda_bench", "svg.fonttype": "none", "font.size": 11}
    drawn = []
    with matplotlib.rc_context(settings):
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
                path = folder / f"{name}-{memory}.svg"
                panels.draw(pyplot, result, memory, path)
                drawn.append(path)
    return drawn


class Panels:
    """Two diagrams side by side, one for each direction."""

    largest = 1 << 62
    ticks: tuple[float, ...] = (1.0,)
    shows_link = False

    def __init__(
        self, title: str, unit: str, value: Callable[[float, float], float], smallest: int
    ) -> None:
        self.title, self.unit, self.value, self.smallest = title, unit, value, smallest

    def draw(self, pyplot: Any, result: Result, memory: str, path: Path) -> None:
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
                    color=COLOURS[number % len(COLOURS)],
                    linewidth=2.4 if name == "ours" else 1.4,
                    markersize=5,
                    zorder=3 if name == "ours" else 2,
                )
            best = link(result, way) if self.shows_link else None
            if best:
                axis.axhline(best, color="#555555", linestyle="--", linewidth=1.2, label="the link")
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            ticks = sorted(sizes)[:: max(1, len(sizes) // 6)]
            axis.set_xticks(ticks, [size_text(int(size)) for size in ticks])
            axis.minorticks_off()
            axis.yaxis.set_major_locator(ticker.LogLocator(subs=self.ticks))
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_xlabel(f"size of the copy, {words}")
            axis.grid(which="major", color="#dddddd", linewidth=0.8)
            axis.set_axisbelow(True)
        axes[0].set_ylabel(self.unit)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(
            handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=10
        )
        where = f"{result['machine']['gpu']}, {result['machine']['date'][:10]}"
        figure.suptitle(f"{self.title} ({where})", fontsize=12)
        figure.tight_layout(rect=(0, 0.07, 1, 1))
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)
