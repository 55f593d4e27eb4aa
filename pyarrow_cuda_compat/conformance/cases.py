"""The documented examples: scripts, and the transcripts that they must give."""

from __future__ import annotations

import difflib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import _pyarrow_cuda_compat_hook as beside  # type: ignore[import-untyped,unused-ignore]

from .replay import SKIPPED

# Beside the package, as the hook is.
FOLDER = Path(beside.__file__).resolve().with_name("_pyarrow_cuda_compat_conformance")
TALKATIVE = {"PYTHONDEVMODE", "PYTHONINSPECT", "PYTHONVERBOSE", "PYTHONWARNINGS"}
REPLAY = Path(__file__).with_name("replay.py")


@dataclass(frozen=True)
class Case:
    """A script, named by its path: ``cuda_buffer/slice``."""

    name: str
    script: Path
    snapshot: Path

    @property
    def title(self) -> str:
        with self.script.open() as lines:
            return next(lines).removeprefix("# ").strip()

    def expected(self) -> str:
        """What the snapshot holds below its header, which stands between two lines of dashes."""
        if not self.snapshot.exists():
            return "(there is no snapshot)"
        return self.snapshot.read_text().split("---\n", 2)[2]


@dataclass(frozen=True)
class Result:
    """What came of a case: ``passed``, ``failed`` or ``skipped``, and why."""

    case: Case
    status: str
    seconds: float
    detail: str = ""


def find(patterns: list[str]) -> list[Case]:
    """The cases whose names begin with one of the patterns; all, without any."""
    cases = []
    for script in sorted((FOLDER / "cases").glob("*/*.py")):
        name = f"{script.parent.name}/{script.stem}"
        if not patterns or name.startswith(tuple(patterns)):
            snapshot = FOLDER / "snapshots" / f"{name.replace('/', '__')}.snap"
            cases.append(Case(name, script, snapshot))
    return cases


def run(case: Case, timeout: float) -> Result:
    """Runs a case in an interpreter of its own."""
    start = time.perf_counter()
    # Nothing that makes Python talk; and also in the processes that the script starts, no current
    # folder hides installed modules.
    quiet = {name: value for name, value in os.environ.items() if name not in TALKATIVE}
    env = quiet | {"PYTHONSAFEPATH": "1", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, str(REPLAY), str(case.script), str(timeout)],
        capture_output=True,
        encoding="utf-8",
        errors="backslashreplace",
        env=env,
    )
    seconds = time.perf_counter() - start
    if done.returncode == SKIPPED:
        return Result(case, "skipped", seconds, done.stdout.strip())
    transcript = done.stdout
    if done.stderr:
        transcript += f"[stderr]\n{done.stderr}\n"
    if done.stderr.startswith("Timeout ("):
        transcript += f"[not done after {timeout:g} s]\n"
    elif done.returncode:
        transcript += f"[{ending(done.returncode)}]\n"
    difference = compare(case.expected(), transcript)
    return Result(case, "failed" if difference else "passed", seconds, difference)


def ending(returncode: int) -> str:
    if returncode < 0:
        return f"ended by signal {-returncode}, {signal.strsignal(-returncode)}"
    return f"exit status {returncode}"


def compare(expected: str, transcript: str) -> str:
    """The difference between the two, empty if there is none."""
    lines = difflib.unified_diff(
        expected.strip().splitlines(),
        transcript.strip().splitlines(),
        "documented",
        "here",
        lineterm="",
    )
    return "\n".join(lines)
