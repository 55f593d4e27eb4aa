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


def cells_of(result: Result, row: dict[str, Any]) -> list[str]:
    peers = present(result)
    cells = [row["title"]]
    if row["size"] != row["wanted_size"]:
        cells[0] += f" (with {size_text(row['size'])})"
    for name in peers:
        cell = row["cells"].get(name, {})
        text = cell_text(cell, row)
        if name == "ours" and "median" in cell:
            text += f" +-{100 * spread(cell):.0f}%"
        cells.append(text)
    ratio = row["ratio"]
    cells.append(f"{digits(ratio)}x" if ratio else NONE)
    limit = result["limits"].get(row["limit"], {})
    cells.append(limit_text(limit, row))
    cells.append(goal_text(row))
    cells.append({True: "yes", False: "NO", None: NONE}[row["met"]])
    return cells


def columns(result: Result, part: str) -> list[list[str]]:
    """The header and the rows; what is swept has no limits and goals."""
    lines = [header(result), *(cells_of(result, row) for row in rows_of(result, part))]
    return lines if part == "table" else [line[:-3] for line in lines]


def header(result: Result) -> list[str]:
    return ["work", *present(result).values(), "to best", "limit", "goal", "met"]


def spread(cell: dict[str, float]) -> float:
    return (cell["high"] - cell["low"]) / 2 / cell["median"] if cell["median"] else 0.0


def cell_text(cell: dict[str, Any], row: dict[str, Any]) -> str:
    if "median" in cell:
        return value_of(cell["median"], row) + p99_text(cell, row)
    if "error" in cell:
        return "failed"
    return "not run" if "left_out" in cell else NONE


def limit_text(limit: dict[str, Any], row: dict[str, Any]) -> str:
    return cell_text(limit, row) if limit else NONE


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


def rows_of(result: Result, part: str) -> list[dict[str, Any]]:
    return [row for row in result["rows"] if row["part"] == part]


def terminal(result: Result) -> str:
    """Everything there is to say, aligned."""
    lines = [*about(result), ""]
    lines.insert(-1, "up: host to device; down: device to host; to best: how many times as fast")
    for part in ("table", "sweep"):
        if rows_of(result, part):
            lines += [*aligned(columns(result, part)), ""]
    general = [limit_line(limit) for limit in result["limits"].values()]
    if general:
        lines += ["What the machine can do:", *aligned(general), ""]
    lines += [*faults(result), *missing(result), verdict(result)]
    return "\n".join(lines)


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
    value = rate_text(size / limit["median"]) if as_rate else time_text(limit["median"])
    return [name, size_text(size) if size else NONE, value, limit["how"]]


def faults(result: Result) -> Iterator[str]:
    for row in result["rows"]:
        for name, cell in row["cells"].items():
            if "error" in cell:
                yield f"failed: {row['name']}, {name}: {cell['error']}"


def missing(result: Result) -> Iterator[str]:
    for name, peer in result["peers"].items():
        if "missing" in peer:
            yield f"not measured: {name}: {peer['missing']}"


def verdict(result: Result) -> str:
    goals = [row for row in result["rows"] if row["met"] is not None]
    reached = sum(row["met"] for row in goals)
    late = [row["name"] for row in goals if not row["met"]]
    text = f"{reached} of {len(goals)} goals are met, in {result['took']:.0f} s"
    if not result["is_finished"]:
        text = f"NOT FINISHED; so far {text}"
    return f"{text}; not: {', '.join(late)}" if late else text


def aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    last = len(widths) - 1
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column in (0, last) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def markdown(result: Result, part: str = "table") -> str:
    # A number stays beside its unit, in columns however narrow.
    rows = [
        [title, *(BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", cell) for cell in cells)]
        for title, *cells in columns(result, part)
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(lines).replace("+-", "±").replace("<=", "≤").replace(">=", "≥")
