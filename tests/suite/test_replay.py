"""How a case is replayed, masked and compared, and when it is skipped."""

import os
import re
from pathlib import Path
from pkgutil import iter_modules

import pytest

from pyarrow_cuda_compat.conformance import outcome, replay
from pyarrow_cuda_compat.conformance.cases import Case

SUITE = Path(__file__).parents[2] / "conformance" / "cases"


@pytest.fixture
def play(tmp_path):
    """Replays a case, and returns the outcome."""

    def play(session, timeout=60):
        case = Case("area/case", tmp_path / "case.pycon")
        case.path.write_bytes(session.encode())
        return outcome.run(case, timeout)

    return play


# --- the prompt ---------------------------------------------------------------------------------


PROMPT = """\
# The title.

>>> x = [1,
...      2]
>>> text = '''
... one
...
...  other'''

# A comment.
>>> x
[1, 2]
>>> None

# Another,
# and a statement of its own.

>>> for each in x:
...     print(each, end=';')
...
...     # A comment within.
1;2;
>>> x[2]
IndexError: list index out of range
>>> _
[1, 2]
>>> print(text)
<BLANKLINE>
one
<BLANKLINE>
 other
>>> 1 +
  File "<stdin>", line 1
    1 +
       ^
SyntaxError: invalid syntax
"""


def test_a_prompt(play):
    assert play(PROMPT).detail == ""


def test_outputs_are_compared(play):
    """Everything else stands in the transcript as in the case."""
    wrong = PROMPT.replace("1;2;\n", "").replace("line 1", "line 2").replace("[1, 2]", "[1, 3]")
    result = play(wrong)
    assert (result.status, result.transcript) == ("failed", PROMPT)


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("import ctypes; ctypes.string_at(0)", "[ended by signal 11, Segmentation fault]\n"),
        ("import os; os._exit(3)", "[exit status 3]\n"),
        ("import sys; print('oh', file=sys.stderr)", "[stderr]\noh\n\n"),
        ("import sys; sys.exit('oh')", "[stderr]\noh\n\n[exit status 1]\n"),
        # As a replay that skips its case; but this one has begun.
        (f"import sys; sys.exit({replay.SKIPPED})", f"[exit status {replay.SKIPPED}]\n"),
    ],
)
def test_the_end_of_a_transcript(play, statement, told):
    result = play(f"# A case.\n\n>>> {statement}\n")
    assert result.status == "failed"
    assert result.transcript == f"# A case.\n\n>>> {statement}\n{told}"


def test_a_case_that_leaves_a_process_behind(play, tmp_path):
    """The suite does not wait for it, although it has the case's standard output open."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    waits = f"""
import os, signal
signal.alarm(30)
fifo = os.open({str(fifo)!r}, os.O_RDWR)
os.read(fifo, 1)
os.read(fifo, 1)
"""
    session = f"""# A case.

>>> import os, subprocess, sys
>>> child = subprocess.Popen([sys.executable, "-c", {waits!r}])
>>> _ = open({str(fifo)!r}, "w").write("b")
>>> os._exit(0)
"""
    assert play(session).status == "passed"
    # This fails when nobody reads: when the process is over.
    still_there = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
    os.write(still_there, b"e")
    os.close(still_there)


# --- what a transcript does not depend on -------------------------------------------------------


def test_standard_input(play):
    """A case finds it empty, instead of reading what was meant for the command."""
    read, write = os.pipe()
    stdin = os.dup(0)
    os.dup2(read, 0)
    try:
        os.write(write, b"meant for the command\n")
        os.close(write)
        result = play("# A case.\n\n>>> import sys\n>>> sys.stdin.read()\n''\n")
    finally:
        os.dup2(stdin, 0)
        os.close(read)
        os.close(stdin)
    assert result.detail == ""


def test_a_talkative_python(play, monkeypatch):
    for name in outcome.TALKATIVE - {"PYTHONWARNINGS"}:
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PYTHONWARNINGS", "always")
    assert play("# A case.\n\n>>> _ = open('/dev/null')\n>>> _ = 0\n").detail == ""


def test_another_encoding_than_utf_8(run_python, tmp_path):
    """Cases are UTF-8, whatever this machine's files are."""
    path = tmp_path / "case.pycon"
    path.write_bytes("# Für alle.\n\n>>> print('é')\né\n".encode())
    code = (
        "import sys; from pathlib import Path\n"
        "from pyarrow_cuda_compat.conformance import cases, outcome\n"
        "case = cases.Case('area/case', Path(sys.argv[1]))\n"
        "print(ascii(case.title), outcome.run(case, 60).status)"
    )
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    found = run_python(code, path, **ascii_only)
    assert found == (0, "'F\\xfcr alle.' passed\n", "")


# --- comparison ---------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_line_feeds_end_lines(separator):
    assert outcome.compare("a\nb\n", f"a{separator}b\n") != ""


def test_what_makes_no_difference():
    assert outcome.compare("a\nb", "a\nb \n\n") == ""
    assert outcome.compare("a\nb", "a\r\nb\r\n") == ""
    assert outcome.compare("a\nb", "a \nb") != ""


