"""The cases of a suite: console sessions, each in a file."""

from __future__ import annotations

import doctest
from dataclasses import dataclass
from pathlib import Path

import _pyarrow_cuda_compat_hook as beside  # type: ignore[import-untyped,unused-ignore]

REPLAY = Path(__file__).with_name("replay.py")
# Beside the package, as the hook is.
PACKAGED = Path(beside.__file__).resolve().with_name("_pyarrow_cuda_compat_conformance")


@dataclass(frozen=True)
class Case:
    """A session, named by its path: ``cuda_buffer/slice``."""

    name: str
    path: Path

    @property
    def title(self) -> str:
        """The comment on the first line."""
        with self.path.open(encoding="utf-8") as lines:
            return next(lines).removeprefix("# ").strip()

    @property
    def command(self) -> list[str]:
        """What Python runs, with the number of seconds behind it."""
        return [str(REPLAY), str(self.path)]

    def expected(self) -> str:
        """The session, its line endings unchanged."""
        return self.path.read_bytes().decode()

    def update(self, session: str) -> bool:
        """Writes the session anew if it differs in outputs only, and returns whether it does."""
        found = without_outputs(session)
        same = found is not None and found == without_outputs(self.expected())
        if same:
            self.path.write_bytes(f"{session.rstrip()}\n".encode())
        return same


def without_outputs(session: str) -> list[str] | None:
    """The comments and statements; None if a line such as `...x` makes it no session."""
    try:
        pieces = doctest.DocTestParser().parse(session)
    except ValueError:
        return None
    return [piece if isinstance(piece, str) else piece.source for piece in pieces]


def find(suite: Path, prefixes: list[str]) -> list[Case]:
    """The cases of a suite whose names begin with one of the prefixes; all, without any."""
    cases = []
    for path in sorted((suite / "cases").glob("*/*.pycon")):
        name = f"{path.parent.name}/{path.stem}"
        if not prefixes or name.startswith(tuple(prefixes)):
            cases.append(Case(name, path))
    return cases
