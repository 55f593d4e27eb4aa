"""The packaged conformance suite: cases that pass, fail, crash, hang or cannot run, and its words.

The cases here are made for the purpose; the real ones are run by ``ci/test conformance``.
"""

import argparse
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import iter_modules

import pytest

from pyarrow_cuda_compat.conformance import cases, replay, runner

GOOD = "# A case that is well.\nprint(1 + 1)\n"
CRASH = "# A case that crashes.\nimport ctypes\nctypes.string_at(0)\n"
HANG = "# A case that hangs.\nimport time\ntime.sleep(600)\n"
NOISE = "# A case with a complaint.\nimport sys\nprint('oh', file=sys.stderr)\n"
EXIT = "# A case that ends early.\nimport os\nos._exit(3)\n"


@pytest.fixture
def suite(tmp_path, monkeypatch):
    """Makes a suite of the scripts that it is given, each with its true transcript."""
    monkeypatch.setattr(cases, "FOLDER", tmp_path)
    (tmp_path / "cases" / "area").mkdir(parents=True)
    (tmp_path / "snapshots").mkdir()

    def make(**scripts):
        for name, script in scripts.items():
            (tmp_path / "cases" / "area" / f"{name}.py").write_text(script)
            transcript = f"---\nsource: test\n---\n{transcript_of(script)}\n"
            (tmp_path / "snapshots" / f"area__{name}.snap").write_text(transcript)

    return make


def transcript_of(script):
    """What a script without surprises shows."""
    lines = [line for line in script.splitlines() if not line.startswith("#")]
    shown = {"print(1 + 1)": "2"}
    return "\n".join(
        f">>> {line}" + (f"\n{shown[line]}" if line in shown else "") for line in lines
    )


def run(*arguments):
    parser = argparse.ArgumentParser()
    runner.add_arguments(parser)
    return runner.main(parser.parse_args(arguments))


def test_all_is_well(suite, capsys):
    suite(one=GOOD, two=GOOD)
    assert run() == 0
    output = capsys.readouterr()
    assert "passed   area/one" in output.out
    assert "A case that is well." in output.out
    assert output.out.endswith("2 passed, 0 failed, 0 skipped\n")
    assert output.err == ""


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (CRASH, "ended by signal 11"),
        (NOISE, "+oh"),
        (EXIT, "exit status 3"),
        (GOOD.replace("1 + 1", "1 + 2"), "+3"),
    ],
)
def test_a_case_that_fails(suite, tmp_path, capsys, script, told):
    suite(good=GOOD, bad=script)
    wanted = tmp_path / "snapshots" / "area__bad.snap"
    if "1 + 2" in script:
        wanted.write_text(wanted.read_text() + "2\n")
    assert run() == 1
    output = capsys.readouterr().out
    assert "failed   area/bad" in output
    assert "passed   area/good" in output
    assert told in output
    assert "1 passed, 1 failed, 0 skipped" in output


def test_a_case_that_hangs(suite, capsys):
    suite(hang=HANG)
    assert run("--timeout", "1") == 1
    assert "[not done after 1 s]" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["0", "-1", "nan", "soon"])
def test_a_wrong_limit(suite, capsys, wrong):
    suite(one=GOOD)
    with pytest.raises(SystemExit, match="2"):
        run("--timeout", wrong)
    assert "--timeout" in capsys.readouterr().err


def test_results_that_cannot_be_written_are_refused_at_once(suite, capsys):
    suite(one=GOOD)
    with pytest.raises(SystemExit, match="2"):
        run("--json", "/nowhere/results.json")
    assert "/nowhere/results.json" in capsys.readouterr().err


def test_results_stay_when_nothing_is_run(suite, tmp_path):
    suite(one=GOOD)
    (tmp_path / "results.json").write_text("those of before")
    assert run("--json", str(tmp_path / "results.json"), "nothing/like/it") == 2
    assert (tmp_path / "results.json").read_text() == "those of before"


