"""The programs of the gallery print what its page shows."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray
from pyarrow_cuda_compat.conformance import replay

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SHOWN = {
    found["name"]: found["output"]
    for found in re.finditer(
        r"^```{literalinclude} \.\./examples/(?P<name>\w+)\.py\n```\n\n"
        r"```text\n(?P<output>.*?)^```",
        (ROOT / "docs" / "gallery.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
}


def programs():
    for name in SHOWN:
        needs = replay.NEEDS.search((EXAMPLES / f"{name}.py").read_text())
        needs_gpu = needs and "gpu" in needs[1].split(", ")
        yield pytest.param(name, marks=[pytest.mark.hardware] if needs_gpu else [])


def test_the_gallery_shows_every_program():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*SHOWN, "tour"}


@pytest.mark.subprocesses
@pytest.mark.parametrize("name", list(programs()))
def test_a_program_prints_what_the_page_shows(name, tmp_path):
    path = EXAMPLES / f"{name}.py"
    if lacking := replay.lacking(path.read_text()):
        pytest.skip(f"needs {lacking}")
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert (done.returncode, done.stdout) == (0, SHOWN[name]), done.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("path", [*EXAMPLES.glob("*.ipynb")], ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path):
    names = {"__name__": path.stem}
    for cell in json.loads(path.read_text())["cells"]:
        assert not cell.get("outputs"), "clear the outputs before you commit a notebook"
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    assert "table" not in names  # the last cells have run


def test_the_kernel_without_a_gpu(ctx, monkeypatch):
    """Run by Python, one thread of the kernel after another."""
    cuda = pytest.importorskip("numba.cuda")
    kernel = runpy.run_path(str(EXAMPLES / "kernel_on_a_column.py"))["to_fahrenheit"]
    column = DeviceArray.from_arrow(pa.array([0, -40.0, None, 100])[1:].copy_to(ctx.memory_manager))
    for place in range(8):
        monkeypatch.setattr(cuda, "grid", lambda dimensions, place=place: place)
        kernel(column.values, column.validity, column.validity.bit_offset)
    back = column.to_arrow().copy_to(pa.default_cpu_memory_manager()).to_pylist()
    assert back == [-40, None, 212]
