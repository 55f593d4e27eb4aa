"""A result, with sizes, times and rates as people read them: for terminals, and in Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

OURS = "ours"
Times = dict[str, Any]
NONE = "-"
BEFORE_UNIT = re.compile(r"(?<=\d) (?=[a-zA-Z])|(?<=[<>]=) ")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1.0}
RATES = {"GB/s": 1e9, "TB/s": 1e12}
# Values that are counted in place of time; less of them is better.
COUNTED = {
    "bytes": {"MB": 1e6, "GB": 1e9},
    "ratio": {"": 1.0},
    "cores": {"cores": 1.0},
    "seconds a GB": {"s/GB": 1.0},
}


def size_text(size: int) -> str:
    fitting = [unit for unit, scale in UNITS.items() if size >= scale and size % scale == 0]
    unit = fitting[-1] if fitting else "B"
    return f"{size // UNITS[unit]} {unit}"


def size_of(text: str) -> int:
    """Bytes from `4096`, `4K`, `4 KiB`, ...; units are powers of 1024."""
    found = re.fullmatch(r"(\d+)\s*([KMG]?)(?:i?B)?", text.strip())
    if found is None:
        raise ValueError(f"no size in bytes: {text!r}; such as 4096, 64K or 1 GiB")
    return int(found[1]) * UNITS[found[2] + "iB" if found[2] else "B"]


def digits(value: float) -> str:
    """Three digits that count, or all before the point."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def scaled(value: float, units: dict[str, float]) -> str:
    """In the largest unit that the value reaches, or the first one."""
    reached = [unit for unit, scale in units.items() if value >= scale]
    unit = reached[-1] if reached else next(iter(units))
    return f"{digits(value / units[unit])} {unit}".rstrip()


def value_text(value: float, row: Mapping[str, Any]) -> str:
    """Seconds as a time, or as the rate of the row's bytes; or what is counted in their place."""
    if "counts" in row:
        return scaled(value, COUNTED[row["counts"]])
    return scaled(row["size"] / value, RATES) if row["as_rate"] else scaled(value, TIMES)


def cell_text(cell: Times, row: dict[str, Any], name: str = "") -> str:
    """A measured value, with its spread if it is ours; or why it is missing."""
    if "median" in cell:
        text = value_text(cell["median"], row) + p99_text(cell, row)
        # Half the range between them, as a share of the median.
        spread = (cell["high"] - cell["low"]) / 2 / (cell["median"] or 1)
        return text + (f" +-{100 * spread:.0f}%" if name == OURS else "")
    if "error" in cell:
        return "failed"
    return "not run" if "left_out" in cell else NONE


def p99_text(times: Times, row: dict[str, Any]) -> str:
    """A time where there is a goal for it; of threads, a multiple of the median of one call."""
    if "p99" in (row["goal"] or ()) and "p99" in times:
        return f" (p99 {scaled(times['p99'], TIMES)})"
    return f" (p99 {digits(times['tail'])}x)" if "tail" in times else ""


def goal_text(row: dict[str, Any]) -> str:
    goal = row["goal"]
    if goal is None:
        return NONE
    if goal["at_most"] is not None:
        text = f"<= {value_text(goal['at_most'], row | {'as_rate': False})}"
    elif goal["at_least"] is not None:
        text = f">= {scaled(goal['at_least'], RATES)}"
    else:
        text = ""
    return (text + p99_text(goal, row)).lstrip()


def limit_line(limit: dict[str, Any]) -> list[str]:
    size, name = limit["size"], limit["name"]
    if "median" not in limit:
        return [name, size_text(size), NONE, limit.get("error") or limit["left_out"]]
    as_rate = size > 1 << 20 and not name.startswith("alloc")
    value = value_text(limit["median"], {"size": size, "as_rate": as_rate})
    return [name, size_text(size) if size else NONE, value, limit["how"]]


def aligned(lines: Iterable[list[str]]) -> str:
    """Columns of one width each; the first and the last are aligned left.  Then an empty line."""
    rows = list(lines)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<", *">" * (len(widths) - 2), "<"]
    form = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
    return "".join(f"{form.format(*row).rstrip()}\n" for row in rows)


