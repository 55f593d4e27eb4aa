"""The types in the eyes of type checkers, away from the checkout, as users have them installed."""

import json
import os
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
ALLOWLIST = HERE.parents[1] / "stubs" / "allowlist.txt"
# Objects tell type checkers from 3.12 on that they export their memory.  What is installed may be
# too new for a Python older than this one.
VERSIONS = sorted({sys.version[:4], max(sys.version[:4], "3.12")})
FILES = ["user_code.py", "wrong_calls.py"]
MARK = "  # rejected"

pytestmark = pytest.mark.independent


def run(folder, *command):
    # mypy takes long to read what others have installed, and that does not change.
    env = os.environ | {"MYPY_CACHE_DIR": str(HERE.parents[1] / ".mypy_cache" / "installed")}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert not done.stderr, done.stderr
    return done.stdout


def mypy(folder, version):
    output = run(folder, "mypy", "--strict", "--python-version", version, *FILES)
    assert re.search(r"^(Success: no issues|Found \d+ errors? in \d files?)", output, re.MULTILINE)
    found = re.findall(r"^(\w+\.py):(\d+): error", output, re.MULTILINE)
    return {(file, int(line)) for file, line in found}, output


def pyright(folder, version):
    output = run(
        folder, "pyright", "--outputjson", "--pythonversion", version,
        "--pythonpath", sys.executable, *FILES,
    )  # fmt: skip
    report = json.loads(output)
    assert report["summary"]["filesAnalyzed"] == len(FILES)
    errors = [entry for entry in report["generalDiagnostics"] if entry["severity"] == "error"]
    return {
        (Path(entry["file"]).name, entry["range"]["start"]["line"] + 1) for entry in errors
    }, output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    copy = tmp_path_factory.mktemp("typing")
    shutil.copytree(FOLDER, copy, dirs_exist_ok=True)
    return copy


def marked():
    for file in FILES:
        lines = (FOLDER / file).read_text().splitlines()
        yield from ((file, number) for number, line in enumerate(lines, 1) if MARK in line)


# Each checker and each version once.
@pytest.mark.parametrize(("checker", "version"), [(mypy, VERSIONS[-1]), (pyright, VERSIONS[0])])
def test_what_users_write_is_accepted_and_wrong_calls_are_rejected(checker, version, folder):
    expected = set(marked())
    assert len(expected) > 100
    errors, output = checker(folder, version)
    assert errors == expected, output


def test_the_stubs_are_what_there_is(folder):
    output = run(
        folder, "mypy.stubtest", "pyarrow_cuda_compat", "pyarrow.cuda",
        "--allowlist", str(ALLOWLIST),
    )  # fmt: skip
    assert output.startswith("Success: no issues found"), output
