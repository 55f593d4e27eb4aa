"""Runs the bundle that ci/gpu makes, on a machine with a GPU; copied into it as run.py.

    bash run.sh [LOG_FOLDER [STEP...]]

Without a STEP as many run as there is time for; STEPs are their names, or the names of groups:
core, interop, suites.  All of them run, also after one that failed.  `bench` measures, and
`initcheck`, `leaks`, `soak` and `crowd` look further for faults; they run only when they are named.
The environment may say:

PYARROW_CUDA_DRIVER   another driver library, or `sim`; what asks the hardware is then left out
PYARROW_WHEEL         another wheel of pyarrow to test with, instead of the installed pyarrow
BENCH                 for the step `bench`: other arguments, such as `--quick` (`python bench run
                      --help` tells which there are)
GPU_MLIR, GPU_RAPIDS  the folders that `ci/gpu mlir` and `ci/gpu rapids` make, where they are not
                      beside this bundle
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import NamedTuple

# Python may have been told to leave a script's folder out.
sys.path.insert(0, str(Path(__file__).resolve().parent))

import gpu_numba
import gpu_rapids
import gpu_sanitizer
from gpu_step import (
    CORES,
    DRIVER,
    HERE,
    SIMULATED,
    LeftOut,
    Step,
    pytest,
    pytest_counts,
    python,
    several,
    upstream_suite,
)

# Seconds for everything: whatever hangs, there are logs in the end.
BUDGET = 525.0
PROCESSES = max(1, min(8, CORES // 2))
LOG_LIMIT = 15 << 20


def machine(step: Step) -> None:
    if shutil.which("nvidia-smi"):
        step.run(["nvidia-smi"])
        query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
        step.counts = "; ".join(step.run(query).splitlines())
    else:
        step.counts = "no nvidia-smi here"
        step.note(step.counts)


def install(step: Step) -> None:
    """The wheel, and of the tools that the tests need what is missing."""
    pip = python("-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check")
    wheels = [str(path) for path in sorted(HERE.glob("*.whl"))]
    for path in sorted((HERE / "wheels").glob("*.whl")):
        name = path.name.split("-")[0]
        lacking = not is_installed(name) or (name == "numpy" and numba_needs_another())
        # Where Python is another one, what is compiled has to be there already.
        if lacking and is_for_this_python(path.name):
            wheels.append(str(path))
    other_pyarrow = os.environ.get("PYARROW_WHEEL")
    if other_pyarrow:
        target = step.scratch / "site"
        wheels.append(str(Path(other_pyarrow).resolve()))
        step.run([*pip, "--quiet", "--target", str(target), *wheels])
        # Python reads .pth files in site-packages, not in the folders of PYTHONPATH.
        (target / "sitecustomize.py").write_text(f"import site\nsite.addsitedir({str(target)!r})\n")
    else:
        # A machine for tests is ours to change, also where the distribution manages its Python.
        step.run([*pip, "--force-reinstall", "--break-system-packages", *wheels])
    versions = """if True:
        import numpy, pyarrow, pytest, sys
        from pyarrow import cuda
        import pyarrow_cuda_compat as package
        assert cuda.Context is package.Context
        print(package.__file__)
        print(f"Python {sys.version.split()[0]}, pyarrow {pyarrow.__version__}", end=", ")
        print(f"NumPy {numpy.__version__}")"""
    step.counts = step.run(python("-c", versions)).splitlines()[-1]


def is_for_this_python(wheel: str) -> bool:
    made_for = re.search(r"-cp3(\d+)-cp3", wheel)
    return made_for is None or int(made_for[1]) == sys.version_info.minor


def is_installed(distribution: str) -> bool:
    try:
        metadata.distribution(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def numba_needs_another() -> bool:
    """NumPy 2.5 has no `row_stack`, without which numba-cuda up to 0.30.4 compiles nothing."""
    import numpy

    return is_installed("numba-cuda") and not hasattr(numpy, "row_stack")


def import_time(step: Step) -> None:
    """Medians, measured in turns: what else the machine does then hits all alike."""
    times: dict[str, list[float]] = {}
    for _ in range(9):
        for code in ("pass", "import pyarrow", "from pyarrow import cuda"):
            start = time.perf_counter()
            subprocess.run(python("-c", code), env=step.env, cwd=step.scratch, check=True)
            times.setdefault(code, []).append(1000 * (time.perf_counter() - start))
    for code, all_times in times.items():
        step.note(f"{code}: " + " ".join(f"{took:.1f}" for took in all_times) + " ms")
    pyarrow, cuda = (median(times[code]) for code in ("import pyarrow", "from pyarrow import cuda"))
    step.counts = f"pyarrow {pyarrow:.0f} ms, cuda {cuda - pyarrow:.0f} ms more"


def upstream(step: Step) -> None:
    step.counts = pytest_counts(step.run(upstream_suite(step, "test_cuda")))


def own_tests(step: Step) -> None:
    tests = pytest("tests", "-m", "not alone", *several(PROCESSES))
    step.counts = pytest_counts(step.run(tests, cwd=HERE))


def own_tests_alone(step: Step) -> None:
    """Those that measure the device, or rely on how long work takes."""
    step.counts = pytest_counts(step.run(pytest("tests", "-m", "alone"), cwd=HERE))


def rust(step: Step) -> None:
    rust_programs(step, lambda name: not name.startswith("conformance-"))


def conformance(step: Step) -> None:
    """Replays the cases; the crate's tests then check the results, which the project keeps."""
    results = step.log.with_name("conformance.json")
    results.unlink(missing_ok=True)
    command = python("-m", "pyarrow_cuda_compat", "conformance", "--json", str(results))
    found = re.search(r"\d+ passed, \d+ failed, \d+ skipped$", step.run(command).strip())
    counts = found[0] if found else "there is no result"
    where = {"CONFORMANCE_ROOT": str(HERE / "conformance"), "CONFORMANCE_RESULTS": str(results)}
    # Else insta asks cargo, which is not here.
    where |= {"INSTA_WORKSPACE_ROOT": str(HERE), "INSTA_UPDATE": "no"}
    if not SIMULATED:
        where["CONFORMANCE_MAY_LACK"] = "a second device, numba, cupy, torch, jax, distributed, rmm"
    rust_programs(step, lambda name: name.startswith("conformance-"), where)
    step.counts = f"{counts}; snapshots: {step.counts}"


