"""The part of the documentation that a result gives."""

from __future__ import annotations

from pathlib import Path

from .plots import MEMORY, plot
from .table import Result, about, markdown, missing, rows_of

NOTHING = "No result of a GPU is kept yet.\n"


def page(result: Result | None, folder: Path) -> Path:
    """Writes `speed.md`, and the plots beside it; without a result it says that there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "speed.md"
    if result is None:
        path.write_text(NOTHING)
        return path
    lines = ["\n".join(f"* {line}" for line in [*about(result), *missing(result)])]
    lines.append(markdown(result))
    lines.append(f"{met(result)} The spread (±) is half the range that 80% of the times lie in.")
    if rows_of(result, "sweep"):
        for drawing in plot(result, folder):
            kind, memory = drawing.stem.split("-")
            lines.append(f"![{kind}, {MEMORY[memory]}]({folder.name}/{drawing.name})")
    path.write_text("\n\n".join(lines) + "\n")
    return path


def met(result: Result) -> str:
    goals = [row["met"] for row in result["rows"] if row["met"] is not None]
    return f"{sum(goals)} of {len(goals)} goals are met."
