"""The steps of gpu_run.py that run our tests and others' with Numba and RAPIDS; beside it.

Several versions of numba-cuda are tested.  One is the machine's own.  The older ones are in
`numbas.tar.xz`, with older versions of their dependencies where the machine's are too new.
numba-cuda-mlir, RMM, KvikIO and UCX are too large for the bundle.  If they are tested, they come in
folders of their own.
"""

from __future__ import annotations

import os
import re
from importlib.util import find_spec

from gpu_step import HERE, SIMULATED, LeftOut, Step, python, sanitizer, unpacked

NUMBAS_OWN = {"NUMBA_CUDA_MEMORY_MANAGER": "default"}
MANAGER = {"NUMBA_CUDA_MEMORY_MANAGER": "pyarrow_cuda_compat.numba"}

# Numba's own suites that concern memory.  Resetting devices comes last.
SUITES = (
    "cudadrv.test_emm_plugins",
    "cudadrv.test_host_alloc",
    "cudadrv.test_deallocations",
    "cudadrv.test_cuda_memory",
    "cudadrv.test_context_stack",
    "cudadrv.test_cuda_ndarray",
    "cudadrv.test_pinned",
    "cudadrv.test_array_attr",
    "cudadrv.test_cuda_devicerecord",
    "cudadrv.test_select_device",
    "cudadrv.test_streams",
    "cudadrv.test_events",
    "cudapy.test_cuda_array_interface",
    "cudapy.test_ipc",
    "cudadrv.test_reset_device",
)

CASES = ("additions/rmm", "additions/cudf", "additions/compute")


def packages(step: Step, archive: str, module: str, *folders: str) -> dict[str, str]:
    """Has Python find first what `ci/gpu` has packed, which this module shows to work."""
    sites = [str(unpacked(archive) / folder) for folder in folders or [""]]
    env = {"PYTHONPATH": os.pathsep.join([*sites, os.environ["PYTHONPATH"]])}
    code = f"import {module} as found; print(found.__version__, found.__file__)"
    said = step.run(python("-W", "ignore", "-c", code), **env)
    if sites[0] not in said:
        raise RuntimeError(f"{module} in {sites[0]} was asked for, and this came: {said.strip()}")
    return env


def numba_environment(step: Step) -> dict[str, str]:
    """What selects the Numba at the end of the step's name; without a version the machine's own."""
    if SIMULATED:
        raise LeftOut("Numba needs a GPU")
    version = step.name.split()[-1]
    if version == "MLIR":
        env = packages(step, "mlir", "numba_cuda_mlir")
        return env | {"TEST_NUMBA": "numba_cuda_mlir.cuda"}
    env = {"TEST_NUMBA": "numba.cuda"}
    if version[0].isdigit():
        return env | packages(step, "numbas", "numba_cuda", version, "common")
    if find_spec("numba_cuda") is None:
        raise LeftOut("there is no numba-cuda here")
    return env


def upstream(step: Step) -> str:
    """pyarrow's suite with the machine's Numba."""
    return step.upstream("test_cuda_numba_interop", **numba_environment(step))


def numba(step: Step) -> str:
    """pyarrow's suite and our tests, with Numba's own memory manager and with ours."""
    env = numba_environment(step)
    ours = ("tests/interop/test_numba.py", "tests/interop/test_numba_memory.py")
    counts = []
    for manager in (NUMBAS_OWN, MANAGER):
        # pyarrow's knows numba-cuda only.
        if env["TEST_NUMBA"] == "numba.cuda":
            upstreams = step.upstream("test_cuda_numba_interop", **env, **manager)
            counts.append(f"upstream's {upstreams}")
        counts.append(f"ours {step.tests(*ours, **env, **manager)}")
    return "; ".join(counts)


