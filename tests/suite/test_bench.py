"""The benchmark measures its rows, checks their results and shows them.  No time is asserted."""

import gc
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from cuda_bench import cli, limits, measure, page, peers, rows, runner, table
from cuda_bench.peers.arrow import Ours
from cuda_bench.space import STRIDE
from pyarrow_cuda_compat import Context

BENCH = Path(__file__).resolve().parents[2] / "bench"
KEPT = BENCH / "results" / "h200.json"
OF_DEVICES = BENCH / "results" / "h200-x2.json"
# Small enough for a second or two, however slow the device.
TINY = ["--quick", "--largest", "64K"]

pytestmark = pytest.mark.independent


def command(*arguments):
    """The exit status of a command that this process runs, and what it wrote."""
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended, redirect_stdout(out), redirect_stderr(err):
        cli.main(list(map(str, arguments)))
    return ended.value.code, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def whole(interpreter, tmp_path_factory):
    """A run of everything: what it printed, and its result."""
    path = tmp_path_factory.mktemp("bench") / "inner" / "result.json"
    more = ["limits", "table", "devices", "compute", "sweep", *TINY, "--json", path]
    # No row is left out where the machine is busy.
    done = interpreter(BENCH, "run", *more, "--seconds", 3600, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done, path


@pytest.fixture(scope="module")
def result(whole):
    return cli.loaded(whole[1])


# --- a whole run, and what is shown of it ------------------------------------------------------


def test_ours_does_all_of_it_right(result, is_simulator):
    wanted = [row.name for row in rows.ROWS if row.part != "sweep" or row.size <= 64 << 10]
    assert [row["name"] for row in result["rows"]] == wanted
    for row in result["rows"]:
        ours = row["cells"]["ours"]
        if row["part"] == "devices" and Context.get_num_devices() < 2:
            assert ours == {"not_offered": "one device"}
            continue
        if row["part"] == "compute" and not find_spec("pylibcudf"):
            assert "pylibcudf" in ours["not_offered"]
            continue
        if row["name"].endswith("-from-cupy") and not find_spec("cupy"):
            assert "cupy" in ours["not_offered"]
            continue
        assert ours["low"] <= ours["median"] <= ours["high"], row["name"]
        # Others may have released device memory meanwhile.
        assert ours["best"] > 0 or row["name"].startswith("small-")
        assert ours["count"] >= measure.QUICK.least
        # The processor time of other processes is not known.
        is_elsewhere = row["name"].startswith(("processes-", "devices-processes-", "first-up-"))
        assert ("cores" in ours) == (not is_elsewhere), row["name"]
        # Goals are for the real sizes on real devices.
        is_judged = row["goal"] and row["size"] == row["wanted_size"] and not is_simulator
        assert (row["met"] is None) == (not is_judged)
        assert not row["limit"] or row["limit"] in result["limits"]
    assert {limit["name"] for limit in result["limits"].values()} == limits.LIMITS.keys()
    assert all(limit["median"] > 0 for limit in result["limits"].values())


def test_the_result_says_what_it_was_measured_with(whole, result, is_simulator):
    machine = result["machine"]
    assert machine["is_simulated"] == is_simulator
    for fact in ("gpu", "cuda", "cpu", "kernel", "python", "numpy", "date", "cores"):
        assert machine[fact], fact
    assert result["settings"]["quick"] is result["is_finished"] is True
    assert set(result["peers"]["ours"]["versions"]) == {"pyarrow-cuda-compat", "pyarrow"}
    for name, peer in result["peers"].items():
        told = f"not measured: {name}: {peer.get('missing')}\n"
        is_measured = all(name in row["cells"] for row in result["rows"])
        assert is_measured == (told not in whole[0].stdout)


def test_progress_and_the_table_tell_every_row(whole, result):
    # A library may write lines of its own between.
    told = re.split(r"^\[ *\d+/\d+\] ", whole[0].stderr, flags=re.MULTILINE)[1:]
    for row, progress in zip(result["rows"], told, strict=True):
        assert re.match(rf"{re.escape(row['title'])}: .*ours .*;  \(\d+ s\)$", progress, re.DOTALL)
    _, out, _ = command("table", whole[1])
    assert out.strip() == whole[0].stdout.strip()
    assert all(f"\n{row['title']} " in out for row in result["rows"])
    assert ("SIMULATED" in out) == result["machine"]["is_simulated"]


@pytest.mark.parametrize("path", [KEPT, OF_DEVICES])
def test_the_kept_results_are_of_these_rows(path):
    result = cli.loaded(path)
    assert result["is_finished"]
    assert not result["machine"]["is_simulated"]
    assert len({(row.part, row.title) for row in rows.ROWS}) == len(rows.ROWS)
    wanted = [row for row in rows.ROWS if (row.part == "devices") == (path == OF_DEVICES)]
    for row, now in zip(result["rows"], wanted, strict=True):
        assert (row["name"], row["title"], row["wanted_size"]) == (now.name, now.title, now.size)
        # A goal that changes takes a new result with it.
        assert row["goal"] == (now.goal and pytest.approx(now.goal)), row["name"]
        assert "median" in row["cells"]["ours"], row["name"]
        assert rows.judged(row) == row


def test_the_tables_of_a_page_have_all_rows():
    kept = cli.loaded(KEPT)
    lines = "\n".join(page.tables(kept)).splitlines()
    rows = [row["title"] for part in ("table", "compute") for row in kept.rows_of(part)]
    titles = [line.split(" | ")[0].removeprefix("| ") for line in lines if line[:2] == "| "]
    assert [title for title in titles if title != "work"] == rows


def test_the_documentation_shows_each_plot(tmp_path):
    plots, found = pytest.importorskip("cuda_bench.plots"), {}
    for action in ("images", "plot"):
        assert not command(action, KEPT, tmp_path / action)[0]
        found[action] = {path.name: path.read_text() for path in (tmp_path / action).iterdir()}
    text, drawn = found["images"].pop("h200.md"), found["images"]
    # The same result gives the same files.
    assert drawn == found["plot"]
    names = {f"times-{group}" for group in plots.GROUPS}
    names |= {f"{kind}-{memory}" for kind in plots.KINDS for memory in plots.MEMORY}
    assert drawn.keys() == {f"{name}{look}.svg" for name in names for look in plots.LOOKS}
    for file, drawing in drawn.items():
        shown = "dark" if "-dark" in file else "light"
        assert re.search(rf"{{image}} images/{file}\n:alt: .+\n:class: only-{shown}\n", text), file
        words = "".join(ElementTree.fromstring(drawing).itertext())
        sweep = () if "times" in file else ("256 KiB", *plots.WAYS.values())
        assert all(label in words for label in ("ours", "PyTorch", *sweep)), file
        assert ("the link" in words) == ("bandwidth" in file)


def test_small_copies_are_drawn_beside_the_drivers_own_calls():
    plots, result = pytest.importorskip("cuda_bench.plots"), cli.loaded(KEPT)
    for row in result.rows_of("sweep"):
        row["limit"] = row["limit"] or f"driver-{row['name'].split('-')[1]}/{row['size']}"
    for kind in plots.KINDS:
        _, labels = plots.swept(result, kind, "pageable").axes[0].get_legend_handles_labels()
        limit = {"bandwidth": "the link", "latency": "the driver's own call"}[kind]
        assert labels[-1] == limit


def test_cells_limits_and_goals_have_their_units():
    wanted = {
        "ratio": ({"at_most": 1.25}, 1.5, {"counts": "ratio"}),
        "small": ({"at_most": 64e6}, 2e6, {"counts": "bytes"}),
        "p99": ({"at_most": 1e-5, "p99": 3e-5}, 9e-6, {}),
        "rate": ({"at_least": 3e10, "p99": 5e-3}, 1e-4, {"as_rate": True}),
        "latest": ({"p99": 3e-5}, 9e-6, {}),
        "tail": ({"at_least": 3e10, "tail": 4}, 1e-4, {"as_rate": True}),
        "failed": ({"at_most": 1.0}, None, {}),
    }
    found = []
    for name, (goal, median, more) in wanted.items():
        row = {"title": name, "size": 4_000_000, "wanted_size": 4_000_000, "as_rate": False}
        ours = {"median": median, "low": 0, "high": 0, "p99": 4e-5} if median else {"error": "no"}
        ours |= {"tail": 4.44} if "tail" in goal else {}
        row |= {"cells": {"ours": ours, "cupy": {"left_out": "late"}}, "limit": "", "part": "table"}
        found.append(rows.judged(row | {"goal": {"at_most": None, "at_least": None} | goal} | more))
    titles = {"ours": {"title": "ours"}, "cupy": {"title": "CuPy"}, "numba": {"missing": "-"}}
    result = table.Result(rows=found, limits={}, peers=titles)
    late = ["not run", "-", "-"]
    assert result.columns("table") == [
        ["work", "ours", "CuPy", "to best", "limit", "goal", "met"],
        ["ratio", "1.50 +-0%", *late, "<= 1.25", "NO"],
        ["small", "2.00 MB +-0%", *late, "<= 64.0 MB", "yes"],
        ["p99", "9.00 us (p99 40.0 us) +-0%", *late, "<= 10.0 us (p99 30.0 us)", "NO"],
        ["rate", "40.0 GB/s (p99 40.0 us) +-0%", *late, ">= 30.0 GB/s (p99 5.00 ms)", "yes"],
        ["latest", "9.00 us (p99 40.0 us) +-0%", *late, "(p99 30.0 us)", "NO"],
        ["tail", "40.0 GB/s (p99 4.44x) +-0%", *late, ">= 30.0 GB/s (p99 4.00x)", "NO"],
        ["failed", "failed", *late, "<= 1.00 s", "NO"],
    ]
    assert {line.count("|") for line in result.markdown("table").splitlines()} == {8}
    # Results that are older have no such column.
    found[0]["cells"]["ours"]["cores"] = 1.5
    assert [line[4] for line in result.columns("table")[:3]] == ["cores", "1.50", "-"]


# --- what goes wrong ---------------------------------------------------------------------------


@pytest.fixture
def measured(monkeypatch, tmp_path):
    """Measures rows with ours, and with a peer like ours in which calls are replaced."""

    def run(what, *options, **replaced):
        def init(peer):
            Ours.__init__(peer)
            vars(peer).update(replaced)

        monkeypatch.setitem(peers.PEERS, "cupy", type("", (Ours,), {"__init__": init} | replaced))
        path = tmp_path / "result.json"
        more = ["--peers", "ours,cupy", *TINY, "--json", path, *options]
        status, out, _ = command("run", *what.split(), *more)
        assert gc.isenabled()
        return json.loads(path.read_text()), status, out

    return run


def no_call(*_, **__):
    return lambda: None


def fails(*_, **__):
    # It would run while something is measured.
    assert not gc.isenabled()
    raise ZeroDivisionError


def part(device, host, **_):
    """All but the first piece of what is copied."""
    size = host.size - STRIDE
    return lambda: device.slice(STRIDE, size).copy_from_host(host[STRIDE:])


def uploads(is_made):
    return lambda device, host: lambda: is_made(host.size) and device.copy_from_host(host)


@pytest.mark.parametrize(
    ("name", "replaced", "what"),
    [
        ("upload", no_call, "up-pageable-4KiB stream-busy-512 threads-up-256KiB processor-up-1GiB"),
        ("upload", no_call, "up-busy-4KiB up-unseen-4KiB stream-4KiB stream-queue-10000"),
        ("upload", part, "sweep-up-pageable-64KiB"),
        ("upload", uploads(lambda size: size > 4096), "beside-large-4KiB"),
        ("upload", uploads(lambda size: size <= 4096), "beside-large-4KiB"),
        ("download", no_call, "down-pinned-4KiB stream-both-64MiB threads-both-4MiB"),
        ("fresh", lambda _: lambda: np.zeros(4096, "u1"), "down-fresh-4KiB"),
        ("fresh", lambda _: lambda: bytes(65536), "down-kept-1GiB array-to-numpy-1GiB"),
        ("array", lambda array: Context(0).new_buffer(array.nbytes), "array-from-numpy-1GiB"),
        ("dense_copy", lambda array: array.copy().T.copy, "array-transpose-512MiB"),
        ("device_copy", no_call, "device-4KiB"),
        ("equal", no_call, "equal-4KiB"),
        ("equal", lambda *_: lambda: True, "equal-4KiB equal-early"),
        ("equal_host", lambda *_: lambda: True, "equal-host"),
        ("allocate", fails, "alloc-4KiB"),
        ("on_thread", fails, "threads-up-256KiB"),
        ("batch_down", lambda _: lambda: [np.zeros(8)] * 1000, "batch-*-1000x1000"),
        ("file_up", no_call, "file-up-1GiB"),
        ("file_parts_up", no_call, "file-parts-64KiB"),
        ("file_down", lambda _, path: lambda: Path(path).write_bytes(b"other"), "file-down-1GiB"),
        ("buffer", lambda _: [None] * 6, "index"),
    ],
)
def test_a_peer_that_fails_is_a_result(measured, name, replaced, what):
    result, status, out = measured(what, **{name: replaced})
    error = "ZeroDivisionError" if replaced is fails else "WrongResult"
    for row in result["rows"]:
        assert error in row["cells"]["cupy"]["error"], row["name"]
        assert "error" not in row["cells"]["ours"]
        assert row["ratio"] is None
        assert f"failed: {row['name']}, cupy: {error}" in out
    assert not status


def test_buffers_that_share_memory_are_noticed(measured):
    memory = Context(0).new_buffer(1 << 20)
    result, *_ = measured("random-sizes small-*", allocate=lambda size: memory.slice(0, size))
    for row in result["rows"]:
        assert "WrongResult" in row["cells"]["cupy"]["error"], row["name"]


def test_what_was_measured_is_kept_before_the_next_row_begins(measured, tmp_path):
    """Should a library end the process, it is there."""
    found = []

    def upload(*_, **__):
        found.append(table.Result(json.loads((tmp_path / "result.json").read_text())))
        raise KeyboardInterrupt

    result, *_ = measured("array-index stream-4KiB stream-both-64MiB", upload=upload)
    assert [row["name"] for row in found[0]["rows"]] == ["array-index"]
    assert "NOT FINISHED" in list(found[0].terminal())[-1]
    # After an interruption the rest is left out.
    late = [row["cells"]["cupy"].get("left_out") for row in result["rows"]]
    assert late == [None, "interrupted", "no time was left"]


def test_a_peer_that_cannot_begin_is_left_out(measured):
    def init(_):
        raise RuntimeError("it is broken")

    result, status, out = measured("address", __init__=init)
    assert not status
    assert "not measured: cupy: RuntimeError: it is broken\n" in out
    assert set(result["rows"][0]["cells"]) == {"ours"}


def test_rows_are_measured_alone_or_in_a_process_of_their_own(measured, monkeypatch):
    fresh = []
    found = {"median": 1.0, "low": 1.0, "high": 1.0, "tail": 2.0}
    monkeypatch.setattr(runner, "in_fresh_process", lambda *of: fresh.append(of[1:3]) or found)
    result, *_ = measured("threads-up-4MiB threads-fresh-one-first")
    assert fresh == [("ours", 64 << 10)]
    for row in result["rows"]:
        assert row["cells"]["cupy"] == {"not_offered": "only ours is measured"}
    assert result["rows"][1]["cells"]["ours"] == found


def test_a_failure_of_ours_is_the_exit_status(measured, monkeypatch):
    monkeypatch.setattr(Ours, "equal_host", no_call)
    result, status, out = measured("equal-host", "--peers", "ours")
    assert status == 1
    assert "failed: equal-host, ours: WrongResult" in out
    assert result["is_finished"]


def test_out_of_time_the_rest_is_left_out(measured):
    result, status, out = measured("slice index", "--seconds", "0", "--peers", "ours")
    assert not status
    cells = [row["cells"] for row in result["rows"]]
    assert cells == [{"ours": {"left_out": "no time was left"}}] * 2
    assert "not run" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "up-*", "nonsense"], "no row, pattern or part: 'nonsense'"),
        (["run", "--peers", "ours,cudnn"], "no such peer: cudnn"),
        (["run", "--largest", "much"], "invalid size_of value: 'much'"),
        (["table", "absent.json"], "No such file"),
        (["images", __file__, "."], "is no result of this version"),
        (["plot", "other.json", "."], "is no result of this version"),
    ],
)
def test_wrong_arguments_are_explained(arguments, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("other.json").write_text('{"format": 0}')
    status, _, err = command(*arguments)
    assert status
    assert told in f"{status}{err}"


def test_without_a_driver_it_says_so(monkeypatch):
    monkeypatch.setenv("PYARROW_CUDA_DRIVER", "/nowhere/libcuda.so")
    assert command("run", "address")[0].startswith("bench: there is no CUDA driver")
