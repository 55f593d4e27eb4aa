"""The steps of run.py that run our own tests under compute-sanitizer; beside it."""

from __future__ import annotations

import os
import re
import shutil

from gpu_step import CORES, HERE, SIMULATED, LeftOut, Step, pytest, pytest_counts, python

# How many processes share the tests.
SHARES = max(1, min(4, CORES // 4))
# The tool checks the process that it starts, and none that this one starts.
CHECKABLE = "not subprocesses and not unwatched"
# Where kernels and copies of ours read device memory.
READING = ("arrays", "batches", "copies", "devices", "files", "memory", "streams")


def memcheck(step: Step) -> None:
    """Our own tests again, with each access of the device checked."""
    # The tests in tests/suite are about documents and interfaces.
    files = [str(path) for path in HERE.glob("tests/*/test_*.py") if path.parent.name != "suite"]
    mine = sorted(files)
    which = ["-m", f"not alone and not foreign and {CHECKABLE}"]
    check_tests(step, "memcheck", [[*mine[share::SHARES], *which] for share in range(SHARES)])


def memcheck_alone(step: Step) -> None:
    """Those that nothing else may run beside."""
    check_tests(step, "memcheck", [["tests", "-m", f"alone and {CHECKABLE}"]])


def initcheck(step: Step) -> None:
    """Whether anything reads device memory that nobody has written."""
    which = ["-m", f"not alone and not gaps and {CHECKABLE}"]
    check_tests(step, "initcheck", [[f"tests/{folder}", *which] for folder in READING])


def leaks(step: Step) -> None:
    """Whether three times the work leaves more allocations behind."""
    soak = str(HERE / "tests/reliability/soak.py")
    works = [[2000, 200, 60], [6000, 600, 180]]
    tool = sanitizer("memcheck", "--leak-check", "full")
    outputs = step.run_at_once(
        [[*tool, *python(soak, *map(str, work))] for work in works],
        # Cached memory would count.
        env={"PYARROW_CUDA_CACHE": "off", "PYARROW_CUDA_PINNED_CACHE": "off"},
    )
    found = [re.findall(r"LEAK SUMMARY: .* in (\d+) allocations", output) for output in outputs]
    counts = [int(each[-1]) if each else None for each in found]
    # The tool's own exit status tells of any, and some are there for as long as the process is.
    step.codes[:] = [int(None in counts or counts[0] != counts[1])]
    step.counts = f"{counts[0]} allocations at the end; {counts[1]} after three times the work"


def check_tests(step: Step, tool: str, selections: list[list[str]]) -> None:
    command = sanitizer(tool)
    outputs = step.run_at_once([[*command, *pytest(*chosen)] for chosen in selections], cwd=HERE)
    found = [re.findall(r"ERROR SUMMARY: (\d+) error", output) for output in outputs]
    errors = sum(int(each[-1]) for each in found) if all(found) else "?"
    step.counts = f"{pytest_counts(*outputs)}; {errors} memory errors"


def sanitizer(tool: str, *options: str) -> list[str]:
    """The beginning of a command that runs under one of compute-sanitizer's tools."""
    if SIMULATED:
        raise LeftOut("there is no GPU to check")
    program = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if program is None:
        raise LeftOut("there is no compute-sanitizer here")
    command = [program, "--tool", tool, "--error-exitcode", "97", *options]
    if tool == "memcheck":
        # The tests provoke driver errors on purpose.
        command += ["--report-api-errors", "no"]
    # Processes that the tests start are short-lived, and some are killed.
    command += ["--target-processes", "application-only"]
    # For a backtrace of the host it keeps Python's frames, and with them each test's buffers.
    return [*command, "--show-backtrace", "device"]
