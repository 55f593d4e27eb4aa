"""The command ``conformance``: its exit status, its table, its results and its options.

The cases here are made for the purpose; ``ci/test conformance`` replays the real ones, and
test_replay.py shows how a transcript is made.
"""

import argparse
import io
import json
import os
import sys

import pytest

from pyarrow_cuda_compat.conformance import examples, outcome, runner

GOOD = "# A case that passes.\nprint(1 + 1)\n"
BAD = "# A case that fails.\nprint(1 + 2)\n"
LACKING = "# A case that is skipped.\n# needs: no_such_module\n"
SNAPSHOT = "---\nsource: test\n---\n>>> print(1 + 1)\n2\n"


@pytest.fixture
def suite(tmp_path):
    """Makes a suite of the scripts that it is given, each with the transcript of GOOD."""
    (tmp_path / "cases" / "area").mkdir(parents=True)
    (tmp_path / "snapshots").mkdir()

    def make(**scripts):
        for name, script in scripts.items():
            (tmp_path / "cases" / "area" / f"{name}.py").write_text(script)
            (tmp_path / "snapshots" / f"area__{name}.snap").write_text(SNAPSHOT)

    return make


@pytest.fixture
def command_line(tmp_path):
    """Gives the command arguments, and returns its exit status."""

    def run(*arguments):
        parser = argparse.ArgumentParser()
        runner.add_arguments(parser)
        return runner.main(parser.parse_args(["--suite", str(tmp_path), *arguments]))

    return run


@pytest.fixture
def run(command_line, monkeypatch):
    """The same without the docstring examples."""
    monkeypatch.setattr(examples, "find", lambda prefixes: [])
    return command_line


def test_a_suite_that_is_not_there(run, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run("--json", str(tmp_path / "results.json"))
    assert f"--suite: there is no folder {tmp_path / 'cases'}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_one_fails_and_one_is_skipped(suite, run, tmp_path, capsys):
    suite(good=GOOD, bad=BAD, odd=LACKING)
    assert run("--json", str(tmp_path / "results.json")) == 1
    output, complaints = capsys.readouterr()
    assert complaints == ""
    for told in ["passed   area/good", "failed   area/bad", "skipped  area/odd", "A case that pas"]:
        assert told in output
    difference = "--- documented\n+++ here\n@@ -1,2 +1,2 @@\n"
    difference += "->>> print(1 + 1)\n-2\n+>>> print(1 + 2)\n+3"
    assert f"=== area/bad\n{difference}\n" in output
    assert "(needs no_such_module (No module named 'no_such_module'))" in output
    assert output.endswith("1 passed, 1 failed, 1 skipped\n")

    results = json.loads((tmp_path / "results.json").read_text())
    assert results["machine"]["devices"]
    assert results["date"].endswith("Z")
    assert all(case.pop("seconds") > 0 for case in results["cases"])
    assert results["cases"] == [
        {
            "name": "area/bad",
            "title": "A case that fails.",
            "status": "failed",
            "detail": difference,
            "transcript": ">>> print(1 + 2)\n3\n",
        },
        {
            "name": "area/good",
            "title": "A case that passes.",
            "status": "passed",
            "detail": "",
            "transcript": ">>> print(1 + 1)\n2\n",
        },
        {
            "name": "area/odd",
            "title": "A case that is skipped.",
            "status": "skipped",
            "detail": "needs no_such_module (No module named 'no_such_module')",
            "transcript": None,
        },
    ]


def test_nothing_could_be_run(suite, run, capsys):
    suite(odd=LACKING)
    assert run() == 2
    assert capsys.readouterr().out.endswith("0 passed, 0 failed, 1 skipped\n")


def test_a_case_that_hangs(suite, run, capsys):
    suite(hang="# A case that hangs.\nimport time\ntime.sleep(600)\n")
    assert run("--timeout", "0.1") == 1
    assert "[not done after 0.1 s]" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "soon"])
def test_a_wrong_limit(suite, run, capsys, wrong):
    suite(one=GOOD)
    with pytest.raises(SystemExit, match="2"):
        run("--timeout", wrong)
    assert "--timeout" in capsys.readouterr().err


