"""What calls tell of their progress, and the bars that show it."""

import sys
import types

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import memory_stats
from support.samples import CPU as HOST

PIECE = 64 << 20
#: Columns of more than two pieces, and small ones.
LARGE = pa.table(
    {
        "a": np.arange(PIECE // 8 * 2 + 1000),
        "b": pa.array(["x"] * 9 + [None]).take(pa.array([9, 0] * (PIECE // 8 + 500))),
    }
)
SMALL = pa.table({"a": [1, 2], "b": ["x", None]})


def told(call, *arguments, **more):
    reports = []
    result = call(*arguments, progress=lambda *report: reports.append(report), **more)
    return result, reports


def test_tables_up_and_down(ctx):
    there, up = told(LARGE.copy_to, ctx)
    back, down = told(there.copy_to, HOST)
    assert back.equals(LARGE)
    for reports in (up, down):
        (total,) = {total for _, total in reports}
        assert reports[-1] == (total, total)
        steps = np.diff([0, *(done for done, _ in reports)])
        assert (steps > 0).all()
        assert (steps <= PIECE).all()
        assert len(reports) >= 3


@pytest.mark.parametrize(
    "data", [SMALL, SMALL["b"], SMALL["b"].chunk(0), SMALL.to_batches()[0]], ids=lambda it: type(it)
)
def test_small_data_of_each_class(ctx, data):
    there, reports = told(data.copy_to, ctx)
    assert there.copy_to(HOST).equals(data)
    ((done, total),) = reports
    assert done == total > 0
    again, reports = told(there.copy_to, ctx)
    assert again.copy_to(HOST).equals(data)
    assert reports[-1][0] == reports[-1][1] > 0


def test_no_bytes(ctx):
    empty = pa.table({"a": pa.array([], pa.int8())})
    there, reports = told(empty.copy_to, ctx)
    assert there.num_rows == 0
    assert reports == [(0, 0)]


def test_what_it_raises_ends_the_copy(ctx):
    there = LARGE.copy_to(ctx)
    before = memory_stats()["allocated_bytes"]
    for data, destination in ((LARGE, ctx), (there, HOST), (SMALL, ctx), (there, ctx)):
        reports = []

        def stop(*report, reports=reports):
            reports.append(report)
            raise KeyError("stop")

        with pytest.raises(KeyError, match="stop"):
            data.copy_to(destination, progress=stop)
        assert len(reports) == 1
        assert memory_stats()["allocated_bytes"] == before
    assert SMALL.copy_to(ctx).copy_to(HOST).equals(SMALL)


def test_it_may_copy_itself(ctx):
    reports = []

    def copy(*report):
        reports.append(report)
        assert SMALL.copy_to(ctx).copy_to(HOST).equals(SMALL)

    assert LARGE.copy_to(ctx, progress=copy).copy_to(HOST).equals(LARGE)
    assert len(reports) >= 3
    assert len({total for _, total in reports}) == 1


def test_copies_on_a_stream(ctx, stream):
    there, reports = told(SMALL.copy_to, ctx, stream=stream)
    stream.synchronize()
    assert there.copy_to(HOST).equals(SMALL)
    assert reports[-1][0] == reports[-1][1] > 0


@pytest.mark.parametrize("progress", [1, "bar", 0.5])
def test_what_is_no_progress(ctx, tmp_path, progress):
    text = "Argument 'progress' has incorrect type .expected True for a bar, or a callable"
    buffer = ctx.new_buffer(1)
    for call in (
        lambda: SMALL.copy_to(ctx, progress=progress),
        lambda: SMALL.to_reader().copy_to(ctx, progress=progress),
        lambda: buffer.copy_to_file(tmp_path / "file", progress=progress),
        lambda: ctx.buffer_from_file(__file__, progress=progress),
        lambda: ctx.table_from_file(__file__, progress=progress),
    ):
        with pytest.raises(TypeError, match=text):
            call()


def without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def test_a_bar_without_tqdm(ctx, monkeypatch, capsys, tmp_path):
    without_tqdm(monkeypatch)
    there = pa.table({"a": np.arange(1 << 18)}).copy_to(ctx, progress=True)
    assert capsys.readouterr().err == "copy_to: 2.0 MiB of 2.0 MiB, 100 %\n"
    list(there.to_reader().copy_to(ctx, progress=True))
    assert capsys.readouterr().err == "copy_to: 2.0 MiB\n"
    buffer = ctx.buffer_from_data(b"1234")
    buffer.copy_to_file(tmp_path / "file", progress=True)
    ctx.buffer_from_file(tmp_path / "file", progress=True)
    assert capsys.readouterr().err == (
        "copy_to_file: 4 bytes of 4 bytes, 100 %\nbuffer_from_file: 4 bytes of 4 bytes, 100 %\n"
    )
    SMALL.copy_to(ctx, progress=False)
    assert capsys.readouterr().err == ""


def test_a_line_of_a_terminal(ctx, monkeypatch, capsys):
    without_tqdm(monkeypatch)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    pa.table({"a": np.arange(1 << 18)}).copy_to(ctx, progress=True)
    line = "\rcopy_to: 2.0 MiB of 2.0 MiB, 100 %\x1b[K"
    assert capsys.readouterr().err == f"{line}{line}\n"


def test_a_bar_of_tqdm(ctx, monkeypatch):
    made = []

    class Bar:
        def __init__(self, **options):
            made.append(self)
            self.options, self.n, self.total, self.is_closed = options, 0, None, False

        def update(self, more):
            self.n += more

        def close(self):
            self.is_closed = True

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    there = SMALL.copy_to(ctx, progress=True)
    with there.to_reader().copy_to(ctx, progress=True) as reader:
        reader.read_next_batch()
        assert not made[1].is_closed
    table, batches = made
    assert all(bar.is_closed for bar in made)
    assert table.options["desc"] == "copy_to"
    assert table.n == table.total > 0
    assert (batches.total, batches.n > 0) == (None, True)
