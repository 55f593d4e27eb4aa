"""The programs of `examples/tpch` give DuckDB's answers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[2] / "examples" / "tpch"
#: Where a program's own folder is among those that modules come from.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
BESIDE_PYTHON = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent))

pytestmark = [pytest.mark.independent, pytest.mark.subprocesses]
if not (BESIDE_PYTHON or shutil.which("tpchgen-cli")):
    pytestmark.append(pytest.mark.skip(reason="needs tpchgen-cli"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a program of a folder over the tables of scale factor 0.01."""
    home = tmp_path_factory.mktemp("tpch")

    def run(*options, name="run.py", folder=PROGRAMS):
        common = ["--folder", home / "tables", *options]
        return subprocess.run(
            [sys.executable, folder / name, *common],
            cwd=home,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=240,
        )

    return run


@pytest.mark.parametrize("options", [[], ["--decimals"]])
def test_the_answers_are_duckdbs(run, options):
    pytest.importorskip("duckdb")
    done = run("--check", *options)
    assert done.returncode == 0, done.stderr
    lines = [line.split()[0] for line in done.stdout.splitlines()]
    assert lines == ["read", *(f"q{number}" for number in range(1, 23)), "total", "all"]


def test_a_wrong_answer_is_found(run, tmp_path):
    pytest.importorskip("duckdb")
    folder = shutil.copytree(PROGRAMS, tmp_path / "programs")
    queries = folder / "queries.py"
    text = queries.read_text()
    assert text.count('field("l_quantity") < 24.0') == 1
    queries.write_text(text.replace('field("l_quantity") < 24.0', 'field("l_quantity") < 25.0'))
    done = run("--check", folder=folder)
    assert done.returncode == 1
    assert done.stderr.startswith("q6: row 0 is ")
    assert done.stderr.count("\n") == 1


def test_dask_workers_give_the_same_answers(run):
    pytest.importorskip("distributed")
    done = run("--workers", "2", "--rounds", "1", "--check", name="on_dask.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1] == "all answers agree"