def test_results_that_cannot_be_written_are_refused_at_once(suite, run, capsys):
    suite(one=GOOD)
    with pytest.raises(SystemExit, match="2"):
        run("--json", "/nowhere/results.json")
    assert "/nowhere/results.json" in capsys.readouterr().err


def test_results_stay_when_nothing_is_run(suite, run, tmp_path):
    suite(one=GOOD)
    (tmp_path / "results.json").write_text("those of before")
    assert run("--json", str(tmp_path / "results.json"), "nothing/like/it") == 2
    assert (tmp_path / "results.json").read_text() == "those of before"


def test_results_are_written_when_nobody_reads_the_table(suite, run, tmp_path, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    suite(one=GOOD)
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        run("--json", str(tmp_path / "results.json"))
    assert json.loads((tmp_path / "results.json").read_text())["cases"]


def test_a_run_that_is_interrupted(suite, run, monkeypatch, capsys):
    suite(one=GOOD, two=GOOD)
    first = outcome.run

    def run_one(case, timeout):
        if case.name == "area/two":
            raise KeyboardInterrupt
        return first(case, timeout)

    monkeypatch.setattr(outcome, "run", run_one)
    assert run("--jobs", "1") == 130
    output = capsys.readouterr().out
    assert "passed   area/one" in output
    assert "1 passed, 0 failed, 0 skipped" in output


def test_a_case_without_a_snapshot(suite, run, tmp_path, capsys):
    suite(one=GOOD)
    (tmp_path / "snapshots" / "area__one.snap").unlink()
    assert run() == 1
    assert "there is no snapshot" in capsys.readouterr().out


def test_names(suite, run, capsys):
    suite(one=GOOD, two=GOOD)
    assert run("area/t") == 0
    assert "area/one" not in capsys.readouterr().out
    assert run("--list") == 0
    assert capsys.readouterr().out.splitlines() == [
        "area/one  A case that passes.",
        "area/two  A case that passes.",
    ]


def test_docstring_examples(suite, command_line, tmp_path, monkeypatch, capsys):
    (tmp_path / "sitecustomize.py").write_text(
        "from pyarrow_cuda_compat import memory\nmemory.__doc__ = '>>> 1 + 1\\n3\\n'"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    suite(one=GOOD)
    assert command_line("examples/", "--list") == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert listed >= {"examples/Context", "examples/pyarrow_cuda_compat", "examples/pygpu"}

    results = tmp_path / "results.json"
    assert command_line("area/", "examples/mem", "examples/Out", "--json", str(results)) == 1
    output = capsys.readouterr().out
    assert "passed   area/one" in output
    assert "passed   examples/OutOfMemoryError" in output
    assert "+Line 1, in memory" in output
    assert "+Expected:\n+    3\n+Got:\n+    2" in output
    written = json.loads(results.read_text())
    assert [case["name"] for case in written["cases"]] == ["area/one"]
    found = [(case["name"], case["status"]) for case in written["examples"]]
    assert found == [("examples/OutOfMemoryError", "passed"), ("examples/memory", "failed")]


def test_no_device(command):
    done = command("conformance", PYARROW_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no usable device" in done.stderr


@pytest.mark.parametrize(
    ("variable", "reason"),
    [
        ("PYARROW_CUDA_HOOK", "`from pyarrow import cuda` does not find the package: PYARROW_CUDA"),
        ("PYARROW_CUDA_COMPAT_HOOK", "the package cannot be used: the environment variable PYARR"),
    ],
)
def test_why_no_case_can_pass(command, variable, reason):
    done = command("conformance", **{variable: "0"})
    assert (done.returncode, done.stdout) == (2, "")
    assert f"No case was run, because {reason}" in done.stderr


def test_progress(suite, run, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    suite(one=GOOD, two=GOOD)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert run("--jobs", "1") == 0
    assert "1/2" in terminal.getvalue()
    assert "[" + "#" * runner.BAR + "] 2/2" in terminal.getvalue()
