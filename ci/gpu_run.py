"""Runs the bundle that ci/gpu makes, on a machine with a GPU; it is copied into it.

    bash run.sh [LOG_FOLDER [STEP...]]

A STEP is the name of a step or of a group: core, interop, suites.  Without a STEP, as many run as
there is time for.  A step that fails does not stop the others.

These run only when they are named:

bench      measures
tpch       measures the queries of TPC-H, with what `ci/gpu tpch` packs
answers    compares libcudf with pyarrow
order      tests who waits for whom, with the kernels of other libraries too
sizes      tests data beyond 2^31 bytes and rows
`answers, device 1`, `answers, memcheck`, initcheck, leaks, soak, crowd, `peer reads`
           look further for faults

Variables of the environment:

PYARROW_CUDA_DRIVER   another driver library, or `sim`, which skips checks of the hardware
PYARROW_WHEEL         another wheel of pyarrow to test with, instead of the installed pyarrow
BENCH                 for the steps `bench` and `tpch`: other arguments, such as `--quick` (`python
                      bench run --help` and `bench tpch --help` tell which there are)
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path
from statistics import median

import gpu_interop
from gpu_step import (
    DRIVER,
    HERE,
    SCRATCH,
    SIMULATED,
    LeftOut,
    Step,
    at_once,
    counted,
    pytest,
    python,
    sanitizer,
    unpacked,
)

# Seconds for everything: whatever hangs, there are logs in the end.
BUDGET = 525.0
GROUPS = {"core", "interop", "suites"}
CORES = len(os.sched_getaffinity(0))
# Python finds first what is here; `install` puts another pyarrow there.
SITE = SCRATCH / "site"


def machine(step: Step) -> str:
    if not shutil.which("nvidia-smi"):
        return "no nvidia-smi here"
    step.run(["nvidia-smi"])
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    return "; ".join(step.run(query).splitlines())


def install(step: Step) -> str:
    """The wheel, and of the tools that the tests need what is missing."""
    # A machine for tests is ours to change, also where the distribution manages its Python.
    pip = python("-m", "pip", "install", "--no-index", "--no-deps", "--break-system-packages")
    tools = [path.name.split("-")[0] for path in (HERE / "wheels").glob("*.whl")]
    # NumPy 2.5 has no `row_stack`, without which numba-cuda up to 0.30.4 compiles nothing.
    step.run([*pip, "--find-links", str(HERE / "wheels"), *tools, "numpy<2.5"])
    wheels = [str(path) for path in HERE.glob("*.whl")]
    if other_pyarrow := os.environ.get("PYARROW_WHEEL"):
        step.run([*pip, "--target", str(SITE), str(Path(other_pyarrow).resolve()), *wheels])
    else:
        step.run([*pip, "--force-reinstall", *wheels])
    versions = """if True:
        import numpy, pyarrow, pytest, sys, pyarrow_cuda_compat as package
        from pyarrow import cuda
        assert cuda.Context is package.Context
        print(package.__file__)
        print(f"Python {sys.version.split()[0]}, pyarrow {pyarrow.__version__}", end=", ")
        print(f"NumPy {numpy.__version__}")"""
    return step.last_line("-c", versions)


def import_time(step: Step) -> str:
    """Medians, measured in turns: what else the machine does then hits all alike."""
    times: dict[str, list[float]] = {"import pyarrow": [], "from pyarrow import cuda": []}
    for code in [*times] * 9:
        start = time.perf_counter()
        step.run(python("-c", code))
        times[code].append(1000 * (time.perf_counter() - start))
    step.note(f"in ms: {times}")
    pyarrow, cuda = map(median, times.values())
    return f"pyarrow {pyarrow:.0f} ms, cuda {cuda - pyarrow:.0f} ms more"


def own_tests(step: Step) -> str:
    processes = str(max(1, min(8, CORES // 2)))
    # pytest-benchmark, where it is installed, warns that it does nothing beside xdist.
    several = ("-n", processes, "--dist", "loadfile", "-p", "no:benchmark")
    # The step `order` runs the others.
    return step.tests("tests", "--ignore", "tests/order", "-m", "not alone", *several)


def own_tests_alone(step: Step) -> str:
    """Those that measure the device, or rely on how long work takes."""
    return step.tests("tests", "-m", "alone and not large")


def sizes(step: Step) -> str:
    """Data beyond 2^31 bytes and rows, of which libcudf's part needs what `ci/gpu rapids` packs."""
    if SIMULATED:
        raise LeftOut("its data is made on a GPU")
    return step.tests("tests/sizes", "-m", "large", **rapids_if_there(step))


