"""The scripts in `findings/`, which CI does not run, and what runs them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

FINDINGS = Path(__file__).parents[2] / "findings"
if not FINDINGS.exists():
    pytest.skip("needs a checkout", allow_module_level=True)

pytestmark = pytest.mark.independent


@pytest.fixture
def run(tmp_path):
    """The runner beside scripts that end with these statuses."""
    shutil.copy(FINDINGS / "run", tmp_path)
    endings = {
        "same": "echo expected: 1; exit 0",
        "other": "echo expected: 1; echo found: 2; exit 1",
        "lacking": "echo there is no GPU here; exit 77",
        "alone": "echo no network; exit 1",
        "broken": "echo expected: 1; exit 3",
    }
    for name, text in endings.items():
        (tmp_path / f"{name}.sh").write_text(text)

    def call(*names):
        command = ["bash", str(tmp_path / "run"), *names]
        found = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        return found.returncode, found.stdout + found.stderr

    return call


def test_all_are_run_and_what_has_changed_is_told(run):
    status, told = run()
    assert status == 1
    lines = told.splitlines()
    assert "same: as described" in lines
    assert lines[lines.index("other: CHANGED") + 1 :][:2] == ["    expected: 1", "    found: 2"]
    assert lines[lines.index("alone: FAILED") + 1] == "    no network"
    assert "broken: FAILED" in lines
    assert lines[lines.index("lacking: not run here") + 1] == "    there is no GPU here"
    assert lines[-4:] == ["1 as described", "1 CHANGED", "2 FAILED", "1 not run here"]


@pytest.mark.parametrize(
    ("names", "expected"),
    [(["same"], 0), (["same.sh", "lacking"], 0), (["same", "other"], 1), (["broken"], 1)],
)
def test_named_ones_are_run(run, names, expected):
    status, told = run(*names)
    assert status == expected
    ran = re.findall(r"^(\w+): (?:as|CHANGED|FAILED|not)", told, re.M)
    assert ran == [name.removesuffix(".sh") for name in names]


def test_an_unknown_name_is_refused_before_any_is_run(run):
    status, told = run("same", "nothing")
    assert (status, "same: as described" in told) == (2, False)
    assert told.startswith("there is no finding named nothing")


def test_the_page_has_each_script():
    named = re.findall(r"^\| `(\w+)` \|", (FINDINGS / "README.md").read_text(), re.M)
    assert sorted(named) == sorted(path.stem for path in FINDINGS.glob("*.sh"))


def test_each_script_says_what_one_would_expect():
    for path in FINDINGS.glob("*.sh"):
        assert re.search(r'^(print\(|echo )"expected', path.read_text(), re.M), path
