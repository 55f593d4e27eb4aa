"""The part of the documentation that a result of TPC-H gives, and its plots, as SVG."""

from functools import partial
from math import floor, log10
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from ..plots import drawn, framed, images
from .result import DOUBLES, QUERIES, Part, TpchResult, milliseconds, title_of


def plot(result: TpchResult, folder: Path) -> dict[Path, str]:
    """Draws the queries over doubles into the folder; tells which files, with what they show."""
    folder.mkdir(parents=True, exist_ok=True)
    shown = [part for part in result["parts"] if part["values"] == DOUBLES]
    return drawn(
        folder,
        [
            (
                f"tpch-{part['scale']:g}",
                f"times of the queries of TPC-H, {title_of(part)}",
                partial(bars, result, part),
            )
            for part in shown
        ],
    )


def bars(result: TpchResult, part: Part) -> Figure:
    """A group of bars for each query, a bar for each engine."""
    figure = FigureCanvasSVG(Figure(figsize=(11, 4.2))).figure
    axis = figure.subplots()
    engines = result.present()
    width = 0.8 / len(engines)
    colors: list[Any] = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
    for place, (name, title) in enumerate(engines.items()):
        times = [milliseconds(part, query, name) or 0 for query in QUERIES]
        where = [
            number + (place - (len(engines) - 1) / 2) * width for number in range(len(QUERIES))
        ]
        axis.bar(where, times, width, label=title, color=colors[place], zorder=2)
    axis.set_yscale("log")
    measured = [milliseconds(part, query, name) for query in QUERIES for name in engines]
    axis.set_ylim(bottom=10 ** floor(log10(min(filter(None, measured), default=1))))
    axis.margins(x=0.01)
    axis.set_xticks(range(len(QUERIES)), QUERIES, fontsize=9)
    axis.grid(axis="x", visible=False)
    axis.set_ylabel("milliseconds")
    axis.yaxis.set_major_formatter("{x:g}")
    framed(figure, axis, result, f"The queries of TPC-H, {title_of(part)}: less is better")
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    return figure


def shown(result: TpchResult, folder: Path) -> list[str]:
    """Draws a result into the folder, and gives the Markdown that shows the plots."""
    return images(folder, plot(result, folder))