def rust_programs(
    step: Step, wanted: Callable[[str], bool], where: Mapping[str, str] | None = None
) -> None:
    env = dict(where or {})
    passed = failed = ignored = 0
    folder = step.scratch / "rust"
    if not folder.exists():
        with tarfile.open(HERE / "rust.tar.xz") as archive:
            archive.extractall(step.scratch, filter="data")
    programs = sorted(path for path in folder.iterdir() if not path.suffix)
    programs = [path for path in programs if wanted(path.name)]
    # The simulator lies in the wheel: beside the extension, and not beside these programs.
    package = folder_of(step, "pyarrow_cuda_compat") if SIMULATED else None
    if package:
        env["LD_LIBRARY_PATH"] = str(package / "lib")
    for program in programs:
        output = step.run([str(program)], cwd=HERE, env=env)
        for counts in re.findall(
            r"^test result: .*? (\d+) passed; (\d+) failed; (\d+) ignored", output, re.M
        ):
            passed, failed, ignored = (
                total + int(count)
                for total, count in zip((passed, failed, ignored), counts, strict=True)
            )
    step.counts = f"{passed} passed, {failed} failed, {ignored} ignored in {len(programs)} programs"


def folder_of(step: Step, package: str) -> Path:
    code = f"import importlib.util; print(importlib.util.find_spec({package!r}).origin)"
    done = subprocess.run(
        python("-c", code), env=step.env, cwd=step.scratch, capture_output=True, text=True
    )
    return Path(done.stdout.strip()).parent


def tour(step: Step) -> None:
    step.run(python(str(HERE / "examples" / "tour.py")))


