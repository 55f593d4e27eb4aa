"""The command ``conformance``: its exit status, its table, its results and its options.

The cases here are made for the purpose; ``ci/test conformance`` replays the real ones, and
test_replay.py shows how a case is replayed.
"""

import argparse
import io
import json
import os
import sys

import pytest

from pyarrow_cuda_compat.conformance import examples, outcome, runner

GOOD = "# A case that passes.\n\n>>> print(1 + 1)\n2\n"
BAD = "# A case that fails.\n\n>>> print(1 + 2)\n2\n"
LACKING = "# A case that is skipped.\n# needs: no_such_module\n"


@pytest.fixture
def suite(tmp_path):
    """Makes a suite of the cases that it is given, and returns the folder where they lie."""
    area = tmp_path / "cases" / "area"
    area.mkdir(parents=True)

    def make(**sessions):
        for name, session in sessions.items():
            (area / f"{name}.pycon").write_text(session)
        return area

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
    difference = "--- documented\n+++ here\n@@ -1,4 +1,4 @@\n"
    difference += " # A case that fails.\n \n >>> print(1 + 2)\n-2\n+3"
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
            "transcript": BAD.replace("\n2", "\n3"),
        },
        {
            "name": "area/good",
            "title": "A case that passes.",
            "status": "passed",
            "detail": "",
            "transcript": GOOD,
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
    suite(hang="# A case that hangs.\n\n>>> import time\n>>> time.sleep(600)\n")
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


@pytest.mark.parametrize(
    ("may_lack", "status"),
    [
        ("no_such_module", 0),
        ("a GPU, no_such", 0),
        ("a GPU, module", 1),
        (",", 1),
        ("", 1),
    ],
)
def test_what_this_machine_may_lack(suite, run, capsys, may_lack, status):
    suite(good=GOOD, odd=LACKING)
    assert run("--may-lack", may_lack) == status
    output = capsys.readouterr().out
    reason = "skipped for a reason that --may-lack does not list: needs no_such_module (No module"
    assert (f"=== area/odd\n{reason}" in output) == bool(status)
    assert ("1 passed, 1 failed, 0 skipped" in output) == bool(status)


def test_outputs_are_written_anew(suite, run, capsys):
    area = suite(bad=BAD, odd=LACKING)
    assert run("--update") == 0
    output = capsys.readouterr().out
    assert "updated  area/bad" in output
    assert "-2\n+3" in output
    assert output.endswith("0 passed, 0 failed, 1 skipped, 1 updated\n")
    found = {path.stem: path.read_text() for path in area.iterdir()}
    assert found == {"bad": BAD.replace("\n2", "\n3"), "odd": LACKING}
    assert run("--update", "--may-lack", "") == 1
    assert capsys.readouterr().out.endswith("1 passed, 1 failed, 0 skipped\n")


@pytest.mark.parametrize(
    "statement",
    [
        "import os; os._exit(0)",
        "import sys; sys.exit(1)",
        "import time; time.sleep(600)",
        "print('...x')",
        "print('>>> x')",
    ],
)
def test_statements_are_never_written(suite, run, capsys, statement):
    session = f"# A case.\n\n>>> {statement}\n>>> print(1 + 2)\n2\n"
    area = suite(odd=session)
    assert run("--update", "--timeout", "1") == 1
    assert (area / "odd.pycon").read_text() == session
    assert "failed   area/odd" in capsys.readouterr().out


@pytest.mark.parametrize(
    "end", ["import os; os._exit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"]
)
def test_the_end_of_a_process_is_no_output(suite, run, end):
    session = f"# A case.\n\n>>> print(1 + 1)\n2\n>>> {end}\n"
    area = suite(odd=session)
    assert run("--update") == 1
    assert (area / "odd.pycon").read_text() == session


def test_cases_of_the_package_are_not_written(command):
    done = command("conformance", "--update")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "--update changes no case of the package: --suite names others.\n"


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
