"""What the steps of run.py are made of: commands with a deadline and a log; beside it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVER = os.environ.get("PYARROW_CUDA_DRIVER") or "libcuda.so.1"
SIMULATED = DRIVER == "sim" or DRIVER.endswith("libcuda_sim.so")
CORES = len(os.sched_getaffinity(0))
LOGS = threading.Lock()


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
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as written:
            process = subprocess.Popen(
                command,
                cwd=cwd or self.scratch,
                env=self.env | dict(env or {}),
                stdin=subprocess.DEVNULL,
                stdout=written,
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
            written.seek(0)
            output = written.read()
        ending = f"[exit status {code}{', out of time' if code == 124 else ''}]"
        self.note(f"$ {' '.join(command)}\n{output}{ending}\n")
        self.codes.append(code)
        return output

    def run_at_once(
        self,
        commands: list[list[str]],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> list[str]:
        """Runs commands at the same time, and returns what each wrote."""
        with ThreadPoolExecutor(len(commands)) as pool:
            return list(pool.map(lambda command: self.run(command, cwd=cwd, env=env), commands))

    def note(self, text: str) -> None:
        """Writes to the log, which steps of several lanes may share."""
        with LOGS, self.log.open("a", encoding="utf-8") as log:
            log.write(f"{text}\n")


def python(*arguments: str) -> list[str]:
    return [sys.executable, *arguments]


def pytest(*arguments: str) -> list[str]:
    return python("-m", "pytest", "-p", "no:cacheprovider", "--timeout", "120", *arguments)


def several(processes: int) -> list[str]:
    """What has pytest use several processes, where it can."""
    if not find_spec("xdist"):
        return []
    # pytest-benchmark, where it is installed, warns that it does nothing beside xdist.
    return ["-n", str(processes), "--dist", "loadfile", "-p", "no:benchmark"]


def pytest_counts(*outputs: str) -> str:
    """What the last lines of runs say, added up."""
    total: Counter[str] = Counter()
    for output in outputs:
        lines = re.findall(
            r"^=* ?(\d+ (?:passed|failed|skipped|error|deselected).*?) in [\d.]+s", output, re.M
        )
        for count, what in re.findall(r"(\d+) (\w+)", lines[-1] if lines else "1 unfinished"):
            total[what] += int(count)
    return ", ".join(f"{count} {what}" for what, count in total.items() if what != "deselected")


def upstream_suite(step: Step, name: str) -> list[str]:
    """A pyarrow suite, run from a folder away from this project's settings and fixtures."""
    command = pytest("-c", os.devnull, "--rootdir", str(step.scratch), "-ra")
    return [*command, "--pyargs", f"pyarrow.tests.{name}"]


def beside(step: Step, name: str) -> Path:
    """What `ci/gpu NAME` made, which is too large for the bundle, or needed seldom."""
    where = Path(os.environ.get(f"GPU_{name.upper()}") or HERE.parent / f"gpu-{name}")
    if not where.is_dir():
        raise LeftOut(f"there is no gpu-{name} beside the bundle (ci/gpu {name} makes it)")
    return unpacked(step, where / f"{name}.tar.xz", name)


def unpacked(step: Step, archive: Path, name: str) -> Path:
    folder = step.scratch / name
    if not folder.exists():
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    return folder


def first_on_path(step: Step, *folders: Path) -> dict[str, str]:
    """Python finds these first.  It reads .pth files in site-packages only, unless told to."""
    start = step.scratch / f"start-{folders[0].name}"
    start.mkdir(exist_ok=True)
    known = step.env.get("PYTHONPATH", "").split(os.pathsep)
    adding = [f"site.addsitedir({str(folder)!r})" for folder in (*folders, step.scratch / "site")]
    (start / "sitecustomize.py").write_text("\n".join(["import site", *adding, ""]))
    paths = [str(start), *map(str, folders), *filter(None, known)]
    return {"PYTHONPATH": os.pathsep.join(paths)}
