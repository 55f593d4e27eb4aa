"""The outcomes of a run: as a table to read, and as JSON."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from .cases import Case
from .examples import Examples
from .outcome import Outcome


def table(outcomes: list[Outcome]) -> str:
    """A line for each case, the differences, and how many cases of each status there are."""
    width = max((len(outcome.case.name) for outcome in outcomes), default=0)
    lines = []
    for outcome in outcomes:
        reason = f"  ({outcome.detail})" if outcome.status == "skipped" else ""
        name = f"{outcome.case.name:<{width}}"
        lines.append(f"{outcome.status:<7}  {name}  {outcome.seconds:6.2f} s  "
                     f"{outcome.case.title}{reason}")  # fmt: skip
    for outcome in outcomes:
        if outcome.status in ("failed", "updated"):
            lines += ["", f"=== {outcome.case.name}", outcome.detail]
    counts = Counter(outcome.status for outcome in outcomes)
    statuses = ["passed", "failed", "skipped"] + ["updated"] * ("updated" in counts)
    parts = [f"{counts[status]} {status}" for status in statuses]
    return "\n".join([*lines, "", ", ".join(parts)])


def as_dict(machine: dict[str, object], outcomes: list[Outcome]) -> dict[str, object]:
    """What ``--json`` writes: ``machine`` is what ``info --json`` tells."""
    rows: dict[type, list[dict[str, object]]] = {Case: [], Examples: []}
    for outcome in outcomes:
        rows[type(outcome.case)].append(
            {
                "name": outcome.case.name,
                "title": outcome.case.title,
                "status": outcome.status,
                "seconds": round(outcome.seconds, 3),
                "detail": outcome.detail,
                "transcript": outcome.transcript,
            }
        )
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": machine,
        "cases": rows[Case],
        "examples": rows[Examples],
    }