def probe(step: Step) -> None:
    """Whether this driver answers as the one did that the simulator was made after."""
    if SIMULATED:
        raise LeftOut("the simulator's own tests ask it")
    folder = HERE / "crates" / "cuda-sim" / "probe"
    answers = json.loads(step.run(python(str(folder / "ask.py"), DRIVER)))
    recorded = json.loads((folder / "hardware.json").read_text())
    if "two_devices" not in answers["peers"]:
        step.note("one device here: nothing is asked about a second one")
        del recorded["peers"]["two_devices"]
    differing = list(differences("", recorded, answers))
    step.note("\n".join(differing) or "the same answers as recorded")
    step.counts = f"{len(recorded)} questions, {len(differing)} differences"
    step.codes.append(1 if differing else 0)


def differences(path: str, recorded: object, answer: object) -> Iterator[str]:
    if isinstance(recorded, dict) and isinstance(answer, dict):
        for key in [*recorded, *(key for key in answer if key not in recorded)]:
            yield from differences(
                f"{path}/{key}", recorded.get(key, "absent"), answer.get(key, "absent")
            )
    elif recorded != answer:
        yield f"{path}: recorded {recorded}, here {answer}"


def bench(step: Step) -> None:
    """How fast everything is, beside the other libraries that are here."""
    results = step.log.with_name("bench.json")
    results.unlink(missing_ok=True)
    chosen = shlex.split(os.environ.get("BENCH", ""))
    output = step.run(python(str(HERE / "bench"), "run", "--json", str(results), *chosen))
    # The progress above it is in the log.
    table = output[output.find("\n\n") :].strip()
    print(table, flush=True)
    step.counts = table.splitlines()[-1] if table else "there is no result"


def soak(step: Step) -> None:
    """A million allocations and more: nothing grows."""
    step.counts = step.run(python(str(HERE / "tests/reliability/soak.py"))).strip()


def crowd(step: Step) -> None:
    """32 threads for ten seconds, which check every byte."""
    step.counts = step.run(python(str(HERE / "tests/reliability/crowd.py"))).strip()


class Entry(NamedTuple):
    name: str
    group: str
    #: One of at most eight, with the summary and the results.
    log: str
    seconds: float
    action: Callable[[Step], None]


Lane = list[Entry]

# One phase after the other; in a phase lane beside lane, and in a lane step after step.
PHASES: list[list[Lane]] = [
    [
        [
            Entry("machine", "always", "machine.log", 20, machine),
            Entry("install", "always", "machine.log", 90, install),
            Entry("import time", "core", "machine.log", 30, import_time),
        ]
    ],
    [
        # Eight processes on one device: beside others they take three times as long.
        [Entry("Python tests", "core", "python.log", 240, own_tests)],
    ],
    [
        [Entry("memcheck", "core", "sanitizer.log", 300, gpu_sanitizer.memcheck)],
        [
            Entry("upstream's suite", "core", "upstream.log", 90, upstream),
            Entry("upstream's, Numba", "core", "upstream.log", 90, gpu_numba.upstream),
            Entry("tour", "core", "machine.log", 60, tour),
            Entry("conformance", "core", "conformance.log", 180, conformance),
        ],
    ],
    [
        [
            Entry("driver probe", "core", "rust.log", 120, probe),
            Entry("Rust tests", "core", "rust.log", 90, rust),
            Entry("Python tests, alone", "core", "python.log", 200, own_tests_alone),
            Entry("memcheck, alone", "core", "sanitizer.log", BUDGET, gpu_sanitizer.memcheck_alone),
        ]
    ],
    [[Entry(name, "interop", "python.log", 180, action)] for name, action in gpu_numba.STEPS],
    [[Entry("RAPIDS", "interop", "python.log", 120, gpu_rapids.rapids)]],
    [
        # Some of Numba's tests watch the free memory of the device.
        [Entry(name, "suites", "upstream.log", 180, action) for name, action in gpu_numba.OWN],
    ],
    [
        [
            Entry("initcheck", "by name", "sanitizer.log", 240, gpu_sanitizer.initcheck),
            Entry("leaks", "by name", "sanitizer.log", 120, gpu_sanitizer.leaks),
        ]
    ],
    [[Entry("soak", "by name", "long.log", 300, soak)]],
    [[Entry("crowd", "by name", "long.log", 120, crowd)]],
    [[Entry("bench", "by name", "bench.log", BUDGET, bench)]],
]
STEPS = [entry for phase in PHASES for lane in phase for entry in lane]