def as_markdown(lines: Iterable[list[str]]) -> str:
    """A table.  A number stays beside its unit, in columns however narrow."""
    rows = [
        [title, *(BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", cell) for cell in cells)]
        for title, *cells in lines
    ]
    written = [f"| {' | '.join(row)} |" for row in rows]
    written.insert(1, "|" + "---|" * len(rows[0]))
    return "\n".join(written).replace("+-", "±").replace("<=", "≤").replace(">=", "≥")


class Result(dict[str, Any]):
    """What a run has found, as in its JSON file."""

    def present(self) -> dict[str, str]:
        """The titles of the peers that were measured."""
        peers = self["peers"].items()
        return {name: peer["title"] for name, peer in peers if "missing" not in peer}

    def those_of(self, part: str) -> dict[str, str]:
        """The titles of the peers that offer something of a part."""
        cells = [row["cells"] for row in self.rows_of(part)]
        lacks = {"not_offered"}
        return {
            name: title
            for name, title in self.present().items()
            if any(each.get(name, {}).keys() != lacks for each in cells)
        }

    def rows_of(self, part: str) -> list[dict[str, Any]]:
        return [row for row in self["rows"] if row["part"] == part]

    def has_cores(self) -> bool:
        """Not in older results."""
        return any("cores" in row["cells"].get(OURS, {}) for row in self["rows"])

    def columns(self, part: str) -> list[list[str]]:
        """The header and the rows; two parts have limits and goals."""
        cores = ["cores"] * self.has_cores()
        peers = self.those_of(part)
        header = ["work", *peers.values(), "to best", *cores, "limit", "goal", "met"]
        lines = [header, *(self.cells_of(row, peers) for row in self.rows_of(part))]
        return lines if part in ("table", "devices") else [line[:-3] for line in lines]

    def cells_of(self, row: dict[str, Any], peers: Iterable[str]) -> list[str]:
        is_smaller = row["size"] != row["wanted_size"]
        title = row["title"] + (f" (with {size_text(row['size'])})" if is_smaller else "")
        cells = [cell_text(row["cells"].get(name, {}), row, name) for name in peers]
        ratio = f"{digits(row['ratio'])}x" if row["ratio"] else NONE
        busy = row["cells"].get(OURS, {}).get("cores")
        cores = [NONE if busy is None else digits(busy)] * self.has_cores()
        limit = cell_text(self["limits"].get(row["limit"], {}), row)
        met = {True: "yes", False: "NO", None: NONE}[row["met"]]
        return [title, *cells, ratio, *cores, limit, goal_text(row), met]

    def facts(self) -> Iterator[str]:
        """The machine and the versions."""
        machine = self["machine"]
        yield f"{machine['gpu']}, driver {machine['driver'] or '-'} (CUDA {machine['cuda']})"
        if machine["is_simulated"]:
            yield "SIMULATED: these times say nothing about a GPU."
        yield f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}"
        versions = {"Python": machine["python"], "NumPy": machine["numpy"]}
        for peer in self["peers"].values():
            versions |= peer.get("versions", {})
        yield ", ".join(f"{name} {version}" for name, version in versions.items())

    def about(self) -> Iterator[str]:
        """The machine, the versions and the settings."""
        yield from self.facts()
        settings = self["settings"]
        environment = sorted(settings["environment"].items())
        chosen = ", ".join(f"{name}={value}" for name, value in environment)
        threads = settings["transfer_limits"].get("threads", 0)
        yield f"{self['machine']['date']}; {threads} copy threads; {chosen or 'no settings'}"

    def missing(self) -> Iterator[str]:
        for name, peer in self["peers"].items():
            if "missing" in peer:
                yield f"not measured: {name}: {peer['missing']}"

    def goals(self) -> str:
        met = [row["met"] for row in self["rows"] if row["met"] is not None]
        return f"{sum(met)} of {len(met)} goals are met"

    def terminal(self) -> Iterator[str]:
        """The lines of the whole, aligned."""
        yield from self.about()
        yield "up: host to device; down: device to host; to best: how many times as fast"
        yield "p99 with an x: as a multiple of the median of one call"
        if self.has_cores():
            yield "cores: processor time of ours, of all threads, over the time that passed"
        yield ""
        for part in ("table", "devices", "compute", "sweep"):
            if self.rows_of(part):
                yield aligned(self.columns(part))
        if self["limits"]:
            yield f"What the machine can do:\n{aligned(map(limit_line, self['limits'].values()))}"
        for row in self["rows"]:
            for name, cell in row["cells"].items():
                if "error" in cell:
                    yield f"failed: {row['name']}, {name}: {cell['error']}"
        yield from self.missing()
        so_far = "" if self["is_finished"] else "NOT FINISHED; so far "
        late = ", ".join(row["name"] for row in self["rows"] if row["met"] is False)
        yield f"{so_far}{self.goals()}, in {self['took']:.0f} s{late and f'; not: {late}'}"

    def markdown(self, part: str) -> str:
        return as_markdown(self.columns(part))
