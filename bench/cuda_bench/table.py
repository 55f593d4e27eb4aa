"""A result as a table: for terminals, and in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .units import digits, rate_text, size_text, time_text, value_text

Result = dict[str, Any]
NONE = "-"
BEFORE_UNIT = re.compile(r"(?<=\d) (?=[a-zA-Z])|(?<=[<>]=) ")


def present(result: Result) -> dict[str, str]:
    """The titles of the peers that were measured."""
    return {name: peer["title"] for name, peer in result["peers"].items() if "missing" not in peer}


def rows_of(result: Result, part: str) -> list[dict[str, Any]]:
    return [row for row in result["rows"] if row["part"] == part]


def columns(result: Result, part: str) -> list[list[str]]:
    """The header and the rows; what is swept has no limits and goals."""
    header = ["work", *present(result).values(), "to best", "limit", "goal", "met"]
    lines = [header, *(cells_of(result, row) for row in rows_of(result, part))]
    return lines if part == "table" else [line[:-3] for line in lines]


def cells_of(result: Result, row: dict[str, Any]) -> list[str]:
    is_smaller = row["size"] != row["wanted_size"]
    title = row["title"] + (f" (with {size_text(row['size'])})" if is_smaller else "")
    cells = [cell_text(row["cells"].get(name, {}), row, name) for name in present(result)]
    ratio = f"{digits(row['ratio'])}x" if row["ratio"] else NONE
    limit = cell_text(result["limits"].get(row["limit"], {}), row)
    met = {True: "yes", False: "NO", None: NONE}[row["met"]]
    return [title, *cells, ratio, limit, goal_text(row), met]


def cell_text(cell: dict[str, Any], row: dict[str, Any], name: str = "") -> str:
    """A measured value, with its spread if it is ours; or why there is none."""
    if "median" in cell:
        text = value_of(cell["median"], row) + p99_text(cell, row)
        return text + (f" +-{100 * spread(cell):.0f}%" if name == "ours" else "")
    if "error" in cell:
        return "failed"
    return "not run" if "left_out" in cell else NONE


def spread(cell: dict[str, float]) -> float:
    """Half the range between `low` and `high`, as a share of the median."""
    return (cell["high"] - cell["low"]) / 2 / cell["median"] if cell["median"] else 0.0


def value_of(value: float, row: dict[str, Any]) -> str:
    return value_text(value, size=row["size"], as_rate=row["as_rate"], counts=row.get("counts", ""))


def p99_text(times: dict[str, Any], row: dict[str, Any]) -> str:
    """Where there is a goal for it."""
    is_asked = row["goal"] is not None and "p99" in row["goal"] and "p99" in times
    return f" (p99 {time_text(times['p99'])})" if is_asked else ""


def goal_text(row: dict[str, Any]) -> str:
    goal = row["goal"]
    if goal is None:
        return NONE
    if goal["at_most"] is not None:
        text = f"<= {value_of(goal['at_most'], row | {'as_rate': False})}"
    else:
        text = f">= {rate_text(goal['at_least'])}"
    return text + p99_text(goal, row)


def terminal(result: Result) -> str:
    """The whole result, aligned."""
    lines = list(about(result))
    lines += ["up: host to device; down: device to host; to best: how many times as fast", ""]
    for part in ("table", "sweep"):
        if rows_of(result, part):
            lines += [*aligned(columns(result, part)), ""]
    general = [limit_line(limit) for limit in result["limits"].values()]
    if general:
        lines += ["What the machine can do:", *aligned(general), ""]
    for row in result["rows"]:
        for name, cell in row["cells"].items():
            if "error" in cell:
                lines.append(f"failed: {row['name']}, {name}: {cell['error']}")
    return "\n".join([*lines, *missing(result), verdict(result)])


def about(result: Result) -> Iterator[str]:
    machine, settings = result["machine"], result["settings"]
    yield f"{machine['gpu']}, driver {machine['driver'] or '-'} (CUDA {machine['cuda']})"
    if machine["is_simulated"]:
        yield "SIMULATED: these times say nothing about a GPU."
    yield f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}"
    versions: dict[str, str] = {"Python": machine["python"], "NumPy": machine["numpy"]}
    for peer in result["peers"].values():
        versions |= peer.get("versions", {})
    yield ", ".join(f"{name} {version}" for name, version in versions.items())
    environment = settings["environment"]
    chosen = ", ".join(f"{name}={value}" for name, value in sorted(environment.items()))
    threads = settings["transfer_limits"].get("threads", 0)
    yield f"{machine['date']}; {threads} copy threads; {chosen or 'no settings'}"


def limit_line(limit: dict[str, Any]) -> list[str]:
    size, name = limit["size"], limit["name"]
    if "median" not in limit:
        return [name, size_text(size), NONE, limit.get("error") or limit["left_out"]]
    as_rate = size > 1 << 20 and not name.startswith("alloc")
    value = value_text(limit["median"], size=size, as_rate=as_rate)
    return [name, size_text(size) if size else NONE, value, limit["how"]]


def missing(result: Result) -> Iterator[str]:
    for name, peer in result["peers"].items():
        if "missing" in peer:
            yield f"not measured: {name}: {peer['missing']}"


def verdict(result: Result) -> str:
    goals = [row for row in result["rows"] if row["met"] is not None]
    late = [row["name"] for row in goals if not row["met"]]
    text = f"{len(goals) - len(late)} of {len(goals)} goals are met, in {result['took']:.0f} s"
    if not result["is_finished"]:
        text = f"NOT FINISHED; so far {text}"
    return f"{text}; not: {', '.join(late)}" if late else text


def aligned(rows: list[list[str]]) -> list[str]:
    """Columns of one width each; the first and the last are aligned left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<", *">" * (len(widths) - 2), "<"]
    form = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    return [form.format(*row).rstrip() for row in rows]


def markdown(result: Result, part: str = "table") -> str:
    # A number stays beside its unit, in columns however narrow.
    rows = [
        [title, *(BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", cell) for cell in cells)]
        for title, *cells in columns(result, part)
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines).replace("+-", "±").replace("<=", "≤").replace(">=", "≥")
