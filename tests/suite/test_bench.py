"""The benchmark measures its rows, checks their results and shows them.  No time is asserted."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest.mock import MagicMock
from xml.etree import ElementTree

import numpy as np
import pytest

from cuda_bench import cli, measure, peers, plots, rows, table
from cuda_bench.peers.arrow import Ours
from pyarrow_cuda_compat import Context

BENCH = Path(__file__).resolve().parents[2] / "bench"

pytestmark = pytest.mark.independent

# Small enough for a second or two, however slow the device.
TINY = ["--quick", "--largest", "64K"]


def command(*arguments):
    """The exit status of a command that this process runs, and what it wrote."""
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended, redirect_stdout(out), redirect_stderr(err):
        cli.main(list(map(str, arguments)))
    return ended.value.code, out.getvalue(), err.getvalue()


def measured(path, *arguments):
    status, out, _ = command("run", *arguments, *TINY, "--json", path)
    return json.loads(path.read_text()), status, out


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of almost everything, with its result; test_bench_load.py starts processes."""
    path = tmp_path_factory.mktemp("bench") / "inner" / "result.json"
    names = [row.name for row in rows.ROWS if row.work not in ("in_processes", "first_up")]
    status, out, err = command("run", "limits", *names, *TINY, "--json", path)
    assert not status, out + err
    return names, path, out, err


@pytest.fixture(scope="module")
def result(whole):
    return json.loads(whole[1].read_text())


# --- a whole run -------------------------------------------------------------------------------


def test_ours_does_all_of_it_right(whole, result, is_simulator):
    swept = [row["size"] for row in result["rows"] if row["part"] == "sweep"]
    assert max(swept) == 64 << 10
    assert len(swept) == 4 * len(set(swept))
    names = [name for name in whole[0] if not name.startswith("sweep")]
    assert names == [row["name"] for row in result["rows"] if row["part"] == "table"]
    for row in result["rows"]:
        ours = row["cells"]["ours"]
        if row["name"].startswith("devices-") and Context.get_num_devices() < 2:
            assert ours == {"not_offered": "one device"}
            continue
        assert ours["low"] <= ours["median"] <= ours["high"], row["name"]
        # Others may have released device memory meanwhile.
        assert ours["best"] > 0 or row["name"].startswith("small-")
        assert ours["count"] >= measure.QUICK.least
        # Goals are for the real sizes on real devices.
        is_judged = row["goal"] and row["size"] == row["wanted_size"] and not is_simulator
        assert (row["met"] is None) == (not is_judged)
        assert not row["limit"] or row["limit"] in result["limits"]
    for limit in result["limits"].values():
        assert limit["median"] > 0, limit


def test_the_result_says_what_it_was_measured_with(whole, result, is_simulator):
    machine = result["machine"]
    assert machine["is_simulated"] == is_simulator
    for fact in ("gpu", "cuda", "cpu", "kernel", "python", "numpy", "date", "cores"):
        assert machine[fact], fact
    assert result["settings"]["quick"] is result["is_finished"] is True
    assert set(result["peers"]["ours"]["versions"]) == {"pyarrow-cuda-compat", "pyarrow"}
    for name, peer in result["peers"].items():
        if "missing" in peer:
            assert f"not measured: {name}: {peer['missing']}" in whole[2]
        else:
            assert all(name in row["cells"] for row in result["rows"])


def test_progress_tells_rows_peers_and_time(whole, result):
    # A library may write lines of its own between.
    told = re.split(r"^\[ *\d+/\d+\] ", whole[3], flags=re.MULTILINE)[1:]
    for row, progress in zip(result["rows"], told, strict=True):
        assert progress.startswith(f"{row['title']}: ")
        assert "ours " in progress
    assert re.search(r";  \(\d+ s\)$", told[0], re.MULTILINE)


# --- what is shown of it -----------------------------------------------------------------------


def test_the_table_shows_every_row(whole, result):
    status, out, _ = command("table", whole[1])
    assert not status
    assert out.strip() == whole[2].strip()
    for row in result["rows"]:
        assert f"\n{row['title']} " in out
    assert ("SIMULATED" in out) == result["machine"]["is_simulated"]