def rapids_if_there(step: Step) -> dict[str, str]:
    with suppress(LeftOut):
        return gpu_interop.packages(step, "rapids", "rmm")
    return {}


def order(step: Step) -> str:
    """Who waits for whom when memory passes between libraries, slow kernels included."""
    return step.tests("tests/order")


def upstream(step: Step) -> str:
    return step.upstream("test_cuda")


def memcheck(step: Step) -> str:
    """Our own tests again, with each access of the device checked."""
    # The tests in tests/suite are about documents and interfaces.
    files = [str(path) for path in HERE.glob("tests/*/test_*.py") if path.parent.name != "suite"]
    shares = max(1, min(4, CORES // 4))
    paths = [sorted(files)[share::shares] for share in range(shares)]
    return sanitized_tests(step, "memcheck", "not alone and not foreign", paths)


def memcheck_alone(step: Step) -> str:
    """Those that nothing else may run beside."""
    return sanitized_tests(step, "memcheck", "alone", [["tests"]])


def initcheck(step: Step) -> str:
    """Whether anything reads device memory that nobody has written."""
    # Where kernels and copies of ours read device memory.
    reading = ("arrays", "batches", "copies", "devices", "files", "memory", "streams")
    paths = [[f"tests/{folder}"] for folder in reading]
    return sanitized_tests(step, "initcheck", "not alone and not gaps", paths)


def sanitized_tests(step: Step, tool: str, marks: str, paths: list[list[str]]) -> str:
    """Tests with these markers: those of each list of paths in a process of their own."""
    # The tool checks the process that it starts, and none that this one starts.
    command = [*sanitizer(tool), *pytest("-m", f"{marks} and not subprocesses and not unwatched")]
    outputs = at_once(step.run, [[*command, *some] for some in paths])
    found = [re.findall(r"ERROR SUMMARY: (\d+) error", output) for output in outputs]
    errors = sum(int(each[-1]) for each in found) if all(found) else "?"
    return f"{counted(outputs)}; {errors} memory errors"


def leaks(step: Step) -> str:
    """Whether three times the work leaves more allocations behind."""
    # Cached memory would count.
    cacheless = {"PYARROW_CUDA_CACHE": "off", "PYARROW_CUDA_PINNED_CACHE": "off"}
    tool = sanitizer("memcheck", "--leak-check", "full")
    works = [["2000", "200", "60"], ["6000", "600", "180"]]
    commands = [[*tool, *python("tests/reliability/soak.py", *work)] for work in works]
    outputs = at_once(lambda command: step.run(command, **cacheless), commands)
    found = [re.findall(r"LEAK SUMMARY: .* in (\d+) allocations", output) for output in outputs]
    counts = [int(each[-1]) if each else None for each in found]
    # The tool's own exit status tells of any, and some are there for as long as the process is.
    step.codes[:] = [int(None in counts or counts[0] != counts[1])]
    return f"{counts[0]} allocations at the end; {counts[1]} after three times the work"


def conformance(step: Step) -> str:
    """Replays the cases; the project keeps the results."""
    command = ["-m", "pyarrow_cuda_compat", "conformance"]
    command += ["--json", str(step.logs / "conformance.json")]
    if SIMULATED:
        return step.last_line(*command)
    libraries = "a second device, numba, cupy, torch, jax, distributed, rmm, pylibcudf"
    return step.last_line(*command, "--may-lack", libraries, **rapids_if_there(step))


def rust(step: Step) -> str:
    """The programs of the crates' tests."""
    programs = sorted(unpacked("rust").glob("*-*"))
    outputs = [step.run([str(program)]) for program in programs]
    counts = counted(outputs, r"^test result: .*? (\d+ passed.* ignored)")
    return f"{counts} in {len(programs)} programs"


def kernels_of_others(step: Step) -> str:
    """Kernels that cust and cudarc load, over a column whose result another process reads."""
    if SIMULATED:
        raise LeftOut("there is no GPU to run them")
    programs = [unpacked("rust") / name for name in ("cust_kernel", "cudarc_kernel")]
    outputs = [step.run([str(program)]) for program in programs]
    return f"{sum('600' in output for output in outputs)} results of {len(programs)} programs"


def probe(step: Step) -> str:
    """Whether this driver answers as the one did that the simulator was made after."""
    if SIMULATED:
        raise LeftOut("the simulator's own tests ask it")
    folder = HERE / "crates/cuda-sim/probe"
    # It imports the file beside it.
    told = step.run(python(str(folder / "ask.py"), DRIVER), PYTHONSAFEPATH="")
    answers = json.loads(told)
    recorded = json.loads((folder / "hardware.json").read_text())
    if "two_devices" not in answers["peers"]:
        step.note("one device here: nothing is asked about a second one")
        del recorded["peers"]["two_devices"]
        alone = {name for name, said in answers.items() if said == "needs two devices"}
        recorded = {name: said for name, said in recorded.items() if name not in alone}
        answers = {name: said for name, said in answers.items() if name not in alone}
    differing = [name for name in recorded | answers if recorded.get(name) != answers.get(name)]
    for name in differing:
        step.note(f"{name}: recorded {recorded.get(name)}, here {answers.get(name)}")
    step.codes.append(1 if differing else 0)
    return f"{len(recorded)} questions, {len(differing)} differences"


def bench(step: Step) -> str:
    """How fast everything is, beside the other libraries that are here."""
    chosen = shlex.split(os.environ.get("BENCH", ""))
    # Without RAPIDS, its rows are not measured.
    env = rapids_if_there(step)
    return step.last_line("bench", "run", "--json", str(step.logs / "bench.json"), *chosen, **env)


def tpch(step: Step) -> str:
    """The queries of TPC-H, beside DuckDB and Polars."""
    env = rapids_if_there(step)
    folder = unpacked("tpch")
    paths = [str(folder), env.get("PYTHONPATH", os.environ["PYTHONPATH"])]
    env |= {"PYTHONPATH": os.pathsep.join(paths)}
    env |= {"PATH": os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])}
    chosen = ["--folder", str(SCRATCH), *shlex.split(os.environ.get("BENCH", ""))]
    return step.last_line("bench", "tpch", "--json", str(step.logs / "tpch.json"), *chosen, **env)


