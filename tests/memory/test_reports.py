"""`memory_report`, and the history that `record_allocations` makes."""

import contextlib
import copy
import ctypes
import gc
import pickle
import pickletools
import re
import sys
import threading
import time

import pyarrow as pa
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import memory_report, record_allocations

MIB = 1 << 20
SIZES = {"up to 1 MiB": 1000, "below 16 MiB": 3 * MIB, "from 16 MiB": 17 * MIB}


def rows_of(report, memory="cuda:0"):
    return {row.sizes: row for row in report.classes if row.memory == memory}


def in_use(row):
    return row.blocks, row.allocated_bytes


def allocate(ctx, nbytes):
    return ctx.new_buffer(nbytes)


class TestReport:
    @pytest.mark.parametrize(("sizes", "nbytes"), SIZES.items())
    def test_a_block_is_in_its_class_until_it_is_released(self, ctx, sizes, nbytes):
        before = rows_of(memory_report(ctx))
        buf = ctx.new_buffer(nbytes)
        held = rows_of(memory_report(ctx))
        assert held[sizes].blocks == before[sizes].blocks + 1
        assert held[sizes].allocated_bytes == before[sizes].allocated_bytes + nbytes
        assert held[sizes].reserved_bytes >= nbytes
        del buf
        after = rows_of(memory_report(ctx))
        assert after[sizes].blocks == before[sizes].blocks
        assert after[sizes].allocated_bytes == before[sizes].allocated_bytes
        assert after[sizes].reusable_bytes >= nbytes
        for other in SIZES.keys() - {sizes}:
            assert in_use(before[other]) == in_use(held[other]) == in_use(after[other])

    def test_its_sums_are_those_of_the_statistics(self, cuda, ctx):
        kept = ctx.new_buffer(2 * MIB), cuda.new_host_buffer(5000)
        report = memory_report(ctx)
        for total, stats in zip(
            report.totals, (compat.memory_stats(ctx), compat.pinned_memory_stats()), strict=True
        ):
            rows = rows_of(report, total.memory).values()
            for name in ("allocated_bytes", "reserved_bytes"):
                assert sum(getattr(row, name) for row in rows) == stats[name]
                assert getattr(total, name) == stats[name]
                assert getattr(total, f"peak_{name}") == stats[f"peak_{name}"]
            for row in rows:
                parts = row.allocated_bytes + row.in_flight_bytes + row.reusable_bytes
                assert row.shared_bytes <= row.allocated_bytes
                assert parts <= row.reserved_bytes
        del kept

    @pytest.mark.alone  # what is free counts the memory of all processes
    def test_memory_of_others_is_what_the_package_has_not_reserved(
        self, ctx, contexts, driver, current
    ):
        before = memory_report()
        assert (before.free_bytes, before.total_bytes) == compat.mem_get_info()
        bufs = [context.new_buffer(64 * MIB) for context in contexts]
        assert memory_report().other_bytes == before.other_bytes
        address = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(8 * MIB))
        try:
            report = memory_report(ctx)
        finally:
            driver.call("cuMemFree_v2", address)
        assert report.other_bytes == before.other_bytes + 8 * MIB
        reserved = sum(row.reserved_bytes for row in rows_of(report).values())
        assert report.other_bytes + report.free_bytes + reserved == report.total_bytes
        del bufs

    @pytest.mark.alone
    def test_each_context_has_its_own(self, cuda, ctx, own_context):
        theirs = cuda.Context(0, handle=own_context)
        before = memory_report(ctx)
        buf = theirs.new_buffer(4 * MIB)  # the driver's own size of pieces is 2 MiB
        ours, others = memory_report(ctx), memory_report(theirs)
        assert [*map(in_use, ours.classes)] == [*map(in_use, before.classes)]
        assert ours.other_bytes == before.other_bytes
        assert others.totals[0].allocated_bytes == buf.size
        assert rows_of(others)["below 16 MiB"].allocated_bytes == buf.size

    def test_each_device_has_its_own(self, ctx, other_ctx):
        buf = other_ctx.new_buffer(5 * MIB)
        number = other_ctx.device_number
        reports = [memory_report(each) for each in (other_ctx, number, f"cuda:{number}")]
        assert {report.device for report in reports} == {f"cuda:{number}"}
        rows = rows_of(reports[0], f"cuda:{number}")
        assert rows["below 16 MiB"].allocated_bytes >= buf.size
        assert reports[0].totals[0].allocated_bytes == other_ctx.bytes_allocated
        assert rows_of(memory_report(ctx), f"cuda:{number}") == {}

    @pytest.mark.leaks
    def test_exported_memory_is_shared_with_other_processes(self, ctx):
        buf = ctx.new_buffer(3 * MIB)
        before = rows_of(memory_report(ctx))["below 16 MiB"].shared_bytes
        buf.export_for_ipc()
        assert rows_of(memory_report(ctx))["below 16 MiB"].shared_bytes == before + 3 * MIB

    def test_it_can_be_sent_to_another_process(self, ctx):
        report = memory_report(ctx)
        assert pickle.loads(pickle.dumps(report)) == report

    def test_the_text(self, ctx):
        buf = ctx.new_buffer(1234567)
        report = memory_report(ctx)
        title, _, *lines = repr(report).split("\n")
        assert title == (
            f"cuda:0: {report.total_bytes:,} bytes, of which {report.free_bytes:,} are free, "
            f"and others use {report.other_bytes:,}"
        )
        assert lines[0].split() == ["memory", "allocated", "peak", "reserved", "peak"]
        assert [line.split("  ")[0] for line in lines[1:3]] == ["cuda:0", "pinned"]
        assert lines[4].startswith("memory  sizes         blocks  allocated")
        assert len(lines) == 11
        assert all(len(line) <= 100 for line in lines)
        assert buf.size == 1234567

    def test_the_html(self, ctx):
        with record_allocations():
            buf = ctx.new_buffer(1000)
            page = memory_report(ctx)._repr_html_()
        tables = page.removeprefix("<table>").removesuffix("</table>").split("</table><table>")
        names = [re.match("<caption>(.*?)</caption>", table)[1] for table in tables]
        assert names[1:] == ["by size", "by line"]
        assert "<th>reusable</th>" in page
        assert f"{buf.size:,}</td></tr></tbody></table>" in page

    def test_the_picture(self, ctx):
        figure = pytest.importorskip("matplotlib.figure").Figure()
        buf = ctx.new_buffer(20 * MIB)
        report, axes = memory_report(ctx), figure.subplots()
        assert report.plot(axes) is axes
        names = [text.get_text() for text in axes.get_yticklabels()]
        assert names[::-1][:3] == [f"cuda:0, {sizes}" for sizes in SIZES]
        for row, name in zip(report.classes[::-1], range(len(names)), strict=True):
            ends = [bars[name].get_x() + bars[name].get_width() for bars in axes.containers]
            assert max(ends) == pytest.approx(row.reserved_bytes / MIB)
        assert axes.containers[0][3].get_width() >= buf.size / MIB
        assert isinstance(report.plot(), type(axes))

    def test_without_matplotlib(self, ctx, monkeypatch):
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=r"^this needs matplotlib: pip install matplotlib$"):
            memory_report(ctx).plot()

    @pytest.mark.parametrize("wrong", [1.5, b"cuda", [], object()])
    def test_other_objects_are_refused(self, wrong):
        with pytest.raises(TypeError):
            memory_report(wrong)


