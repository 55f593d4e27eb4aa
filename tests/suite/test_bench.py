"""The benchmark measures its rows, checks their results and shows them.  No time is asserted."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cuda_bench import cli, goals, measure, page, plots, rows, table
from pyarrow_cuda_compat import Context

BENCH = Path(__file__).resolve().parents[2] / "bench"

pytestmark = pytest.mark.independent

# Small enough for a second or two, however slow the device.
TINY = ["--quick", "--largest", "64K"]


def bench(*arguments, **env):
    return subprocess.run(
        [sys.executable, BENCH, *map(str, arguments)],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of everything: what it printed, and its result."""
    path = tmp_path_factory.mktemp("bench") / "inner" / "result.json"
    done = bench("run", "limits", "table", "sweep", *TINY, "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done, path


@pytest.fixture(scope="module")
def result(whole):
    return json.loads(whole[1].read_text())


# --- a whole run -------------------------------------------------------------------------------


def test_all_rows_are_in_the_result(result):
    assert {row["name"] for row in result["rows"] if row["part"] == "table"} == {
        row.name for row in rows.ROWS if row.part == "table"
    }
    swept = [row["size"] for row in result["rows"] if row["part"] == "sweep"]
    assert max(swept) == 64 << 10
    assert len(swept) == 4 * len(set(swept))


def test_ours_does_all_of_it_right(result):
    for row in result["rows"]:
        ours = row["cells"]["ours"]
        if row["name"].startswith("devices-") and Context.get_num_devices() < 2:
            assert ours == {"not_offered": "one device"}
            continue
        assert ours["low"] <= ours["median"] <= ours["high"], row["name"]
        # Others may have released device memory meanwhile.
        assert ours["best"] > 0 or row["name"].startswith("small-")
        assert ours["count"] >= measure.QUICK.least


def test_the_result_says_what_it_was_measured_with(result, is_simulator):
    machine = result["machine"]
    assert machine["is_simulated"] == is_simulator
    for fact in ("gpu", "cuda", "cpu", "kernel", "python", "numpy", "date"):
        assert machine[fact], fact
    assert machine["cores"] >= 1
    assert result["settings"]["quick"] is True
    assert result["is_finished"] is True
    assert set(result["peers"]["ours"]["versions"]) == {"pyarrow-cuda-compat", "pyarrow"}


def test_every_row_has_its_limit(result, is_simulator):
    for row in result["rows"]:
        if row["limit"]:
            limit = result["limits"][row["limit"]]
            # It runs no kernel that it does not know.
            if not (is_simulator and limit["name"] in ("device-read", "launch")):
                assert limit["median"] > 0, limit


def test_a_peer_is_measured_or_its_absence_explained(whole, result):
    for name, peer in result["peers"].items():
        if "missing" in peer:
            assert f"not measured: {name}: {peer['missing']}" in whole[0].stdout
        else:
            assert all(name in row["cells"] for row in result["rows"])


def test_goals_are_for_the_real_sizes_on_real_devices(result, is_simulator):
    for row in result["rows"]:
        is_judged = row["goal"] and row["size"] == row["wanted_size"] and not is_simulator
        assert (row["met"] is None) == (not is_judged)


def test_progress_tells_rows_peers_and_time(whole, result):
    # A library may write lines of its own between.
    told = re.split(r"^\[ *\d+/\d+\] ", whole[0].stderr, flags=re.MULTILINE)[1:]
    for row, progress in zip(result["rows"], told, strict=True):
        assert progress.startswith(f"{row['title']}: ")
        assert "ours " in progress
    assert re.search(r";  \(\d+ s\)$", told[0], re.MULTILINE)


# --- what is shown of it -----------------------------------------------------------------------


def test_the_table_shows_every_row(whole, result):
    shown = bench("table", whole[1])
    assert shown.returncode == 0
    assert shown.stdout.strip() == whole[0].stdout.strip()
    for row in result["rows"]:
        assert f"\n{row['title']} " in shown.stdout
    if result["machine"]["is_simulated"]:
        assert "SIMULATED" in shown.stdout


def test_a_plot_has_a_mark_for_each_time_of_another_library(tmp_path):
    pytest.importorskip("matplotlib")
    result = json.loads((BENCH / "results" / "h200.json").read_text())
    rows = plots.times(result)
    titles = {row["title"] for row in rows}
    assert "1 GiB up, pageable" in titles
    assert "`slice`" not in titles  # nobody else has it
    assert "cores that 1 MiB up keeps busy, pageable" not in titles  # no time
    plots.plot(result, tmp_path)
    drawing = ElementTree.parse(tmp_path / "times.svg")
    words = "".join(drawing.getroot().itertext())
    assert all(title.replace("`", "") in words for title in titles)
    # The marks, by the place and colour of each; axes have ticks, which are all of one colour.
    marks = Counter(each.get("style") for each in drawing.iter("{http://www.w3.org/2000/svg}use"))
    others = table.present(result).keys() - {"ours"}
    measured = Counter(
        name for row in rows for name in others if row["cells"].get(name, {}).get("median")
    )
    # The legend has a mark of each, too.
    assert {count + 1 for count in measured.values()} <= set(marks.values())


def test_the_page_has_the_table_and_the_plots(whole, result, tmp_path):
    pytest.importorskip("matplotlib")
    folders = [tmp_path / "one" / "out", tmp_path / "two" / "out"]
    for folder in folders:
        assert bench("page", whole[1], folder).returncode == 0
    text = (folders[0] / "speed.md").read_text()
    titles = [row["title"] for row in result["rows"] if row["part"] == "table"]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert [line.startswith(f"| {title} ") for line, title in zip(lines[1:], titles, strict=True)]
    names = {
        f"{kind}-{memory}" for kind in ("bandwidth", "latency") for memory in ("pageable", "pinned")
    }
    # Numba is the only other library here, and is not measured in each environment.
    names |= {"times"} if plots.times(result) else set()
    written = {path.name: path.read_text() for path in folders[0].iterdir()}
    assert written == {path.name: path.read_text() for path in folders[1].iterdir()}
    assert written.keys() == {"speed.md"} | {
        f"{name}{look}.svg" for name in names for look in ("", "-dark")
    }
    for name in names:
        for look, shown in (("", "only-light"), ("-dark", "only-dark")):
            image = rf"{{image}} out/{name}{look}\.svg\n:alt: .+\n:class: {shown}\n"
            assert re.search(image, text), (name, look)
            words = "".join(ElementTree.fromstring(written[f"{name}{look}.svg"]).itertext())
            ways = [] if name == "times" else ["host to device", "device to host", "64 KiB"]
            assert all(label in words for label in ("ours", *ways)), (name, look)


def test_without_a_kept_result_the_page_says_so(tmp_path):
    assert command("page", tmp_path / "absent.json", tmp_path) == 0
    assert (tmp_path / "speed.md").read_text() == page.NOTHING


def test_lines_of_the_table_have_as_many_columns():
    row = {"title": "x", "size": 1, "wanted_size": 1, "as_rate": False, "goal": None, "limit": ""}
    row |= {"cells": {"ours": {"error": "no"}, "cupy": {"left_out": "late"}}, "part": "table"}
    result = {
        "rows": [goals.judged(row)],
        "limits": {},
        "peers": {"ours": {"title": "ours"}, "cupy": {"title": "CuPy"}, "numba": {"missing": "-"}},
    }
    assert table.columns(result, "table") == [
        ["work", "ours", "CuPy", "to best", "limit", "goal", "met"],
        ["x", "failed", "not run", "-", "-", "-", "-"],
    ]
    assert {line.count("|") for line in table.markdown(result).splitlines()} == {8}


def test_what_is_counted_and_how_long_the_slowest_calls_take_are_shown():
    wanted = {
        "ratio": ({"at_most": 1.25, "at_least": None}, {"counts": "ratio"}),
        "small": ({"at_most": 64e6, "at_least": None}, {"counts": "bytes"}),
        "p99": ({"at_most": 1e-5, "at_least": None, "p99": 3e-5}, {}),
        "rate": ({"at_most": None, "at_least": 3e10, "p99": 5e-3}, {"as_rate": True}),
    }
    medians = {"ratio": 1.5, "small": 2e6, "p99": 9e-6, "rate": 1e-4}
    found = []
    for name, (goal, more) in wanted.items():
        row = {"title": name, "size": 4_000_000, "wanted_size": 4_000_000, "as_rate": False}
        cell = {"median": medians[name], "low": 0, "high": 0, "p99": 4e-5}
        row |= {"goal": goal, "limit": "", "part": "table", "cells": {"ours": cell}} | more
        found.append(goals.judged(row))
    result = {"rows": found, "limits": {}, "peers": {"ours": {"title": "ours"}}}
    shown = [
        [line[0], line[1].split(" +-")[0], *line[-2:]] for line in table.columns(result, "table")
    ]
    assert shown[1:] == [
        ["ratio", "1.50", "<= 1.25", "NO"],
        ["small", "2.00 MB", "<= 64.0 MB", "yes"],
        ["p99", "9.00 us (p99 40.0 us)", "<= 10.0 us (p99 30.0 us)", "NO"],
        ["rate", "40.0 GB/s (p99 40.0 us)", ">= 30.0 GB/s (p99 5.00 ms)", "yes"],
    ]


# --- what goes wrong ---------------------------------------------------------------------------

SOME_UPLOADS = """
upload = Ours.upload
Other.upload = lambda *all: upload(*all) if all[2].size {} else nothing()
"""
# All buffers have the same memory.
ONE_MEMORY = """
memory = []
def slices(peer, size):
    if not memory:
        memory.append(peer.context.new_buffer(1 << 20))
    return lambda: memory[0].slice(0, size)
Other.allocator = slices
"""


FAILING = [
    ("Other.upload = nothing", "up-pageable-4KiB", "WrongResult"),
    ("Other.download = nothing", "down-pinned-4KiB", "WrongResult"),
    ("Other.fresh = lambda *_: lambda: np.zeros(4096, 'u1')", "down-fresh-4KiB", "WrongResult"),
    ("Other.device_copy = nothing", "device-4KiB", "WrongResult"),
    (
        # All but one piece of what is copied.
        "upload = Ours.upload\ndef most(peer, device, host):\n    def run():\n"
        "        for at in [0, 16384, 49152]:\n"
        "            upload(peer, device.slice(at, 16384), host.part(at, 16384))()\n"
        "    return run\nOther.upload = most",
        "sweep-up-pageable-64KiB",
        "WrongResult",
    ),
    ("Other.equal = lambda *_: lambda: True", "equal-4KiB", "WrongResult"),
    ("Other.equal = lambda *_: lambda: True", "equal-early", "WrongResult"),
    ("Other.equal_host = lambda *_: lambda: True", "equal-host", "WrongResult"),
    ("Other.allocator = lambda *_: 1 / 0", "alloc-4KiB", "ZeroDivisionError"),
    ("Other.serialize = lambda *_: lambda: 1 / 0", "serialize-256x100", "ZeroDivisionError"),
    ("Other.download = nothing", "stream-both-64MiB", "WrongResult"),
    ("Other.upload = nothing", "threads-up-256KiB", "WrongResult"),
    ("Other.download = nothing", "threads-both-4MiB", "WrongResult"),
    ("Other.on_thread = lambda *_: 1 / 0", "threads-up-256KiB", "ZeroDivisionError"),
    ("Other.upload = nothing", "beside-large-4KiB", "WrongResult"),
    (SOME_UPLOADS.format("> 4096"), "beside-large-4KiB", "WrongResult"),
    (SOME_UPLOADS.format("<= 4096"), "beside-large-4KiB", "WrongResult"),
    ("Other.fresh = lambda *_: lambda: bytes(65536)", "down-kept-1GiB", "WrongResult"),
    ("Other.upload = nothing", "processor-up-1GiB", "WrongResult"),
    ("Other.download = nothing", "cores-down-1MiB", "WrongResult"),
    ("Other.upload = nothing", "up-pause-1MiB", "WrongResult"),
    (ONE_MEMORY, "random-sizes", "WrongResult"),
    (ONE_MEMORY, "random-reserved", "WrongResult"),
    (ONE_MEMORY, "small-1000x1KiB", "WrongResult"),
]

# Measures rows with a peer that is ours but for a patch, each pair's result in a file of its own.
PATCHED = """
import json
import sys
sys.path.append(sys.argv[1])
import numpy as np
from cuda_bench import cli, peers
from cuda_bench.peers import Missing
from cuda_bench.peers.arrow import Ours
def nothing(*_): return lambda: None
for number, (patch, rows, *_) in enumerate(json.loads(sys.argv[3])):
    class Other(Ours):
        title = "Other"
    exec(patch)
    peers.PEERS["cupy"] = Other
    path = f"{sys.argv[2]}/{number}.json"
    more = ["--peers", "ours,cupy", "--quick", "--largest", "64K", "--json", path]
    try:
        cli.main([*rows.split(), *more])
    except SystemExit as done:
        if done.code:
            raise
"""


def patched(run_python, folder, *cases):
    return run_python(PATCHED, BENCH, folder, json.dumps(cases))


def result_of(folder, number=0):
    return json.loads((folder / f"{number}.json").read_text())


@pytest.fixture(scope="module")
def failing_results(run_python, tmp_path_factory):
    """The folder with the result of each, all of them measured by one process."""
    folder = tmp_path_factory.mktemp("failing")
    status, out, err = patched(run_python, folder, *FAILING)
    assert status == 0, out + err
    return folder


@pytest.mark.parametrize("number", range(len(FAILING)), ids=[case[1] for case in FAILING])
def test_a_peer_that_fails_is_a_result(failing_results, number):
    _, row, error = FAILING[number]
    result = result_of(failing_results, number)
    (found,) = result["rows"]
    assert error in found["cells"]["cupy"]["error"]
    assert "median" not in found["cells"]["cupy"]
    assert "error" not in found["cells"]["ours"]
    assert found["ratio"] is None
    assert f"failed: {row}, cupy: {error}" in table.terminal(result)


def test_a_peer_that_ends_the_process_leaves_what_was_measured(run_python, tmp_path):
    patch = "import os\nOther.call_names = lambda *_: os._exit(9)"
    assert patched(run_python, tmp_path, [patch, "up-pageable-4KiB address"])[0] == 9
    result = result_of(tmp_path)
    assert [row["name"] for row in result["rows"]] == ["up-pageable-4KiB"]
    assert "NOT FINISHED" in table.terminal(result)


def test_a_peer_that_cannot_begin_is_left_out(run_python, tmp_path):
    errors = ["Missing('it is not here')", "RuntimeError('it is broken')"]
    patch = "def fail(self): raise {}\nOther.__init__ = fail"
    cases = [[patch.format(error), "address"] for error in errors]
    status, out, err = patched(run_python, tmp_path, *cases)
    assert status == 0, out + err
    for number, told in enumerate(["it is not here", "RuntimeError: it is broken"]):
        result = result_of(tmp_path, number)
        assert result["peers"]["cupy"]["missing"] == told
        assert set(result["rows"][0]["cells"]) == {"ours"}
        assert f"not measured: cupy: {told}\n" in out


def test_a_failure_of_ours_is_the_exit_status(run_python, tmp_path):
    status, out, _ = patched(run_python, tmp_path, ["Ours.upload = nothing", "up-pageable-4KiB"])
    assert status == 1
    assert "failed: up-pageable-4KiB, ours: WrongResult" in out
    assert result_of(tmp_path)["is_finished"]


def test_out_of_time_the_rest_is_left_out(tmp_path, capsys):
    path = tmp_path / "result.json"
    more = [*TINY, "--seconds", "0", "--peers", "ours", "--json", path]
    assert command("run", "table", *more) == 0
    result = json.loads(path.read_text())
    assert len(result["rows"]) == sum(row.part == "table" for row in rows.ROWS)
    for row in result["rows"]:
        assert row["cells"]["ours"] == {"left_out": "no time was left"}
        assert not row["met"]
    assert "not run" in capsys.readouterr().out


def command(*arguments):
    """The exit status of a command that this process runs."""
    with pytest.raises(SystemExit) as ended:
        cli.main(list(map(str, arguments)))
    return ended.value.code


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "up-*", "nonsense"], "no row, pattern or part: 'nonsense'"),
        (["run", "--peers", "ours,cudnn"], "no such peer: cudnn"),
        (["run", "--largest", "much"], "invalid size_of value: 'much'"),
        (["table", "absent.json"], "No such file"),
        (["table", __file__], "is no result"),
        (["plot", "{other}", "."], "no result of this version"),
    ],
)
def test_wrong_arguments_are_explained(arguments, told, tmp_path, capsys):
    other = tmp_path / "other.json"
    other.write_text('{"format": 0}')
    status = command(*(argument.format(other=other) for argument in arguments))
    assert status
    assert told in f"{status}{capsys.readouterr().err}"


def test_without_a_driver_it_says_so():
    done = bench("run", "address", PYARROW_CUDA_DRIVER="/nowhere/libcuda.so")
    assert done.returncode == 1
    assert done.stderr.startswith("bench: there is no CUDA driver")
