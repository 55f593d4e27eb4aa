"""The part of the documentation that a result gives, and its plots, as SVG."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from .table import OURS, Result, size_text

WAYS = {"up": "host to device", "down": "device to host"}
MEMORY = {"pageable": "ordinary (pageable) memory", "pinned": "pinned memory"}


def look(text: str, grid: str, *libraries: str) -> Any:
    """Settings with these colours.  The same result gives the same file, with text as text."""
    painted = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return {
        "svg.hashsalt": "cuda_bench",
        "svg.fonttype": "none",
        "font.size": 11,
        "lines.markersize": 5,
        # Markers tell libraries apart without colours, too.
        "axes.prop_cycle": cycler(color=libraries, marker=list("osD^vP")),
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": grid,
        **dict.fromkeys(painted, text),
    }


LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
DARK = ("#56b4e9", "#f0803c", "#2fc79c", "#e29bc4", "#f0c043", "#8ab8ff")
# By the ends of the files' names; the background of the page shows through.
LOOKS = {"": look("#22272e", "#d8dce1", *LIGHT), "-dark": look("#ced6dd", "#454c55", *DARK)}

# Kinds of figures of the sweep: a title, the unit, the sizes, and ticks.
KINDS = {
    "bandwidth": ("bandwidth", "GB/s", range(1 << 10, 1 << 62), (1.0,)),
    "latency": ("time of small copies", "microseconds", range((1 << 20) + 1), (1.0, 2.0, 5.0)),
}


# Rows of the table that a plot shows together, by their names: each is in the first that fits.
GROUPS = {
    "pageable": (
        "Copies of ordinary (pageable) memory",
        r"(up|down)-pageable|(up-unseen|down-fresh)",
    ),
    "pinned": ("Copies of pinned memory", r"(up|down)-pinned"),
    "memory": ("Allocations and copies on the device", r"alloc|pinned-alloc|device-|random"),
    "equality": ("Comparisons", r"equal"),
    "arrow": ("Record batches, many buffers, files", r"batch|buffers|file|serialize|read"),
    "arrays": ("Arrays", r"array|column"),
    "streams": ("Streams", r"stream|.*-busy"),
    "programs": ("As in programs: threads, processes, first and kept results", r""),
}


def median(row: dict[str, Any], peer: str) -> float:
    """In seconds; 0 where nothing was measured."""
    return float(row["cells"].get(peer, {}).get("median", 0))


def link(result: Result, way: str) -> float:
    """The driver's rate for the largest copy of pinned memory, in GB/s, or 0."""
    limits = [limit for limit in result["limits"].values() if limit["name"] == f"pinned-{way}"]
    large = [limit for limit in limits if "median" in limit and limit["size"] >= 1 << 20]
    largest = max(large, key=lambda limit: limit["size"], default={"size": 0, "median": 1})
    return float(largest["size"] / largest["median"] / 1e9)


def times(result: Result) -> list[dict[str, Any]]:
    """The rows of the table that compare times: ours with those of others."""
    others = result.present().keys() - {OURS}
    rows = [row for row in result.rows_of("table") if "counts" not in row and median(row, OURS)]
    return [row for row in rows if any(median(row, name) for name in others)]


def plot(result: Result, folder: Path) -> dict[Path, str]:
    """Draws a result into the folder, and tells which files, with what they show."""
    if not any(median(row, OURS) for row in result.rows_of("sweep")):
        raise ValueError("nothing was swept: run it with the part `sweep`")
    folder.mkdir(parents=True, exist_ok=True)
    return drawn(folder, figures(result))


#: The name of a file, what it shows, and a call that draws it.
Drawing = tuple[str, str, Callable[[], Figure]]


def drawn(folder: Path, drawings: Iterable[Drawing]) -> dict[Path, str]:
    """Draws each in both looks, and tells which files, with what they show."""
    found = {}
    for name, words, draw in drawings:
        for suffix, settings in LOOKS.items():
            path = folder / f"{name}{suffix}.svg"
            with matplotlib.rc_context(settings):
                draw().savefig(path, metadata={"Date": None, "Creator": None}, transparent=True)
            found[path] = words
    return found


def images(folder: Path, files: dict[Path, str]) -> list[str]:
    """Each plot in both looks, of which a page shows the one for its theme."""
    return [
        f"```{{image}} {folder.name}/{path.name}\n:alt: {words}\n"
        f":class: only-{'dark' if path.stem.endswith('-dark') else 'light'}\n```"
        for path, words in files.items()
    ]


def figures(result: Result) -> Iterator[Drawing]:
    """Names of files, what they show, and calls that draw it."""
    for name, (title, rows) in grouped(result).items():
        words = f"times of other libraries as multiples of ours: {title}"
        yield f"times-{name}", words, partial(multiples, result, title, rows)
    for kind, (title, *_) in KINDS.items():
        for memory, words in MEMORY.items():
            draw = partial(swept, result, kind, memory)
            yield f"{kind}-{memory}", f"{title}, {words}", draw


