"""Links from the API reference to the sources, in Rust or in Python."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

# A class, or a function outside of one, as PyO3 declares them; attributes may stand in between.
DECLARED = re.compile(
    r"^#\[pyclass\([^]]*?name = \"(?P<class>\w+)\""
    r"|^#\[pyfunction\b.*\n(?:^(?:#|    |\)).*\n)*?^(?:pub.* )?fn (?P<function>\w+)",
    re.MULTILINE,
)

Place = tuple[Path, int]


class SourceLinks:
    """Finds where an object of the reference is written down.

    Parameters
    ----------
    root
        The checkout.
    url
        Where it can be read: paths of the checkout follow.
    """

    def __init__(self, root: Path, url: str) -> None:
        self.root, self.url = root, url
        self.declared: dict[str, Place] = {}
        for path in sorted((root / "crates" / "python" / "src").rglob("*.rs")):
            text = path.read_text()
            for found in DECLARED.finditer(text):
                name = found["class"] or found["function"]
                self.declared.setdefault(name, (path, line_of(text, found.end())))

    def place(self, module: str, name: str) -> str | None:
        """The link for an object; None where it is written down elsewhere, or by a macro."""
        place = self.rust(name) or self.python(module, name)
        if place is None:
            return None
        path, line = place
        return f"{self.url}/{path.relative_to(self.root).as_posix()}#L{line}"

    def rust(self, name: str) -> Place | None:
        outer, _, member = name.partition(".")
        place = self.declared.get(outer)
        if place is None or not member:
            return place
        # A class may have its methods in several files of a folder, and some from a macro; most are
        # in the file of its name.
        method = re.compile(rf"^    (?:pub.* )?fn {re.escape(member)}\b", re.MULTILINE)
        folder = place[0].parent
        named = folder / f"{re.sub('(?<=[a-z])(?=[A-Z])', '_', outer).lower()}.rs"
        files = sorted(folder.glob("*.rs"), key=lambda path: path not in (place[0], named))
        for path in files:
            text = path.read_text()
            if found := method.search(text):
                return path, line_of(text, found.start())
        return place

    def python(self, module: str, name: str) -> Place | None:
        found: Any = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if isinstance(found, property):
            found = found.fget
        try:
            found = inspect.unwrap(found)
            path, (_, line) = inspect.getsourcefile(found), inspect.getsourcelines(found)
        except (OSError, TypeError):
            return None
        # The installed package is a copy of the checkout's.
        _, package, inside = (path or "").rpartition("/pyarrow_cuda_compat/")
        here = self.root / package.strip("/") / inside
        return (here, line or 1) if package and here.is_file() else None


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