def chosen(names: list[str]) -> list[Entry]:
    # Nothing that is measured, or takes long, goes with the tests.
    by_name = {entry.name for entry in STEPS if entry.group == "by name"}
    known = {word.lower() for entry in STEPS for word in (entry.name, entry.group)} - {"by name"}
    wanted = {name.lower() for name in names} or known - by_name
    if wanted - known:
        sys.exit(
            f"no such step: {', '.join(wanted - known)}; there are: {', '.join(sorted(known))}"
        )
    return [
        entry
        for entry in STEPS
        if entry.group == "always" or {entry.name.lower(), entry.group} & wanted
    ]


def shorten(log: Path) -> None:
    """Keeps a log's beginning and end."""
    if log.exists() and log.stat().st_size > LOG_LIMIT:
        content = log.read_bytes()
        half = LOG_LIMIT // 2
        log.write_bytes(content[:half] + b"\n[... left out ...]\n" + content[-half:])


def take(entry: Entry, logs: Path, end: float, env: dict[str, str], scratch: Path) -> str:
    """Runs a step; its line of the summary."""
    print(f"--- {entry.name}", flush=True)
    start = time.monotonic()
    deadline = min(start + entry.seconds, end)
    step = Step(entry.name, logs / entry.log, deadline, env, scratch)
    step.note(f"=== {entry.name}")
    try:
        if start >= end and entry.group in ("core", "always"):
            raise TimeoutError("no time was left")
        if start >= end:
            raise LeftOut(f"no time was left; ask for it: run.sh {logs.name} '{entry.group}'")
        entry.action(step)
        outcome = "FAILED" if any(step.codes) else "ok"
    except LeftOut as reason:
        outcome, step.counts = "left out", str(reason)
    except Exception as error:
        outcome, step.counts = "FAILED", f"{type(error).__name__}: {error}"
    if 124 in step.codes:
        step.counts += " (out of time)"
    took = time.monotonic() - start
    line = f"{entry.name:<19} {outcome:<9} {took:7.1f} s  {step.counts}"
    print(line, flush=True)
    return line


def main() -> None:
    logs = Path(sys.argv[1] if len(sys.argv) > 1 else "gpu-logs").resolve()
    logs.mkdir(parents=True, exist_ok=True)
    entries = chosen(sys.argv[2:])
    names = {entry.log for entry in entries}
    for log in names | {"summary.txt"}:
        (logs / log).unlink(missing_ok=True)
    start = time.monotonic()
    end = start + BUDGET
    lines = {}
    with tempfile.TemporaryDirectory() as scratch:
        # Where `install` puts another pyarrow.
        paths = [scratch + "/site", *filter(None, [os.environ.get("PYTHONPATH")])]
        env = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTHONSAFEPATH": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "RUST_BACKTRACE": "1",
        }

        def run_lane(lane: Lane) -> None:
            for entry in lane:
                if entry in entries:
                    lines[entry.name] = take(entry, logs, end, env, Path(scratch))

        for phase in PHASES:
            with ThreadPoolExecutor(len(phase)) as pool:
                list(pool.map(run_lane, phase))
    for log in names:
        shorten(logs / log)
    summary = "\n".join(lines[entry.name] for entry in entries)
    summary += f"\n{'all':<29} {time.monotonic() - start:7.1f} s"
    (logs / "summary.txt").write_text(summary + "\n")
    print(f"\n=== summary; the logs are in {logs}\n{summary}")
    sys.exit(" FAILED " in summary)


if __name__ == "__main__":
    main()
