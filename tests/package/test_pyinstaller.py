"""A program that PyInstaller froze has the finder, the extension, its bridge and the simulator."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("PyInstaller")
pytestmark = [pytest.mark.subprocesses, pytest.mark.independent]

# pyarrow and NumPy import these somewhere; PyInstaller would analyse all of them.
NOT_NEEDED = [
    *("Cython", "PIL", "cffi", "docutils", "fsspec", "hypothesis", "numpy.f2py", "numpy.testing"),
    *("pandas", "pyarrow.tests", "pygments", "pytest", "setuptools", "sphinx"),
]
PROGRAM = """
import sys
from pyarrow import cuda
assert sys.frozen
context = cuda.Context(0)
buffer = context.buffer_from_data(b"frozen")
print(buffer.to_pybytes(), cuda.serialize_record_batch.__module__)
import pyarrow_cuda_compat
print(pyarrow_cuda_compat.show_config("dicts")["version"])
print(pyarrow_cuda_compat.SmartArray.__name__)
# PyInstaller does not see these: what is there, and what only programs have that import it.
from importlib.util import find_spec
for name in ("_methods.files", "_methods.arrow", "pygpu._status"):
    assert find_spec("pyarrow_cuda_compat." + name), name
print(find_spec("numba"), find_spec("pyarrow_cuda_compat.conformance"))
"""


def test_a_frozen_program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "PyInstaller", "--onedir", "--noconfirm"]
    command += [f"--exclude-module={name}" for name in NOT_NEEDED]
    command += ["--log-level", "WARN", "program.py"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=280)
    kept = ("PYARROW_CUDA_DRIVER", "CUDA_SIM_DEVICES", "LD_LIBRARY_PATH")
    environment = {name: os.environ[name] for name in kept if name in os.environ}
    program = tmp_path / "dist" / "program" / "program"
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    import pyarrow_cuda_compat

    assert done.stdout.splitlines() == [
        "b'frozen' pyarrow._cuda",
        pyarrow_cuda_compat.__version__,
        "SmartArray",
        "None None",
    ]