def test_results_are_written_when_nobody_reads_the_table(suite, tmp_path, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    suite(one=GOOD)
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        run("--json", str(tmp_path / "results.json"))
    assert json.loads((tmp_path / "results.json").read_text())["cases"]


def test_a_run_that_is_broken_off(suite, monkeypatch, capsys):
    suite(one=GOOD, two=GOOD)
    first = cases.run

    def run_one(case, timeout):
        if case.name == "area/two":
            raise KeyboardInterrupt
        return first(case, timeout)

    monkeypatch.setattr(cases, "run", run_one)
    assert run("--jobs", "1") == 130
    output = capsys.readouterr().out
    assert "passed   area/one" in output
    assert "1 passed, 0 failed, 0 skipped" in output


def test_a_talkative_python(suite, monkeypatch):
    suite(one=GOOD)
    monkeypatch.setenv("PYTHONVERBOSE", "1")
    assert run() == 0


def test_a_python_without_the_package(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(GOOD)
    done = subprocess.run(
        [sys.executable, "-S", replay.__file__, str(script)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == replay.NO_PACKAGE
    assert "does not have pyarrow_cuda_compat" in done.stderr


def test_a_case_without_a_snapshot(suite, tmp_path, capsys):
    suite(one=GOOD)
    (tmp_path / "snapshots" / "area__one.snap").unlink()
    assert run() == 1
    assert "there is no snapshot" in capsys.readouterr().out


NEEDS = ["no_such_module", "numba kernels", "cupy", "torch", "jax"]


@pytest.mark.parametrize("need", NEEDS)
def test_what_is_lacking_is_skipped(suite, capsys, monkeypatch, tmp_path, need):
    if need == "jax" and any(name.startswith("jax_cuda") for _, name, _ in iter_modules()):
        pytest.skip("jax has its plugin here")
    for name in ("cupy", "torch"):
        (tmp_path / f"{name}.py").write_text("class cuda: is_available = lambda: False")
    (tmp_path / "jax.py").touch()
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").touch()
    (tmp_path / "numba" / "cuda.py").write_text("raise RuntimeError('no compiler')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    suite(odd=f"# A case.\n# needs: {need}\nprint(1 + 1)\n")
    assert run() == 2  # nothing could be run
    output = capsys.readouterr().out
    assert f"needs {need} (" in output
    assert "0 passed, 0 failed, 1 skipped" in output


@pytest.mark.parametrize("need", ["cupy", "torch", "jax"])
def test_a_library_that_can_use_the_gpu(suite, capsys, monkeypatch, tmp_path, need):
    for name in ("cupy", "torch"):
        (tmp_path / f"{name}.py").write_text("class cuda: is_available = lambda: True")
    for name in ("jax", "jax_cuda99_plugin"):
        (tmp_path / f"{name}.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    suite(odd=f"# A case.\n# needs: {need}\nprint(1 + 1)\n")
    assert run() == 0
    assert "1 passed, 0 failed, 0 skipped" in capsys.readouterr().out


def test_variables_are_set_before_anything_is_imported(suite, capsys, monkeypatch, tmp_path):
    (tmp_path / "looks.py").write_text("import os; assert os.environ['OF_THE_CASE'] == 'a b'")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    suite(odd="# A case.\n# environment: OF_THE_CASE=a b\n# needs: looks\nprint(1 + 1)\n")
    assert run() == 0
    assert "1 passed, 0 failed, 0 skipped" in capsys.readouterr().out


@pytest.mark.simulator
def test_a_case_for_hardware_is_skipped(suite, capsys):
    suite(odd="# A case.\n# needs: gpu\nprint(1 + 1)\n", good=GOOD)
    assert run() == 0
    assert "needs a GPU" in capsys.readouterr().out


def test_a_case_for_two_devices(suite, capsys, contexts):
    suite(odd="# A case.\n# needs: two devices\nprint(1 + 1)\n", good=GOOD)
    assert run() == 0
    skipped = "1 skipped" in capsys.readouterr().out
    assert skipped == (len(contexts) < 2)


@pytest.mark.simulator
@pytest.mark.parametrize(("memory", "lacking"), [("3G", True), ("5G", False)])
def test_a_case_for_large_memory(suite, capsys, monkeypatch, memory, lacking):
    monkeypatch.setenv("CUDA_SIM_MEMORY", memory)
    suite(large="# A case.\n# needs: 4 GiB\nprint(1 + 1)\n", small=GOOD)
    assert run() == 0
    output = capsys.readouterr().out
    assert ("needs 4 GiB of free device memory" in output) == lacking
    assert ("1 passed, 0 failed, 1 skipped" in output) == lacking
    assert ("2 passed, 0 failed, 0 skipped" in output) != lacking


def test_the_results(suite, tmp_path):
    suite(good=GOOD, bad=EXIT)
    assert run("--json", str(tmp_path / "results.json")) == 1
    results = json.loads((tmp_path / "results.json").read_text())
    bad, good = results["cases"]
    assert (good["name"], good["status"], good["detail"]) == ("area/good", "passed", "")
    assert good["title"] == "A case that is well."
    assert good["seconds"] > 0
    assert (bad["name"], bad["status"]) == ("area/bad", "failed")
    assert "exit status 3" in bad["detail"]
    assert results["machine"]["devices"]
    assert results["date"].endswith("Z")


def test_names(suite, capsys):
    suite(one=GOOD, two=GOOD)
    assert run("area/t") == 0
    assert "area/one" not in capsys.readouterr().out
    assert run("--list") == 0
    assert capsys.readouterr().out.splitlines() == [
        "area/one  A case that is well.",
        "area/two  A case that is well.",
    ]
    assert run("nothing/like/it") == 2


def test_no_device(run_python):
    code, stdout, stderr = run_python(
        "import runpy, sys; sys.argv = ['x', 'conformance'];"
        "runpy.run_module('pyarrow_cuda_compat', run_name='__main__')",
        PYARROW_CUDA_DRIVER="/nowhere/libcuda.so.1",
    )
    assert (code, stdout) == (2, "")
    assert "no usable device" in stderr


def test_the_real_suite_is_in_the_wheel():
    found = cases.find([])
    assert len(found) > 100
    assert all(case.title for case in found)


def test_progress(monkeypatch, suite, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    suite(one=GOOD, two=GOOD)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert run("--jobs", "1") == 0
    assert "1/2" in terminal.getvalue()
    assert "[" + "#" * runner.BAR + "] 2/2" in terminal.getvalue()


@pytest.mark.parametrize(
    ("shown", "masked"),
    [
        ("<a at 0x7f0123456789>", "<a at 0x<address>>"),
        ("0x10", "0x10"),
        ('(device_number=1, name="NVIDIA H200")', '(device_number=1, name="<device>")'),
    ],
)
def test_masks(shown, masked):
    assert replay.mask(shown) == masked


@pytest.mark.parametrize(
    ("shown", "masked"),
    [
        ("30088364544", "<address>"),
        ("(30088364544, 16)", "(<address>, 16)"),
        ("4294967295", "4294967295"),
        ("9223372036854775807", "9223372036854775807"),
        ("b'30088364544'", "b'30088364544'"),
        ("['30088364544']", "['30088364544']"),
        ("3.0088364544", "3.0088364544"),
        ("0.30088364544", "0.30088364544"),
        ("30088364544.5", "30088364544.5"),
        ("[30088364544.0, 30088364544]", "[30088364544.0, <address>]"),
        ("-30088364544", "-30088364544"),
        ("(-30088364544, -1.30088364544)", "(-30088364544, -1.30088364544)"),
    ],
)
def test_masks_of_values(shown, masked):
    assert replay.mask_value(shown) == masked


def test_what_the_snapshots_mask():
    """Nothing but addresses: a size above 4 GiB would look like one, and be masked unnoticed."""
    folder = Path(__file__).parent.parent / "conformance" / "snapshots"
    texts = {path.stem: path.read_text() for path in folder.glob("*.snap")}
    assert {name for name, text in texts.items() if "0x<address>" in text} == {
        "context__new_buffer",
        "context__numba_arguments",
        "context__two_devices_refused",
        "cuda_buffer__repr",
        "differences__array_interface",
        "differences__read_only",
        "host_buffer__new",
        "streams__two_devices",
    }
    # As a number of its own.
    assert [name for name, text in texts.items() if re.search("(?<!0x)<address>", text)] == [
        "host_buffer__new"
    ]


def test_a_prompt(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "# The title.\n"
        "x = [1,\n     2]\n"
        "\n"
        "# A comment.\n"
        "x\n"
        "None\n"
        "for each in x:\n    print(each, end=';')\n"
        "x[2]\n"
        "_\n"
    )
    done = subprocess.run(
        [sys.executable, replay.__file__, str(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        ">>> x = [1,",
        "...      2]",
        "# A comment.",
        ">>> x",
        "[1, 2]",
        ">>> None",
        ">>> for each in x:",
        "...     print(each, end=';')",
        "1;2;",
        ">>> x[2]",
        "Traceback (most recent call last):",
        "IndexError: list index out of range",
        ">>> _",
        "[1, 2]",
    ]
