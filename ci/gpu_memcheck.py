"""The steps of run.py that run our tests under compute-sanitizer's memcheck; beside it."""

from __future__ import annotations

import os
import re
import shutil

from gpu_step import CORES, HERE, SIMULATED, LeftOut, Step, pytest, pytest_counts

# How many processes share the tests.
SHARES = max(1, min(4, CORES // 4))
# The tool checks the process that it starts, and none that this one starts.
CHECKABLE = "not elsewhere and not unwatched"


def most(step: Step) -> None:
    """Our own tests again, with each access of the device checked."""
    # The accesses of these are other libraries'; or there are none.
    others = (
        "interop/test_round_trips",
        "interop/test_numba_itself",
        "interop/test_dask",
        "suite/",
    )
    tests = {path.relative_to(HERE / "tests").as_posix() for path in HERE.glob("tests/*/test_*.py")}
    mine = [f"tests/{test}" for test in sorted(tests) if not test.startswith(others)]
    which = ["-m", f"not alone and {CHECKABLE}"]
    checked(step, [[*mine[share::SHARES], *which] for share in range(SHARES)])


def alone(step: Step) -> None:
    """Those that nothing else may run beside."""
    checked(step, [["tests", "-m", f"alone and {CHECKABLE}"]])


def checked(step: Step, selections: list[list[str]]) -> None:
    if SIMULATED:
        raise LeftOut("there is no GPU to check")
    tool = shutil.which("compute-sanitizer", path=f"{os.environ['PATH']}:/usr/local/cuda/bin")
    if tool is None:
        raise LeftOut("there is no compute-sanitizer here")
    # The tests provoke errors of the driver's functions on purpose.
    memcheck = [tool, "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "97"]
    # Processes that the tests start are short-lived, and some are killed.
    memcheck += ["--target-processes", "application-only"]
    # For a backtrace of the host it keeps Python's frames, and with them each test's buffers.
    memcheck += ["--show-backtrace", "device"]
    outputs = step.run_at_once([[*memcheck, *pytest(*chosen)] for chosen in selections], cwd=HERE)
    found = [re.findall(r"ERROR SUMMARY: (\d+) error", output) for output in outputs]
    errors = sum(int(each[-1]) for each in found) if all(found) else "?"
    step.counts = f"{pytest_counts(*outputs)}; {errors} memory errors"