def test_a_plot_has_a_mark_for_each_time_of_another_library(tmp_path):
    result = cli.loaded(BENCH / "results" / "h200.json")
    found = plots.times(result)
    titles = {row["title"] for row in found}
    assert "1 GiB up, pageable" in titles
    assert "`slice`" not in titles  # nobody else has it
    assert "cores that 1 MiB up keeps busy, pageable" not in titles  # no time
    plots.plot(result, tmp_path)
    drawing = ElementTree.parse(tmp_path / "times.svg")
    words = "".join(drawing.getroot().itertext())
    assert all(title.replace("`", "") in words for title in titles)
    # The marks, by the place and colour of each; axes have ticks, which are all of one colour.
    marks = Counter(each.get("style") for each in drawing.iter("{http://www.w3.org/2000/svg}use"))
    others = result.present().keys() - {"ours"}
    timed = Counter(name for row in found for name in others if plots.median(row, name))
    # The legend has a mark of each, too.
    assert {count + 1 for count in timed.values()} <= set(marks.values())


def test_the_page_has_the_table_and_the_plots(whole, result, tmp_path):
    folders = [tmp_path / "one" / "out", tmp_path / "two" / "out"]
    assert not any(command("page", whole[1], folder)[0] for folder in folders)
    written = {path.name: path.read_text() for path in folders[0].iterdir()}
    assert written == {path.name: path.read_text() for path in folders[1].iterdir()}
    text = written.pop("speed.md")
    titles = [row["title"] for row in result["rows"] if row["part"] == "table"]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert [line.startswith(f"| {title} ") for line, title in zip(lines[1:], titles, strict=True)]
    names = {f"{kind}-{memory}" for kind in plots.KINDS for memory in plots.MEMORY}
    # Numba is the only other library here, and is not measured in each environment.
    names |= {"times"} if plots.times(table.Result(result)) else set()
    assert written.keys() == {f"{name}{look}.svg" for name in names for look in ("", "-dark")}
    for file, drawing in written.items():
        shown = "dark" if "-dark" in file else "light"
        assert re.search(rf"{{image}} out/{file}\n:alt: .+\n:class: only-{shown}\n", text), file
        words = "".join(ElementTree.fromstring(drawing).itertext())
        ways = [] if "times" in file else ["host to device", "device to host", "64 KiB"]
        assert all(label in words for label in ("ours", *ways)), file


def test_cells_limits_and_goals_have_their_units():
    wanted = {
        "ratio": ({"at_most": 1.25}, 1.5, {"counts": "ratio"}),
        "small": ({"at_most": 64e6}, 2e6, {"counts": "bytes"}),
        "p99": ({"at_most": 1e-5, "p99": 3e-5}, 9e-6, {}),
        "rate": ({"at_least": 3e10, "p99": 5e-3}, 1e-4, {"as_rate": True}),
        "failed": ({"at_most": 1.0}, None, {}),
    }
    found = []
    for name, (goal, median, more) in wanted.items():
        row = {"title": name, "size": 4_000_000, "wanted_size": 4_000_000, "as_rate": False}
        ours = {"median": median, "low": 0, "high": 0, "p99": 4e-5} if median else {"error": "no"}
        row |= {"cells": {"ours": ours, "cupy": {"left_out": "late"}}, "limit": "", "part": "table"}
        found.append(rows.judged(row | {"goal": {"at_most": None, "at_least": None} | goal} | more))
    peers = {"ours": {"title": "ours"}, "cupy": {"title": "CuPy"}, "numba": {"missing": "-"}}
    result = table.Result(rows=found, limits={}, peers=peers)
    assert [
        line[:1] + [line[1].split(" +-")[0]] + line[2:] for line in result.columns("table")
    ] == [
        ["work", "ours", "CuPy", "to best", "limit", "goal", "met"],
        ["ratio", "1.50", "not run", "-", "-", "<= 1.25", "NO"],
        ["small", "2.00 MB", "not run", "-", "-", "<= 64.0 MB", "yes"],
        ["p99", "9.00 us (p99 40.0 us)", "not run", "-", "-", "<= 10.0 us (p99 30.0 us)", "NO"],
        [
            "rate",
            "40.0 GB/s (p99 40.0 us)",
            "not run",
            "-",
            "-",
            ">= 30.0 GB/s (p99 5.00 ms)",
            "yes",
        ],
        ["failed", "failed", "not run", "-", "-", "<= 1.00 s", "NO"],
    ]
    assert {line.count("|") for line in result.markdown().splitlines()} == {8}