def tour(step: Step) -> str:
    step.run(python("examples/tour.py"))
    return ""


def reliability(step: Step) -> str:
    return step.last_line(f"tests/reliability/{step.name.replace(' ', '_')}.py")


# One phase after the other; the steps of a phase run at the same time.
PHASES = [
    [Step("machine", "always", "machine.log", 20, machine)],
    [Step("install", "always", "machine.log", 90, install)],
    [Step("import time", "core", "machine.log", 60, import_time)],
    # Eight processes on one device: beside others they take three times as long.
    [Step("Python tests", "core", "python.log", 240, own_tests)],
    [
        Step("memcheck", "core", "sanitizer.log", 300, memcheck),
        Step("upstream's suite", "core", "upstream.log", 90, upstream),
        Step("upstream's, Numba", "core", "upstream.log", 90, gpu_interop.upstream),
        Step("tour", "core", "machine.log", 60, tour),
        Step("conformance", "core", "conformance.log", 180, conformance),
    ],
    [Step("driver probe", "core", "rust.log", 120, probe)],
    [Step("Rust tests", "core", "rust.log", 90, rust)],
    [Step("kernels of others", "core", "rust.log", 60, kernels_of_others)],
    [Step("Python tests, alone", "core", "python.log", 200, own_tests_alone)],
    [Step("memcheck, alone", "core", "sanitizer.log", BUDGET, memcheck_alone)],
    [
        Step("Numba 0.27.0", "interop", "python.log", 180, gpu_interop.numba),
        Step("Numba 0.28.2", "interop", "python.log", 180, gpu_interop.numba),
        Step("Numba", "interop", "python.log", 180, gpu_interop.numba),
        Step("Numba MLIR", "interop", "python.log", 180, gpu_interop.numba),
    ],
    [Step("RAPIDS", "interop", "python.log", 120, gpu_interop.rapids)],
    # Some tests of Numba watch the device's free memory.
    [Step("Numba's own", "suites", "upstream.log", 180, gpu_interop.own_suites)],
    [Step("Numba's own 0.27.0", "suites", "upstream.log", 180, gpu_interop.own_suites)],
    [Step("Numba's own 0.28.2", "suites", "upstream.log", 180, gpu_interop.own_suites)],
    [Step("order", "by name", "python.log", 400, order)],
    [Step("initcheck", "by name", "sanitizer.log", 240, initcheck)],
    [Step("leaks", "by name", "sanitizer.log", 120, leaks)],
    # A million allocations and more: nothing grows.
    [Step("soak", "by name", "long.log", 300, reliability)],
    # 32 threads for ten seconds, which check every byte.
    [Step("crowd", "by name", "long.log", 120, reliability)],
    # Kernels of a second device read memory that is released meanwhile.
    [Step("peer reads", "by name", "long.log", 180, reliability)],
    [Step("sizes", "by name", "sizes.log", 400, sizes)],
    [Step("answers", "by name", "compute.log", 420, gpu_interop.answers)],
    [Step("answers, device 1", "by name", "compute.log", 150, gpu_interop.answers_second_device)],
    [Step("answers, memcheck", "by name", "compute.log", 240, gpu_interop.answers_memcheck)],
    [Step("bench", "by name", "bench.log", BUDGET, bench)],
    [Step("tpch", "by name", "bench.log", BUDGET, tpch)],
]
STEPS = [step for phase in PHASES for step in phase]


