"""The part of the documentation that a result gives."""

from __future__ import annotations

from pathlib import Path

from .plots import LOOKS, MEMORY, plot
from .table import Result, about, markdown, missing, rows_of

NOTHING = "No result of a GPU is kept yet.\n"
SHOWN = {
    "times": "times of other libraries as multiples of ours, for each row of the table",
    **{f"bandwidth-{memory}": f"bandwidth, {words}" for memory, words in MEMORY.items()},
    **{f"latency-{memory}": f"time of small copies, {words}" for memory, words in MEMORY.items()},
}


def page(result: Result | None, folder: Path) -> Path:
    """Writes `speed.md`, and the plots beside it; without a result, a page that states this."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "speed.md"
    if result is None:
        path.write_text(NOTHING)
        return path
    lines = ["\n".join(f"* {line}" for line in [*about(result), *missing(result)])]
    swept = bool(rows_of(result, "sweep"))
    drawn = {drawing.stem for drawing in plot(result, folder)} if swept else set()
    images = {name: both_looks(folder, name) for name in SHOWN if name in drawn}
    if "times" in images:
        lines.append(images.pop("times"))
    # Of a class, for the style: there are many numbers, which must not break across lines.
    lines.append(f"```{{table}}\n:class: figures\n:widths: auto\n\n{markdown(result)}\n```")
    goals = [row["met"] for row in result["rows"] if row["met"] is not None]
    met = f"{sum(goals)} of {len(goals)} goals are met."
    lines.append(f"{met} The spread (±) is half the range that 80% of the times lie in.")
    path.write_text("\n\n".join([*lines, *images.values()]) + "\n")
    return path


def both_looks(folder: Path, name: str) -> str:
    """A plot in both looks, of which a page shows the one for its theme."""
    classes = ("only-light", "only-dark")
    return "\n\n".join(
        f"```{{image}} {folder.name}/{name}{look.suffix}.svg\n"
        f":alt: {SHOWN[name]}\n:class: {shown}\n```"
        for look, shown in zip(LOOKS, classes, strict=True)
    )
