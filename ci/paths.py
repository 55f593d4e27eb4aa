"""Checks that what ARCHITECTURE.md names exists: paths, and names of files beside one before them.

In a line, a name goes on from the path before it: from that one's folder, or from a folder above.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
#: A path, or a file of the project's by its name.
NAMED = re.compile(r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:cc|h|ptx|py|rs|toml))`")
#: Files that each crate, or each folder of one, has.
EVERYWHERE = {"lib.rs", "mod.rs"}


def missing(line: str) -> Iterator[str]:
    folders = [ROOT]
    for name in NAMED.findall(line):
        found = next((each / name for each in folders if (each / name).exists()), None)
        if found is not None:
            folder = found if found.is_dir() else found.parent
            folders = [each for each in (folder, *folder.parents) if each.is_relative_to(ROOT)]
        elif name not in EVERYWHERE:
            yield name


def main() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    found = [
        f"{PAGE.name}:{number}: {name}"
        for number, line in enumerate(lines, 1)
        for name in missing(line)
    ]
    if found:
        sys.exit("\n".join(["these do not exist:", *found]))
    print("paths:", sum(len(NAMED.findall(line)) for line in lines))


if __name__ == "__main__":
    main()
