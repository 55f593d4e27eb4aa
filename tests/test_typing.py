"""The types in the eyes of type checkers, away from the checkout, as users have them installed."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
pytest.importorskip("pyright")

HERE = Path(__file__).parent
FOLDER = HERE / "typing"
ALLOWLIST = HERE.parent / "stubs" / "allowlist.txt"
# Objects tell type checkers from 3.12 on that they export their memory.  What is installed may be
# too new for a Python older than this one.
VERSIONS = sorted({sys.version[:4], max(sys.version[:4], "3.12")})
MARK = "  # rejected"


def run(folder, *command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert not done.stderr, done.stderr
    return done.stdout


def mypy(folder, file, version):
    """The lines with errors, and the errors."""
    output = run(folder, "mypy", "--strict", "--python-version", version, file)
    assert re.search(r"^(Success: no issues|Found \d+ errors? in 1 file)", output, re.MULTILINE)
    return {
        int(line) for line in re.findall(rf"^{file}:(\d+): error", output, re.MULTILINE)
    }, output


def pyright(folder, file, version):
    output = run(
        folder, "pyright", "--outputjson", "--pythonversion", version,
        "--pythonpath", sys.executable, file,
    )  # fmt: skip
    report = json.loads(output)
    assert report["summary"]["filesAnalyzed"] == 1
    errors = [entry for entry in report["generalDiagnostics"] if entry["severity"] == "error"]
    return {entry["range"]["start"]["line"] + 1 for entry in errors}, output


CHECKERS = [mypy, pyright]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    copy = tmp_path_factory.mktemp("typing")
    shutil.copytree(FOLDER, copy, dirs_exist_ok=True)
    return copy


def marked(file):
    lines = (FOLDER / file).read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if MARK in line}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("checker", CHECKERS)
def test_what_users_write_is_accepted(checker, version, folder):
    errors, output = checker(folder, "user_code.py", version)
    assert errors == set(), output


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_calls_are_rejected(checker, version, folder):
    errors, output = checker(folder, "wrong_calls.py", version)
    assert len(errors) > 100
    assert errors == marked("wrong_calls.py"), output


def test_the_stubs_are_what_there_is(folder):
    output = run(
        folder, "mypy.stubtest", "pyarrow_cuda_compat", "pyarrow.cuda",
        "--allowlist", str(ALLOWLIST),
    )  # fmt: skip
    assert output.startswith("Success: no issues found"), output
