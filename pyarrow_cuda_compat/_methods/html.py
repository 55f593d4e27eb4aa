"""What notebooks show of this package's objects: small tables."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from .. import _native


def rendered(title: str, head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table of HTML."""
    parts = [f"<caption>{escape(title)}</caption>"]
    if names := "".join(f"<th>{escape(str(name))}</th>" for name in head):
        parts.append(f"<thead><tr>{names}</tr></thead>")
    lines = ("".join(f"<td>{escape(str(each))}</td>" for each in row) for row in rows)
    parts.append(f"<tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody>")
    return f"<table>{''.join(parts)}</table>"


def of_context(self: _native.Context) -> str:
    facts = {
        "handle": f"{self.handle:#x}",
        "allocated": f"{self.bytes_allocated:,} bytes",
    }
    return rendered(f"Context on cuda:{self.device_number}", (), facts.items())


def of_buffer(self: _native.CudaBuffer) -> str:
    facts = {
        "size": f"{self.size:,} bytes",
        "mutable": "yes" if self.is_mutable else "no",
    }
    return rendered(f"CudaBuffer on cuda:{self.context.device_number}", (), facts.items())


def of_array(self: _native.DeviceArray) -> str:
    facts: dict[str, Any] = {
        "shape": self.shape,
        "dtype": self.dtype,
        "size": f"{self.nbytes:,} bytes",
        "mutable": "yes" if self.is_mutable else "no",
    }
    if self.arrow_type is not None:
        facts["Arrow's type"] = self.arrow_type
    return rendered(f"DeviceArray on cuda:{self.context.device_number}", (), facts.items())
