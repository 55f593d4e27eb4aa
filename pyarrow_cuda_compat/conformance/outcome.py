"""Replays a case in a process of its own and compares what it prints with what is documented."""

from __future__ import annotations

import difflib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from typing import IO

from .cases import Case
from .examples import Examples
from .replay import LACKING, SKIPPED

# These variables make Python itself write to standard error.
TALKATIVE = {"PYTHONDEVMODE", "PYTHONINSPECT", "PYTHONVERBOSE", "PYTHONWARNINGS"}


@dataclass(frozen=True)
class Outcome:
    """``passed``, ``failed``, ``skipped``, or ``updated`` where the file got this transcript.

    The detail is the difference, or what is lacking.
    """

    case: Case | Examples
    status: str
    seconds: float
    transcript: str | None
    detail: str = ""
    #: Whether the process came to its end.
    is_whole: bool = True


def run(case: Case | Examples, timeout: float) -> Outcome:
    """Replays a case; it has failed when it takes longer than the timeout, in seconds."""
    start = time.perf_counter()
    status, stdout, stderr = replay(case, timeout)
    seconds = time.perf_counter() - start
    if status == SKIPPED and stdout.startswith(LACKING):
        return Outcome(case, "skipped", seconds, None, stdout.strip())
    transcript = stdout
    if stderr:
        transcript += f"[stderr]\n{stderr}\n"
    if stderr.startswith("Timeout ("):
        transcript += f"[not done after {timeout:g} s]\n"
    elif status:
        transcript += f"[{ending(status)}]\n"
    difference = compare(case.expected(), transcript)
    result = "failed" if difference else "passed"
    return Outcome(case, result, seconds, transcript, difference, is_whole=not status)


def replay(case: Case | Examples, timeout: float) -> tuple[int, str, str]:
    """The exit status of the replay, and what it wrote to standard output and standard error."""
    # PYTHONSAFEPATH also keeps the processes that the case starts from importing what lies in the
    # current folder.
    env = {name: value for name, value in os.environ.items() if name not in TALKATIVE}
    env |= {"PYTHONSAFEPATH": "1", "PYTHONIOENCODING": "utf-8"}
    # Files instead of pipes: a process that the case leaves behind would hold a pipe open.
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        done = subprocess.run(
            [sys.executable, *case.command, str(timeout)],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=env,
        )
        return done.returncode, text_of(stdout), text_of(stderr)


def text_of(file: IO[bytes]) -> str:
    """All of a file, its line endings unchanged."""
    file.seek(0)
    return file.read().decode("utf-8", "backslashreplace")


def ending(status: int) -> str:
    if status < 0:
        return f"ended by signal {-status}, {signal.strsignal(-status)}"
    return f"exit status {status}"


def judge(outcome: Outcome, may_lack: tuple[str, ...] | None) -> Outcome:
    """A case has failed if it was skipped for a reason that begins with none of these."""
    lacking = outcome.detail.removeprefix(LACKING)
    if outcome.status != "skipped" or may_lack is None or lacking.startswith(may_lack):
        return outcome
    detail = f"skipped for a reason that --may-lack does not list: {outcome.detail}"
    return replace(outcome, status="failed", detail=detail)


def update(outcome: Outcome) -> Outcome:
    """Writes a failed case's outputs anew, unless its process ended before."""
    case, transcript = outcome.case, outcome.transcript
    is_failed = outcome.status == "failed" and outcome.is_whole
    if not is_failed or not isinstance(case, Case) or transcript is None:
        return outcome
    return replace(outcome, status="updated") if case.update(transcript) else outcome


def compare(expected: str, transcript: str) -> str:
    """The difference between the two; empty if they are equal."""
    lines = difflib.unified_diff(
        lines_of(expected), lines_of(transcript), "documented", "here", lineterm=""
    )
    return "\n".join(lines)


def lines_of(text: str) -> list[str]:
    """Without white space at the end, and with Windows' line endings as others; no other
    character ends a line."""
    return text.rstrip().replace("\r\n", "\n").split("\n")
