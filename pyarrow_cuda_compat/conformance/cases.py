"""The cases of a suite: scripts, each with the snapshot of its transcript."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import _pyarrow_cuda_compat_hook as beside  # type: ignore[import-untyped,unused-ignore]

REPLAY = Path(__file__).with_name("replay.py")
# Beside the package, as the hook is.
PACKAGED = Path(beside.__file__).resolve().with_name("_pyarrow_cuda_compat_conformance")


@dataclass(frozen=True)
class Case:
    """A script, named by its path: ``cuda_buffer/slice``."""

    name: str
    script: Path
    snapshot: Path

    @property
    def title(self) -> str:
        """The comment on the script's first line."""
        with self.script.open(encoding="utf-8") as lines:
            return next(lines).removeprefix("# ").strip()

    @property
    def command(self) -> list[str]:
        """What Python runs, with the number of seconds behind it."""
        return [str(REPLAY), str(self.script)]

    def expected(self) -> str:
        """The transcript in the snapshot, below a header between two lines of dashes."""
        if not self.snapshot.exists():
            return "(there is no snapshot)"
        # Read as bytes, so that a carriage return in a transcript stays one.
        return self.snapshot.read_bytes().decode().split("---\n", 2)[2]


def find(suite: Path, prefixes: list[str]) -> list[Case]:
    """The cases of a suite whose names begin with one of the prefixes; all, without any."""
    cases = []
    for script in sorted((suite / "cases").glob("*/*.py")):
        name = f"{script.parent.name}/{script.stem}"
        if not prefixes or name.startswith(tuple(prefixes)):
            snapshot = suite / "snapshots" / f"{name.replace('/', '__')}.snap"
            cases.append(Case(name, script, snapshot))
    return cases
