"""Uninstalling leaves nothing behind, also of what was run."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
import pyarrow
import pytest

pytestmark = [pytest.mark.subprocesses, pytest.mark.independent]

ROOT = Path(__file__).parents[2]
WHEELS = [*ROOT.glob("dist/*.whl"), *ROOT.glob("*.whl")]
IMPORTED = """
import pyarrow_cuda_compat
from pyarrow import cuda
from pyarrow_cuda_compat import memory, pygpu
print(cuda.Context(0).device_number, pyarrow_cuda_compat.__file__)
"""


def everything(folder):
    return {*folder.rglob("*")}


def run(*command):
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not WHEELS, reason="needs the wheel")
def test_uninstalling_leaves_nothing(tmp_path):
    environment = tmp_path / "environment"
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    (site,) = environment.glob("lib/python3*/site-packages")
    # Else pip removes the folder of packages with whatever is left in it.
    (site / "another.py").touch()
    before = everything(environment)

    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    run(*pip, "install", "--quiet", "--no-index", "--no-deps", WHEELS[0])
    installed = everything(environment)
    # pyarrow and numpy are those of the tests; while pip works, it sees nothing of theirs.
    others = site / "others.pth"
    others.write_text("".join(f"{Path(it.__file__).parents[1]}\n" for it in (numpy, pyarrow)))
    assert str(environment) in run(python, "-c", IMPORTED)
    command = [python, "-m", "pyarrow_cuda_compat"]
    run(*command, "info")
    run(*command, "conformance", "context/new_buffer")
    assert any("__pycache__" in path.parts for path in everything(environment) - before)
    assert {path.name for path in installed - before} >= {
        "_native.abi3.so",
        "pyarrow_cuda_compat.pth",
        "pyarrow_cuda_compat.start",
    }

    others.unlink()
    run(*pip, "uninstall", "--quiet", "--yes", "pyarrow-cuda-compat")
    assert everything(environment) == before