def grouped(result: Result) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """The rows that compare times, by the plots that show them."""
    found: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for row in times(result):
        name = next(name for name, (_, names) in GROUPS.items() if re.match(names, row["name"]))
        found.setdefault(name, (GROUPS[name][0], []))[1].append(row)
    return {name: found[name] for name in GROUPS if name in found}


def multiples(result: Result, title: str, rows: list[dict[str, Any]]) -> Figure:
    """Others' times as multiples of ours: a line for each row, a mark for each library."""
    height = 1.7 + 0.26 * len(rows)
    figure = FigureCanvasSVG(Figure(figsize=(7, height))).figure
    axis = figure.subplots()
    styles = matplotlib.rcParams["axes.prop_cycle"]
    for (name, library), style in zip(result.present().items(), styles, strict=False):
        if name == OURS:
            axis.axvline(1, color=style["color"], linewidth=2, label=library, zorder=2)
            continue
        places = [place for place, row in enumerate(rows) if median(row, name)]
        ratios = [median(rows[place], name) / median(rows[place], OURS) for place in places]
        if places:
            axis.plot(ratios, places, linestyle="none", label=library, zorder=3, **style)
    axis.set_xscale("log")
    axis.set_yticks(range(len(rows)), [row["title"].replace("`", "") for row in rows], fontsize=9)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_xlabel("times as long as ours; right of the line is slower")
    low, high = axis.get_xlim()
    axis.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < 200 else (1.0,)))
    axis.xaxis.set_major_formatter("{x:g}")
    axis.minorticks_off()
    framed(figure, axis, result, title)
    # In inches from the edges, whatever the height.
    figure.tight_layout(rect=(0, 0.35 / height, 1, 1))
    return figure


def swept(result: Result, kind: str, memory: str) -> Figure:
    """Two diagrams side by side, one for each direction."""
    kind_title, unit, kind_sizes, subs = KINDS[kind]
    figure = FigureCanvasSVG(Figure(figsize=(11, 4.6))).figure
    axes = figure.subplots(1, 2, sharey=True)
    styles = matplotlib.rcParams["axes.prop_cycle"]
    for axis, (way, words) in zip(axes, WAYS.items(), strict=True):
        start = f"sweep-{way}-{memory}-"
        rows = [row for row in result.rows_of("sweep") if row["name"].startswith(start)]
        rows = [row for row in rows if row["size"] in kind_sizes]
        for (name, title), style in zip(result.present().items(), styles, strict=False):
            timed = {row["size"]: median(row, name) for row in rows if median(row, name)}
            if not timed:
                continue
            rates = [size / time / 1e9 for size, time in timed.items()]
            values = rates if unit == "GB/s" else [time * 1e6 for time in timed.values()]
            width, order = (2.4, 3) if name == OURS else (1.4, 2)
            axis.plot(list(timed), values, label=title, linewidth=width, zorder=order, **style)
        dashed = {"color": matplotlib.rcParams["text.color"], "linestyle": "--", "linewidth": 1.2}
        limits = {row["size"]: result["limits"].get(row["limit"], {}) for row in rows}
        calls = {size: each["median"] for size, each in limits.items() if "median" in each}
        if unit == "GB/s":
            if link(result, way):
                axis.axhline(link(result, way), label="the link", **dashed)
        elif calls:
            values = [time * 1e6 for time in calls.values()]
            axis.plot(list(calls), values, label="the driver's own call", marker="", **dashed)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        sizes = [row["size"] for row in rows]
        ticks = sizes[:: max(1, len(sizes) // 6)]
        axis.set_xticks(ticks, map(size_text, ticks))
        axis.minorticks_off()
        axis.yaxis.set_major_locator(LogLocator(subs=subs))
        axis.set_xlabel(f"size of the copy, {words}")
        axis.yaxis.set_major_formatter("{x:g}")
    axes[0].set_ylabel(unit)
    framed(figure, axes[0], result, f"{kind_title.capitalize()}, {MEMORY[memory]}")
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    return figure


def framed(figure: Figure, axis: Any, result: Result, title: str) -> None:
    """The title above the diagrams, and the legend below them."""
    where = f"{result['machine']['gpu']}, {result['machine']['date'][:10]}"
    y = 1 - 0.1 / figure.get_size_inches()[1]
    figure.suptitle(f"{title}\n{where}", fontsize=11, y=y, va="top")
    handles, labels = axis.get_legend_handles_labels()
    count = len(labels)
    figure.legend(handles, labels, loc="lower center", ncols=count, frameon=False, fontsize=10)


def shown(result: Result, folder: Path) -> list[str]:
    """Draws a result into the folder, and gives the Markdown that shows the plots."""
    return images(folder, plot(result, folder))
