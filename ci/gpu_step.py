"""What the steps of run.py are made of: commands with a deadline and a log; beside it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVER = os.environ.get("PYARROW_CUDA_DRIVER") or "libcuda.so.1"
SIMULATED = DRIVER == "sim" or DRIVER.endswith("libcuda_sim.so")


class LeftOut(Exception):
    """A step that cannot run here, and why."""


@dataclass
class Step:
    """One line of the summary, while it runs and afterwards."""

    name: str
    log: Path
    deadline: float
    env: dict[str, str]
    scratch: Path
    codes: list[int] = field(default_factory=list)
    counts: str = ""

    def run(
        self, command: list[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> str:
        """Runs a command to the step's deadline at most, and returns what it wrote."""
        with self.log.open("a+", encoding="utf-8", errors="replace") as log:
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
            start = log.tell()
            process = subprocess.Popen(
                command,
                cwd=cwd or self.scratch,
                env=self.env | dict(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = process.wait(max(self.deadline - time.monotonic(), 1.0))
            except subprocess.TimeoutExpired:
                # With its children: one that holds the GPU would disturb the steps that follow.
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                code = 124
            log.seek(start)
            output = log.read()
            log.write(f"[exit status {code}{', out of time' if code == 124 else ''}]\n\n")
        self.codes.append(code)
        return output

    def note(self, text: str) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{text}\n")


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def pytest(*arguments: str) -> list[str]:
    return python("-m", "pytest", "-p", "no:cacheprovider", "--timeout", "120", *arguments)


def pytest_counts(output: str) -> str:
    lines = re.findall(r"^=* ?(\d+ (?:passed|failed|skipped|error).*?) in [\d.]+s", output, re.M)
    return lines[-1] if lines else ""


def upstream_suite(step: Step, name: str) -> list[str]:
    """One of pyarrow's own, from a folder away from this project's settings and fixtures."""
    command = pytest("-c", os.devnull, "--rootdir", str(step.scratch), "-ra")
    return [*command, "--pyargs", f"pyarrow.tests.{name}"]
