"""The steps of run.py that run Numba, in several versions; beside it.

The machine's own numba-cuda is one of them.  The older ones lie in `numbas.tar.xz`, with the
versions of what they need that the machine has in newer ones.  numba-cuda-mlir is too large for
the bundle and comes in a folder of its own, if at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec

from gpu_step import (
    HERE,
    SIMULATED,
    LeftOut,
    Step,
    beside,
    first_on_path,
    pytest,
    pytest_counts,
    python,
    unpacked,
    upstream_suite,
)

OLDER = ("0.27.0", "0.28.2")
NUMBAS_OWN = {"NUMBA_CUDA_MEMORY_MANAGER": "default"}
MANAGER = {"NUMBA_CUDA_MEMORY_MANAGER": "pyarrow_cuda_compat.numba"}
TESTS = [f"tests/interop/test_numba{name}.py" for name in ("", "_memory")]

# Numba's own suites that concern memory.  Resetting devices comes last.
SUITES = [
    f"numba.cuda.tests.{name}"
    for name in (
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
]


def upstream(step: Step) -> None:
    """pyarrow's suite with the machine's Numba."""
    if find_spec("numba_cuda") is None:
        raise LeftOut("there is no numba-cuda here")
    step.counts = pytest_counts(step.run(upstream_suite(step, "test_cuda_numba_interop")))


def environment(step: Step, version: str | None) -> dict[str, str]:
    """What selects a version of numba-cuda; None is the machine's own."""
    if SIMULATED:
        raise LeftOut("Numba needs a GPU")
    if version is None:
        if find_spec("numba_cuda") is None:
            raise LeftOut("there is no numba-cuda here")
        return {"TEST_NUMBA": "numba.cuda"}
    folder = unpacked(step, HERE / "numbas.tar.xz", "numbas")
    found = first_on_path(step, folder / version, folder / "common")
    return found | {"TEST_NUMBA": "numba.cuda"}


def mlir_environment(step: Step) -> dict[str, str]:
    if SIMULATED:
        raise LeftOut("Numba needs a GPU")
    return first_on_path(step, beside(step, "mlir")) | {"TEST_NUMBA": "numba_cuda_mlir.cuda"}


def check_version(step: Step, env: dict[str, str], package: str, version: str) -> None:
    code = f"import {package} as found; print(found.__version__, found.__file__)"
    said = step.run(python("-W", "ignore", "-c", code), env=env)
    if not said.startswith(version):
        raise RuntimeError(f"{package} {version} was asked for, and this came: {said.strip()}")


def numba(version: str | None) -> Callable[[Step], None]:
    """pyarrow's suite and our tests, with Numba's own memory manager and with ours."""

    def run(step: Step) -> None:
        env = environment(step, version)
        if version:
            check_version(step, env, "numba_cuda", version)
        for manager in (NUMBAS_OWN, MANAGER):
            suite = upstream_suite(step, "test_cuda_numba_interop")
            add(step, "upstream's", step.run(suite, env=env | manager))
            add(step, "ours", step.run(pytest(*TESTS), cwd=HERE, env=env | manager))

    return run


def mlir(step: Step) -> None:
    env = mlir_environment(step)
    check_version(step, env, "numba_cuda_mlir", "0.6")
    for manager in (NUMBAS_OWN, MANAGER):
        add(step, "ours", step.run(pytest(*TESTS), cwd=HERE, env=env | manager))


def add(step: Step, what: str, output: str) -> None:
    counts = f"{what} {pytest_counts(output)}"
    step.counts = f"{step.counts}; {counts}" if step.counts else counts


def own(version: str | None) -> Callable[[Step], None]:
    """Numba's own suites: with our memory manager no test fails that passes without."""

    def run(step: Step) -> None:
        env = environment(step, version)
        if version:
            check_version(step, env, "numba_cuda", version)
        command = python("-W", "ignore", "-m", "unittest", "-v", *SUITES)
        without = step.run(command, env=env | NUMBAS_OWN)
        with_ours = step.run(command, env=env | MANAGER)
        before, after = failing(without), failing(with_ours)
        step.note("\n".join(["fails with our memory manager only:", *sorted(after - before)]))
        ran = [int(count) for count in re.findall(r"^Ran (\d+) tests", without + with_ours, re.M)]
        # A test that fails without it does not count, as long as most of them run.
        have_run = len(ran) == 2 and min(ran) >= 100 and 4 * len(before) < ran[0]
        step.codes[:] = [code for code in step.codes if code not in (0, 1)]
        step.codes.append(0 if have_run and after <= before else 1)
        step.counts = (
            f"{' and '.join(map(str, ran))} tests, {len(before)} fail without our memory manager, "
            f"{len(after - before)} more with it"
        )

    return run


def failing(output: str) -> set[str]:
    return set(re.findall(r"^(?:FAIL|ERROR): (.*)$", output, re.M))


STEPS: list[tuple[str, Callable[[Step], None]]] = [
    *((f"Numba {version}", numba(version)) for version in OLDER),
    ("Numba", numba(None)),
    ("Numba MLIR", mlir),
]
OWN: list[tuple[str, Callable[[Step], None]]] = [
    ("Numba's own", own(None)),
    *((f"Numba's own {version}", own(version)) for version in OLDER),
]