class TestHolders:
    def test_they_are_lines_of_the_program(self, ctx):
        assert memory_report(ctx).holders == ()
        with record_allocations():
            bufs = [allocate(ctx, 30 * MIB) for _ in range(2)]
            table = pa.table({"x": range(1000)}).copy_to(ctx)
            first, *others = memory_report(ctx).holders
            place = f"{__file__}:{allocate.__code__.co_firstlineno + 1} in allocate"
            assert (first.place, first.blocks, first.allocated_bytes) == (place, 2, 60 * MIB)
            here = [each for each in others if "test_they_are_lines_of_the_program" in each.place]
            assert [(each.blocks, each.allocated_bytes) for each in here] == [(1, 8000)]
            assert place in repr(memory_report(ctx))
            del bufs, table
            assert place not in repr(memory_report(ctx))

    def test_memory_from_before_is_nobodys(self, ctx):
        before = ctx.new_buffer(40 * MIB)
        with record_allocations():
            buf = ctx.new_buffer(1)
            unknown = [each for each in memory_report(ctx).holders if each.place == "unknown"]
        assert [each.allocated_bytes >= 40 * MIB for each in unknown] == [True]
        del before, buf

    def test_threads_of_python_have_their_own_stacks(self, ctx):
        found = []

        def in_thread():
            found.append(allocate(ctx, 1000))

        with record_allocations() as history:
            thread = threading.Thread(target=in_thread)
            thread.start()
            thread.join()
        names = [call.name for call in history.events[-1].stack]
        assert names[-2:] == [in_thread.__qualname__, "allocate"]


