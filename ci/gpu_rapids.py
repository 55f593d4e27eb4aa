"""The step of run.py that runs our tests with RMM, KvikIO and UCX; beside it."""

from __future__ import annotations

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
)

TESTS = ["memory/test_rmm", "files/test_kvikio_itself", "interop/test_ucx"]
CASES = ["additions/rmm"]


def rapids(step: Step) -> None:
    if SIMULATED:
        raise LeftOut("RAPIDS needs a GPU")
    env = first_on_path(step, beside(step, "rapids"))
    versions = (
        "import kvikio, rmm, ucxx; print(rmm.__version__, kvikio.__version__, ucxx.__version__)"
    )
    step.run(python("-c", versions), env=env)
    tests = pytest(*(f"tests/{name}.py" for name in TESTS))
    counts = pytest_counts(step.run(tests, cwd=HERE, env=env))
    cases = step.run(python("-m", "pyarrow_cuda_compat", "conformance", *CASES), env=env)
    step.counts = f"{counts}; conformance: {cases.strip().splitlines()[-1]}"
