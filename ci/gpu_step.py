"""What the steps of gpu_run.py are made of: commands with a deadline and a log; beside it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DRIVER = os.environ.get("PYARROW_CUDA_DRIVER") or "libcuda.so.1"
SIMULATED = DRIVER == "sim" or DRIVER.endswith("libcuda_sim.so")
# For all steps, until this process ends.
TEMPORARY = tempfile.TemporaryDirectory()
SCRATCH = Path(TEMPORARY.name)
# `timeout` ends itself by this signal, too, when it has ended a command.
OUT_OF_TIME = -signal.SIGKILL
# A log keeps this many characters from the beginning of a command's output, and as many from its
# end.
HALF = 1 << 20
# The last line of pytest.
PYTEST = r"^=* ?(\d+ (?:passed|failed|skipped|error|deselected).*?) in [\d.]+s"
# Steps that run at the same time share logs and archives.
LOCK = threading.Lock()


class LeftOut(Exception):
    """A step that cannot run here, and why."""


@dataclass
class Step:
    """One line of the summary; the action returns what stands at its end."""

    name: str
    group: str
    #: One of at most eight, with the summary and the results.
    log: str
    seconds: float
    action: Callable[[Step], str]
    logs: Path = Path()
    deadline: float = 0.0
    codes: list[int] = field(default_factory=list)

    def take(self, logs: Path, end: float) -> str:
        """Runs it; its line of the summary."""
        print(f"--- {self.name}", flush=True)
        start = time.monotonic()
        self.logs = logs
        self.deadline = min(start + self.seconds, end)
        self.note(f"=== {self.name}")
        try:
            if start >= end and self.group in ("core", "always"):
                raise TimeoutError("no time was left")
            if start >= end:
                raise LeftOut(f"no time was left; ask for it: run.sh {logs.name} '{self.group}'")
            counts = self.action(self)
            outcome = "FAILED" if any(self.codes) else "ok"
        except LeftOut as reason:
            outcome, counts = "left out", str(reason)
        except Exception as error:
            outcome, counts = "FAILED", f"{type(error).__name__}: {error}"
        if OUT_OF_TIME in self.codes:
            counts += " (out of time)"
        line = f"{self.name:<19} {outcome:<9} {time.monotonic() - start:7.1f} s  {counts}"
        print(line, flush=True)
        return line

    def run(self, command: list[str], cwd: str = str(HERE), **env: str) -> str:
        """Runs a command to the step's deadline at most, and returns what it wrote."""
        seconds = max(self.deadline - time.monotonic(), 1.0)
        # With its children: one that holds the GPU would disturb the steps that follow.
        limit = ["timeout", "--signal", "KILL", str(seconds)]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as written:
            code = subprocess.run(
                [*limit, *command],
                cwd=cwd,
                env=os.environ | env,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
            ).returncode
            written.seek(0)
            output = written.read()
        kept = output
        if len(output) > 2 * HALF:
            kept = output[:HALF] + "\n[... left out ...]\n" + output[-HALF:]
        ending = "out of time" if code == OUT_OF_TIME else f"exit status {code}"
        self.note(f"$ {' '.join(command)}\n{kept}[{ending}]\n")
        self.codes.append(code)
        return output

    def last_line(self, *arguments: str, **env: str) -> str:
        """Runs Python; the last line that it prints."""
        return self.run(python(*arguments), **env).strip().rpartition("\n")[2]

    def tests(self, *arguments: str, **env: str) -> str:
        """Runs tests by pytest; their counts."""
        return counted([self.run(pytest(*arguments), **env)])

    def upstream(self, suite: str, **env: str) -> str:
        """Runs a pyarrow suite, without this project's settings and fixtures."""
        apart = ("-c", os.devnull, "--rootdir", str(SCRATCH), "-ra")
        # In the bundle's folder, pytest would load the fixtures of its tests.
        return self.tests(*apart, "--pyargs", f"pyarrow.tests.{suite}", cwd=str(SCRATCH), **env)

    def note(self, text: str) -> None:
        with LOCK, (self.logs / self.log).open("a", encoding="utf-8") as log:
            log.write(f"{text}\n")


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def pytest(*arguments: str) -> list[str]:
    return python("-m", "pytest", "-p", "no:cacheprovider", "--timeout", "120", *arguments)


def sanitizer(tool: str, *options: str, processes: str = "application-only") -> list[str]:
    """The beginning of a command that runs under one of compute-sanitizer's tools.  Processes that
    the tests start are short-lived, and some are killed: only with "all" they are checked, too."""
    if SIMULATED:
        raise LeftOut("there is no GPU to check")
    program = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if program is None:
        raise LeftOut("there is no compute-sanitizer here")
    command = [program, "--tool", tool, "--error-exitcode", "97", *options]
    if tool == "memcheck":
        # The tests provoke driver errors on purpose.
        command += ["--report-api-errors", "no"]
    command += ["--target-processes", processes]
    # pytest may look at tests for longer than the 10 s that the tool waits for a driver call.
    command += ["--launch-timeout", "120"]
    # For a backtrace of the host it keeps Python's frames, and with them each test's buffers.
    return [*command, "--show-backtrace", "device"]


def counted(outputs: Iterable[str], pattern: str = PYTEST) -> str:
    """What the last lines of test programs say, added up."""
    counts: Counter[str] = Counter()
    for output in outputs:
        lines = re.findall(pattern, output, re.M)
        for count, what in re.findall(r"(\d+) (\w+)", lines[-1] if lines else "1 unfinished"):
            counts[what] += int(count)
    return ", ".join(f"{count} {what}" for what, count in counts.items() if what != "deselected")


def at_once(action: Callable[[Any], str], items: list[Any]) -> list[str]:
    with ThreadPoolExecutor(len(items) or 1) as pool:
        return list(pool.map(action, items))


def unpacked(name: str) -> Path:
    """An archive of `ci/gpu`: of the bundle, or beside it with files that few runs need."""
    folder = SCRATCH / name
    archives = [*HERE.glob(f"{name}.tar.xz"), *HERE.parent.glob(f"gpu-{name}/{name}.tar.xz")]
    if not archives:
        raise LeftOut(f"there is no gpu-{name} beside the bundle (ci/gpu {name} makes it)")
    with LOCK:
        if not folder.exists():
            shutil.unpack_archive(archives[0], folder, filter="data")
    return folder