def chosen(names: list[str]) -> list[Step]:
    # Nothing that is measured, or takes long, goes with the tests.
    wanted = {name.lower() for name in names} or GROUPS
    known = {step.name.lower() for step in STEPS} | GROUPS
    if wanted - known:
        unknown, there = ", ".join(wanted - known), ", ".join(sorted(known))
        sys.exit(f"no such step: {unknown}; there are: {there}")
    return [step for step in STEPS if {step.name.lower(), step.group} & (wanted | {"always"})]


def set_environment() -> None:
    """For all commands of the steps."""
    SITE.mkdir()
    # Python reads .pth files in site-packages only, and in folders that code adds as such.
    (SITE / "sitecustomize.py").write_text(
        "import os, site\n"
        "for folder in filter(None, os.environ.get('PYTHONPATH', '').split(os.pathsep)):\n"
        "    site.addsitedir(folder)\n"
    )
    paths = [str(SITE), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    for name in ("PYTHONSAFEPATH", "PYTHONDONTWRITEBYTECODE", "RUST_BACKTRACE"):
        os.environ[name] = "1"


def main() -> None:
    logs = Path(sys.argv[1] if len(sys.argv) > 1 else "gpu-logs").resolve()
    logs.mkdir(parents=True, exist_ok=True)
    steps = chosen(sys.argv[2:])
    for log in {step.log for step in steps} | {"summary.txt"}:
        # The results are named as the log is.
        for old in (logs / log, (logs / log).with_suffix(".json")):
            old.unlink(missing_ok=True)
    set_environment()
    start = time.monotonic()
    lines: list[str] = []
    for phase in PHASES:
        wanted = [step for step in phase if step in steps]
        lines += at_once(lambda step: step.take(logs, start + BUDGET), wanted)
    lines.append(f"{'all':<29} {time.monotonic() - start:7.1f} s")
    summary = "\n".join(lines)
    (logs / "summary.txt").write_text(summary + "\n")
    print(f"\n=== summary; the logs are in {logs}\n{summary}")
    sys.exit(" FAILED " in summary)


if __name__ == "__main__":
    main()