# --- what goes wrong ---------------------------------------------------------------------------


def no_call(*_, **__):
    return lambda: None


def fails(*_, **__):
    raise ZeroDivisionError


def most(device, host, **_):
    """All but one piece of what is copied."""
    parts = [slice(at, at + 16384) for at in (0, 16384, 49152)]
    return lambda: [device.slice(part.start, 16384).copy_from_host(host[part]) for part in parts]


def some_uploads(is_made):
    def upload(device, host, **_):
        return lambda: device.copy_from_host(host) if is_made(host.size) else None

    return upload


class Other(Ours):
    """Ours, but for what a test replaces."""

    title, replaced = "Other", {}

    def __init__(self):
        super().__init__()
        vars(self).update(self.replaced)


def one_memory(size):
    """All buffers have the same memory."""
    return ONE.setdefault(0, Context(0).new_buffer(1 << 20)).slice(0, size)


ONE = {}
FAILING = [
    ("up-pageable-4KiB", "upload", no_call),
    ("up-pause-1MiB", "upload", no_call),
    ("down-pinned-4KiB", "download", no_call),
    ("down-fresh-4KiB", "fresh", lambda _: lambda: np.zeros(4096, "u1")),
    ("down-kept-1GiB", "fresh", lambda _: lambda: bytes(65536)),
    ("device-4KiB", "device_copy", no_call),
    ("sweep-up-pageable-64KiB", "upload", most),
    ("equal-4KiB", "equal", lambda *_: lambda: True),
    ("equal-early", "equal", lambda *_: lambda: True),
    ("equal-host", "equal_host", lambda *_: lambda: True),
    ("alloc-4KiB", "allocate", fails),
    ("serialize-256x100", "serialize", lambda _: fails),
    ("array-transpose-512MiB", "dense_copy", lambda array: array.copy().T.copy),
    ("file-up-1GiB", "file_up", no_call),
    ("index", "buffer", lambda device: bytes(65536)),
    ("stream-both-64MiB", "download", no_call),
    ("stream-busy-512", "upload", no_call),
    ("threads-up-256KiB", "upload", no_call),
    ("threads-up-256KiB", "on_thread", fails),
    ("threads-both-4MiB", "download", no_call),
    ("beside-large-4KiB", "upload", some_uploads(lambda size: size > 4096)),
    ("beside-large-4KiB", "upload", some_uploads(lambda size: size <= 4096)),
    ("processor-up-1GiB", "upload", no_call),
    ("cores-down-1MiB", "download", no_call),
    ("random-sizes", "allocate", one_memory),
    ("random-reserved", "allocate", one_memory),
    ("small-1000x1KiB", "allocate", one_memory),
]


@pytest.mark.leaks
@pytest.mark.parametrize(("row", "name", "replaced"), FAILING)
def test_a_peer_that_fails_is_a_result(row, name, replaced, monkeypatch, tmp_path):
    monkeypatch.setitem(peers.PEERS, "cupy", type("", (Other,), {"replaced": {name: replaced}}))
    result, status, out = measured(tmp_path / "result.json", row, "--peers", "ours,cupy")
    (found,) = result["rows"]
    error = "ZeroDivisionError" if fails in (replaced, replaced and None) else "WrongResult"
    assert error in found["cells"]["cupy"]["error"]
    assert "error" not in found["cells"]["ours"]
    assert found["ratio"] is None
    assert f"failed: {row}, cupy: {error}" in out
    assert not status
