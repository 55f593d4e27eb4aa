"""Writes the licences of what is linked into the wheel's libraries.

They are made for each build, and lie in `.dist-info/licenses/` of the wheel.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from linked import ROOT, Crate, crates, rustc

#: `license-files` in pyproject.toml names both.
TEXTS = ROOT / "THIRD-PARTY-LICENSES.txt"
STANDARD_LIBRARY = ROOT / "THIRD-PARTY-RUST.html"
#: How the names of files with such texts begin.
NAMES = ("COPYING", "COPYRIGHT", "LICENCE", "LICENSE", "NOTICE", "UNLICENSE")
HEADING = """\
The compiled libraries of pyarrow-cuda-compat contain the crates below, beside the project's own,
and the standard library of Rust {rust} (Apache-2.0 OR MIT; {standard}).
libarrow_bridge_*.so are compiled with the C++ headers of Apache Arrow (Apache-2.0).

{table}
"""
RULE = "\n" + "=" * 80 + "\n"


def write() -> None:
    """Writes the files to where maturin takes them for the wheel."""
    remove()
    copyright = sysroot() / "share" / "doc" / "rust" / "COPYRIGHT-library.html"
    if copyright.is_file():  # not with every distribution of Rust
        shutil.copyfile(copyright, STANDARD_LIBRARY)
    TEXTS.write_text(text([crate for crate in crates() if crate.checksum is not None]))


def remove() -> None:
    TEXTS.unlink(missing_ok=True)
    STANDARD_LIBRARY.unlink(missing_ok=True)


def text(foreign: list[Crate]) -> str:
    """A table of the crates, then each text once, under the crates that it comes from."""
    owners: dict[str, list[str]] = {}
    for crate in foreign:
        for each in texts_of(crate):
            owners.setdefault(each, []).append(f"{crate.name} {crate.version}")
    width = max(len(crate.name) for crate in foreign) + 2
    heading = HEADING.format(
        rust=rustc("release"),
        standard=STANDARD_LIBRARY.name if STANDARD_LIBRARY.exists() else "https://rust-lang.org",
        table="\n".join(f"{c.name:<{width}}{c.version:<12}{c.license}" for c in foreign),
    )
    return heading + "".join(
        f"{RULE}{', '.join(names)}{RULE}\n{each}\n" for each, names in owners.items()
    )


def texts_of(crate: Crate) -> list[str]:
    found = [path for path in sorted(crate.source.iterdir()) if is_text(path)]
    if not found and crate.license == "Apache-2.0":
        found = [ROOT / "LICENSE"]  # the same text
    if not found:
        raise FileNotFoundError(f"{crate.name} {crate.version} comes without a licence's text")
    return [normal(path.read_text()) for path in found]


def is_text(path: Path) -> bool:
    return path.is_file() and path.name.upper().startswith(NAMES)


def normal(content: str) -> str:
    """Without differences that nobody sees."""
    return "\n".join(line.rstrip() for line in content.strip("\n").splitlines())


def sysroot() -> Path:
    command = ["rustc", "--print", "sysroot"]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Path(told.stdout.strip())
