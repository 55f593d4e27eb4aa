"""Tables of plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def rendered(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lines whose columns are aligned."""
    lines = [head, *rows]
    widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
    aligned = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
    return "\n".join(aligned)