class TestHistory:
    def test_events_are_in_order(self, ctx):
        started = time.time()
        with record_allocations() as history:
            buf = ctx.new_buffer(700)
            address = buf.address
            del buf
            events = [event for event in history.events if "segment" not in event.action]
        facts = [(it.action, it.device, it.address, it.nbytes) for it in events]
        assert facts == [("allocate", 0, address, 700), ("release", 0, address, 700)]
        assert started - 60 < events[0].time <= events[1].time + 60
        assert events[0].stack == events[1].stack
        assert events[0].stack[-1].name.endswith("test_events_are_in_order")
        assert "buf = ctx.new_buffer(700)" in "".join(events[0].stack.format())

    def test_segments_come_from_the_driver_and_go_back(self, ctx):
        compat.empty_cache(ctx)
        with record_allocations() as history:
            buf = ctx.new_buffer(50 * MIB)
            del buf
            compat.empty_cache(ctx)
        assert [(event.action, event.nbytes) for event in history.events] == [
            ("allocate segment", 50 * MIB),
            ("allocate", 50 * MIB),
            ("release", 50 * MIB),
            ("free segment", 50 * MIB),
        ]

    def test_the_last_events_stay(self, ctx):
        with record_allocations(max_events=3) as history:
            for nbytes in range(1, 10):
                ctx.new_buffer(nbytes)
        assert [event.nbytes for event in history.events] == [8, 9, 9]
        assert repr(history) == "<AllocationHistory: 3 events, complete>"

    def test_it_ends_once(self, ctx):
        history = record_allocations()
        assert repr(history).endswith("recording>")
        history.stop()
        buf = ctx.new_buffer(10)
        history.stop()
        assert history.events == []
        del buf

    def test_its_events_can_be_copied_and_sent(self, ctx):
        with record_allocations() as history:
            kept = allocate(ctx, 100)
            for copied in (copy.copy, pickle.dumps):
                with pytest.raises(TypeError, match=r"history\.events"):
                    copied(history)
            gc.collect()
            kept = allocate(ctx, kept.size)
        assert len(history.events) >= 2
        assert pickle.loads(pickle.dumps(history.events)) == history.events

    def test_there_may_be_any_number_of_events(self, ctx):
        with record_allocations(10**30) as history:
            allocate(ctx, 100)
        assert len(history.events) >= 2

    def test_there_is_one_at_a_time(self, ctx):
        with record_allocations() as history:
            with pytest.raises(RuntimeError, match=r"records already; end that with stop\(\)"):
                record_allocations()
            gc.collect()
            buf = ctx.new_buffer(10)
        assert history.events[-1].nbytes == buf.size

    def test_it_ends_with_the_object(self):
        record_allocations()
        gc.collect()
        with record_allocations():
            pass

    def test_it_ends_with_an_error(self):
        with contextlib.suppress(ZeroDivisionError), record_allocations():
            raise ZeroDivisionError
        with record_allocations():
            pass

    @pytest.mark.parametrize(
        ("wrong", "error", "text"),
        [
            (0, ValueError, "max_events argument must be at least 1, not 0"),
            (-5, ValueError, "max_events argument must be at least 1, not -5"),
            (True, TypeError, "max_events argument must be an int, not bool"),
            (1.5, TypeError, "max_events argument must be an int, not float"),
            ("9", TypeError, "max_events argument must be an int, not str"),
        ],
    )
    def test_other_numbers_are_refused(self, wrong, error, text):
        with pytest.raises(error, match=f"^{text}$"):
            record_allocations(wrong)


