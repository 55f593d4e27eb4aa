"""The tables of results in `docs/measurements.md`, in Markdown that GitHub shows, too."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from .table import Result, as_markdown
from .tpch.result import TpchResult, title_of

#: The titles of the folded tables, by the parts of a result.
PARTS = {
    "table": "Copies, memory, messages, arrays, streams, programs",
    "devices": "Between two devices",
    "compute": "Functions on the device",
}
#: Where a page has the tables of a result; the words around them are written by hand.
PLACE = re.compile(r"(<!-- begin ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: Path, load: Callable[[str], Result]) -> str:
    """The text of a page with the tables of each result that it names."""

    def fill(found: re.Match[str]) -> str:
        start, name, end = found.groups()
        shown = "\n\n".join(tables(load(name)))
        return f"{start}{shown}\n\n{end}"

    return PLACE.sub(fill, page.read_text())


def tables(result: Result) -> Iterator[str]:
    yield "\n".join(f"* {line}" for line in [*result.about(), *result.missing()])
    if isinstance(result, TpchResult):
        yield as_markdown(result.summary())
        for part in result["parts"]:
            yield folded(f"Each query: {title_of(part)}", as_markdown(result.queries(part)))
        yield from (f"* {line}" for line in result.failures())
        return
    for part, title in PARTS.items():
        if result.rows_of(part):
            yield folded(title, result.markdown(part))
    yield f"{result.goals()}. The spread (±) is half the range that 80% of the times lie in."


def folded(title: str, table: str) -> str:
    return f'<details class="figures">\n<summary>{title}</summary>\n\n{table}\n\n</details>'
