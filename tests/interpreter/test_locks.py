"""Locks below Python: nobody waits for the GIL, and no Python code runs, under one."""

import pytest

pytestmark = [pytest.mark.subprocesses, pytest.mark.simulator]

START = """
import sys, threading
import numpy as np
from pyarrow import cuda
from pyarrow_cuda_compat import set_transfer_limits
ctx = cuda.Context(0)
buffer = ctx.new_buffer(4 << 20)
data = np.arange(4 << 20, dtype=np.uint8)
def limits(number):
    set_transfer_limits(threads=2 * (number % 2), pinned_bytes=8 << 20, begin_after=0)
"""


def test_limits_change_beside_copies(run_python):
    code = """
sys.setswitchinterval(1e-5)
is_over = threading.Event()
def change():
    number = 0
    while not is_over.is_set():
        limits(number)
        number += 1
threads = [threading.Thread(target=change) for _ in range(2)]
for thread in threads: thread.start()
for _ in range(50):
    buffer.copy_from_host(data)
    assert buffer.to_pybytes() == data.tobytes()
is_over.set()
for thread in threads: thread.join()
print("over")
"""
    assert run_python(START + code, timeout=60) == (0, "over\n", "")


@pytest.mark.parametrize("function", ["cuMemHostUnregister", "cuStreamDestroy", "cuEventDestroy"])
def test_a_hook_changes_limits(run_python, function):
    """The hook runs for resources of the copy engine, and goes to the engine again."""
    code = """
reports = []
def hook(told):
    reports.append(str(told.exc_value))
    if len(reports) < 5:  # what it does here fails, too
        limits(len(reports))
        buffer.copy_from_host(data)
sys.unraisablehook = hook
limits(1)
buffer.copy_from_host(data)
limits(0)
limits(1)
assert reports and all(sys.argv[1] in report for report in reports), reports
sys.unraisablehook = lambda told: None
print("over")
"""
    outcome = run_python(START + code, function, timeout=60, CUDA_SIM_FAULT=f"{function}:1+=999")
    assert outcome == (0, "over\n", "")