def own_suites(step: Step) -> str:
    """Numba's own suites: with our memory manager no test fails that passes without."""
    env = numba_environment(step)
    suites = [f"numba.cuda.tests.{name}" for name in SUITES]
    command = python("-W", "ignore", "-m", "unittest", "-v", *suites)
    without = step.run(command, **env, **NUMBAS_OWN)
    with_ours = step.run(command, **env, **MANAGER)
    before, after = failing(without), failing(with_ours)
    step.note("\n".join(["fails with our memory manager only:", *sorted(after - before)]))
    ran = [int(count) for count in re.findall(r"^Ran (\d+) tests", without + with_ours, re.M)]
    # A test that fails without it does not count, as long as most of them run.
    have_run = len(ran) == 2 and min(ran) >= 100 and 4 * len(before) < ran[0]
    step.codes[:] = [code for code in step.codes if code not in (0, 1)]
    step.codes.append(0 if have_run and after <= before else 1)
    return (
        f"{' and '.join(map(str, ran))} tests, {len(before)} fail without our memory manager, "
        f"{len(after - before)} more with it"
    )


def failing(output: str) -> set[str]:
    return set(re.findall(r"^(?:FAIL|ERROR): (.*)$", output, re.M))


def rapids(step: Step) -> str:
    """Our tests with RMM, cuDF's library, KvikIO and UCX."""
    if SIMULATED:
        raise LeftOut("RAPIDS needs a GPU")
    env = packages(step, "rapids", "rmm")
    tests = ("memory/test_rmm", "files/test_kvikio_itself", "interop/test_ucx", "interop/test_cudf")
    counts = step.tests(*(f"tests/{name}.py" for name in tests), **env)
    pages = step.tests("tests/suite/test_docs.py", "-k", "pylibcudf", **env)
    command = ("-m", "pyarrow_cuda_compat", "conformance", "--may-lack", "")
    cases = step.last_line(*command, *CASES, **env)
    return f"{counts}; pages {pages}; conformance: {cases}"


def answers(step: Step) -> str:
    """Compares libcudf's answers with pyarrow's on the host, and writes the counts that the
    repository keeps (conformance/results/compute.json)."""
    command = comparing(1000, 390, "--json", str(step.logs / "compute.json"))
    told = step.run(command, **computing(step))
    counts = [int(count) for count in re.findall(r"'same': (\d+)", told)]
    least, differing = min(counts, default=0), told.count("    DIFFERS")
    return f"{sum(counts)} equal answers ({least} and more each), {differing} others"


def answers_second_device(step: Step) -> str:
    """The same of a sample, whose data lies on the second device while the first one is current."""
    if not step.last_line("-c", "import torch; print(torch.cuda.device_count() > 1)") == "True":
        raise LeftOut("there is one device")
    told = step.run(comparing(30, 90, "--device", "1"), **computing(step))
    counts = [int(count) for count in re.findall(r"'same': (\d+)", told)]
    return f"{sum(counts)} equal answers, {told.count('    DIFFERS')} others"


def answers_memcheck(step: Step) -> str:
    """Memory errors in a sample of these calls; each allocation is the driver's own."""
    tool = sanitizer("memcheck", processes="all")
    told = step.run([*tool, *comparing(5, 180)], **computing(step), PYARROW_CUDA_CACHE="off")
    found = [int(count) for count in re.findall(r"ERROR SUMMARY: (\d+) error", told)]
    return f"{sum(found) if found else '?'} memory errors in {len(found)} processes"


def comparing(each: int, seconds: int, *more: str) -> list[str]:
    cores = str(len(os.sched_getaffinity(0)))
    chosen = ("--each", str(each), "--total", str(seconds), "--processes", cores)
    return python("-m", "compute.answers", *chosen, *more)


def computing(step: Step) -> dict[str, str]:
    """An environment with libcudf and our tests."""
    if SIMULATED:
        raise LeftOut("libcudf needs a GPU")
    env = packages(step, "rapids", "rmm")
    return {"PYTHONPATH": os.pathsep.join([env["PYTHONPATH"], str(HERE / "tests")])}