def test_bytes_are_kept(play):
    statement = r"_ = __import__('os').write(1, b'a\rb\xff\n')"
    session = f"# A case.\n\n>>> {statement}\na\rb\\xff\n"
    assert play(session).detail == ""
    assert play(session.replace("\r", "\n")).status == "failed"


# --- needs --------------------------------------------------------------------------------------

NEEDS = ["no_such_module", "numba kernels", "cupy", "torch", "jax"]


@pytest.mark.parametrize("need", NEEDS)
def test_what_is_lacking(play, monkeypatch, tmp_path, need):
    if need == "jax" and any(name.startswith("jax_cuda") for _, name, _ in iter_modules()):
        pytest.skip("jax has its plugin here")
    for name in ("cupy", "torch"):
        (tmp_path / f"{name}.py").write_text("class cuda: is_available = lambda: False")
    (tmp_path / "jax.py").touch()
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "__init__.py").touch()
    (tmp_path / "numba" / "cuda.py").write_text("raise RuntimeError('no compiler')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    result = play(f"# A case.\n# needs: {need}\n\n>>> print(1)\n1\n")
    assert (result.status, result.transcript) == ("skipped", None)
    assert result.detail.startswith(f"needs {need} (")


@pytest.mark.parametrize("need", ["cupy", "torch", "jax"])
def test_a_library_that_can_use_the_gpu(play, monkeypatch, tmp_path, need):
    for name in ("cupy", "torch"):
        (tmp_path / f"{name}.py").write_text("class cuda: is_available = lambda: True")
    for name in ("jax", "jax_cuda99_plugin"):
        (tmp_path / f"{name}.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert play(f"# A case.\n# needs: {need}\n\n>>> print(1)\n1\n").status == "passed"


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("name", "status"), [("CUDA Simulator 0", "passed"), ("NVIDIA H200", "skipped")]
)
def test_numba_finds_a_driver_itself(play, monkeypatch, tmp_path, name, status):
    # numba-cuda leads imports of `numba.cuda` to itself, whatever comes first on the path.
    stand_in = f"""if True:
        import sys
        from types import ModuleType, SimpleNamespace
        sys.modules["numba"] = ModuleType("numba")
        sys.modules["numba.cuda"] = ModuleType("numba.cuda")
        sys.modules["numba.cuda"].gpus = [SimpleNamespace(name={name!r})]"""
    (tmp_path / "sitecustomize.py").write_text(stand_in)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    assert play("# A case.\n# needs: numba.cuda\n\n>>> print(1)\n1\n").status == status


def test_variables_are_set_before_anything_is_imported(play, monkeypatch, tmp_path):
    (tmp_path / "looks.py").write_text("import os; assert os.environ['OF_THE_CASE'] == 'a b'")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    head = "# A case.\n# environment: OF_THE_CASE=a b\n# needs: looks\n"
    assert play(f"{head}\n>>> print(1)\n1\n").status == "passed"


@pytest.mark.simulator
def test_a_case_for_hardware(play):
    assert play("# A case.\n# needs: gpu\n\n>>> print(1)\n1\n").detail == "needs a GPU"


def test_a_case_for_two_devices(play, contexts):
    lacking = play("# A case.\n# needs: two devices\n\n>>> print(1)\n1\n").detail
    assert lacking == ("needs a second device" if len(contexts) < 2 else "")


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("memory", "lacking"), [("3G", "needs 4 GiB of free device memory"), ("5G", "")]
)
def test_a_case_for_large_memory(play, monkeypatch, memory, lacking):
    monkeypatch.setenv("CUDA_SIM_MEMORY", memory)
    assert play("# A case.\n# needs: 4 GiB\n\n>>> print(1)\n1\n").detail == lacking


# --- masks --------------------------------------------------------------------------------------


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


def test_masks_are_put_on(play):
    session = """\
# A case.

>>> x = 30088364544
>>> x
<address>
>>> print(hex(x))
0x<address>

# Not what an expression gives.
>>> print(x)
30088364544
"""
    assert play(session).detail == ""


def test_what_the_cases_mask():
    """Nothing but addresses: a size above 4 GiB would look like one, and be masked unnoticed."""
    texts = {
        f"{path.parent.name}/{path.stem}": path.read_text(encoding="utf-8")
        for path in SUITE.glob("*/*.pycon")
    }
    assert {name for name, text in texts.items() if "0x<address>" in text} == {
        "arrays/processes",
        "context/borrowed",
        "context/buffer_from_object",
        "context/new_buffer",
        "context/numba_arguments",
        "context/two_devices",
        "cuda_buffer/attributes",
        "host_buffer/new",
        "numba_memory/memory_streams",
        "streams/two_devices",
    }
    # As a number of its own.
    assert [name for name, text in texts.items() if re.search("(?<!0x)<address>", text)] == [
        "host_buffer/new"
    ]


def test_cases_are_found_where_numpy_cannot_be_imported(run_python):
    code = """
import sys
sys.modules["numpy"] = None
from pyarrow_cuda_compat.conformance import examples
print(*[it.name for it in examples.find(["examples/S"])])
"""
    assert run_python(code) == (0, "examples/SmartArray examples/Stream\n", "")