#: The viewer's reader of pickles knows these (torch/utils/viz/MemoryViz.js).
OPCODES = {
    *("APPEND", "APPENDS", "BINFLOAT", "BINGET", "BININT", "BININT1", "BININT2", "BINPUT"),
    *("BINUNICODE", "DICT", "EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE", "FRAME", "LIST", "LONG1"),
    *("LONG_BINGET", "LONG_BINPUT", "MARK", "MEMOIZE", "NEWFALSE", "NEWTRUE", "NONE", "PROTO"),
    *("SETITEM", "SETITEMS", "SHORT_BINUNICODE", "STOP", "TUPLE", "TUPLE1", "TUPLE2", "TUPLE3"),
}


class TestFile:
    @pytest.fixture
    def saved(self, ctx, tmp_path):
        """A history, its file, and what is in use at its end."""
        with record_allocations() as history:
            kept = [allocate(ctx, nbytes) for nbytes in (100, 2 * MIB, 20 * MIB)]
            allocate(ctx, 3000)
        history.save(tmp_path / "memory.pickle")
        return history, (tmp_path / "memory.pickle").read_bytes(), kept

    def test_the_viewer_can_read_it(self, saved):
        codes = [(code.name, argument) for code, argument, _ in pickletools.genops(saved[1])]
        assert {name for name, _ in codes} <= OPCODES
        assert codes[0] == ("PROTO", 4)

    def test_it_has_pytorchs_names(self, ctx, saved):
        history, data, kept = saved
        snapshot = pickle.loads(data)
        trace = snapshot["device_traces"][0]
        assert len(snapshot["device_traces"]) == compat.Context.get_num_devices()
        allocated = [entry["size"] for entry in trace if entry["action"] == "alloc"]
        assert allocated == [100, 2 * MIB, 20 * MIB, 3000]
        last = [(entry["action"], entry["size"]) for entry in trace[-2:]]
        assert last == [("free_requested", 3000), ("free_completed", 3000)]
        assert trace[-1]["frames"][0] == {
            "filename": __file__,
            "line": allocate.__code__.co_firstlineno + 1,
            "name": "allocate",
        }
        assert abs(trace[-1]["time_us"] / 1e6 - history.events[-1].time) < 1
        blocks = {
            block["address"]: block
            for segment in snapshot["segments"]
            if segment["device"] == 0
            for block in segment["blocks"]
        }
        for buf in kept:
            block = blocks[buf.address]
            assert (block["state"], block["requested_size"]) == ("active_allocated", buf.size)
            assert block["frames"][0]["name"] == "allocate"

    def test_blocks_tile_their_segments(self, saved):
        for segment in pickle.loads(saved[1])["segments"]:
            assert segment["total_size"] == sum(block["size"] for block in segment["blocks"])
            address = segment["address"]
            for block in segment["blocks"]:
                assert block["address"] == address
                address += block["size"]
            assert segment["requested_size"] <= segment["allocated_size"] <= segment["active_size"]
            assert segment["active_size"] <= segment["total_size"]

    def test_it_is_the_memory_at_the_end_of_the_record(self, ctx, saved, tmp_path):
        history, data, kept = saved
        kept.clear()
        more = ctx.new_buffer(70 * MIB)
        history.save(str(tmp_path / "again.pickle"))
        assert (tmp_path / "again.pickle").read_bytes() == data
        del more

    def test_pytorchs_own_tools_read_it(self, saved):
        viz = pytest.importorskip("torch.cuda._memory_viz")
        snapshot = pickle.loads(saved[1])
        assert "total_allocated:" in viz.segsum(snapshot)
        text = viz.trace(pickle.loads(saved[1]))
        assert text.count("2.0MiB") >= 1
        assert "MemoryViz.js" in viz.trace_plot(snapshot)

    @pytest.mark.leaks
    def test_exported_memory_is_in_use_there(self, ctx, tmp_path):
        with record_allocations() as history:
            buf = ctx.new_buffer(3 * MIB)
            address = buf.address
            buf.export_for_ipc()
            del buf
        history.save(tmp_path / "memory.pickle")
        snapshot = pickle.loads((tmp_path / "memory.pickle").read_bytes())
        blocks = [block for each in snapshot["segments"] for block in each["blocks"]]
        states = [block["state"] for block in blocks if block["address"] == address]
        assert states == ["active_allocated"]
        assert [event.action for event in history.events if "segment" not in event.action] == [
            "allocate"
        ]

    def test_a_folder_that_is_missing_is_refused(self, saved, tmp_path):
        with pytest.raises(FileNotFoundError):
            saved[0].save(tmp_path / "missing" / "memory.pickle")
