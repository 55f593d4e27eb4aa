"""Files by KvikIO: a module of its name that records its calls, and makes the copies."""

import gc
import os
import signal
import sys
import threading
from enum import Enum
from threading import Event, Semaphore
from types import ModuleType, SimpleNamespace
from typing import ClassVar

import pytest

MIB = 1 << 20


class CompatMode(Enum):
    OFF = 0
    ON = 1


class FakeCuFile:
    """What is used of `kvikio.CuFile`."""

    calls: ClassVar[list[tuple]] = []
    most = 1 << 60

    def __init__(self, file, flags="r"):
        self.calls.append(("open", flags))
        self.file = os.open(file, {"r": os.O_RDONLY, "r+": os.O_RDWR}[flags])

    def close(self):
        self.calls.append(("close",))
        os.close(self.file)
        self.file = None

    def __del__(self):
        if self.file is not None:
            self.close()

    def _memory(self, buf, size):
        from pyarrow import cuda

        interface = buf.__cuda_array_interface__
        assert interface["shape"] == (size,)
        return cuda.Context(0).foreign_buffer(interface["data"][0], size)

    def pread(self, buf, size=None, file_offset=0, task_size=None):
        assert task_size >= size  # it forgets the other tasks of a call of which one fails
        self.calls.append(("pread", size, file_offset))
        data = os.pread(self.file, min(size, self.most), file_offset)
        return Task(lambda: self._memory(buf, size).copy_from_host(data), self)

    def pwrite(self, buf, size=None, file_offset=0, task_size=None):
        assert task_size >= size
        self.calls.append(("pwrite", size, file_offset))
        data = self._memory(buf, size).to_pybytes()[: self.most]
        return Task(lambda: os.pwrite(self.file, data, file_offset), self)


class Task:
    """What a thread of its pool does, in the end: it runs when its result is asked for."""

    #: How many tasks were not asked for; which of them fails; what the file was then.
    open: ClassVar[int] = 0
    failing: ClassVar[int | None] = None
    made: ClassVar[int] = 0

    def __init__(self, work, file):
        self.work, self.file, self.number = work, file, Task.made
        Task.made += 1
        Task.open += 1

    def get(self):
        if self.work is None:
            return self.result
        work, self.work, self.result = self.work, None, 0
        assert self.file.calls[-1] != ("close",), "the file was closed under a task"
        Task.open -= 1
        if self.number == Task.failing:
            raise RuntimeError("cuFile failed")
        self.result = work()
        return self.result


def of_25_04(is_compatible, has_storage):
    """Newer ones have a function for what `AUTO` comes to."""
    return (
        {"is_compat_mode_preferred": lambda: is_compatible, "get": {"task_size": TASK}.get},
        {"get": {"is_gds_available": has_storage}.__getitem__},
    )


TASK = 4 * MIB


def of_24_10(is_compatible, has_storage):
    properties = SimpleNamespace(is_gds_available=has_storage)
    defaults = {"compat_mode": lambda: is_compatible, "task_size": lambda: TASK}
    return defaults, {"DriverProperties": lambda: properties}


def of_24_12(is_compatible, has_storage):
    return of_24_10(CompatMode.ON if is_compatible else CompatMode.OFF, has_storage)


EVERY_VERSION = pytest.mark.parametrize("version", [of_25_04, of_24_12, of_24_10])


@pytest.fixture
def kvikio(monkeypatch):
    """Installs a version of it, and gives the list of calls."""
    from pyarrow_cuda_compat._methods import kvikio

    def install(version, is_compatible=False, has_storage=True):
        module = ModuleType("kvikio")
        module.CuFile = type("CuFile", (FakeCuFile,), {"calls": []})
        monkeypatch.setitem(sys.modules, "kvikio", module)
        for name, content in zip(
            ("defaults", "cufile_driver"), version(is_compatible, has_storage), strict=True
        ):
            part = ModuleType(f"kvikio.{name}")
            vars(part).update(content)
            monkeypatch.setitem(sys.modules, part.__name__, part)
        kvikio._has_direct_storage.cache_clear()
        return module.CuFile.calls

    yield install
    kvikio._has_direct_storage.cache_clear()


@pytest.fixture
def path(tmp_path):
    """A file that nobody has read yet."""
    path = tmp_path / "data.bin"
    with path.open("wb") as file:
        file.write(bytes(range(256)) * 4 * 3 * 1024)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return path


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A file of three tasks, which are counted from here on."""
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, 3 * TASK)
    monkeypatch.setattr(Task, "open", 0)
    monkeypatch.setattr(Task, "made", 0)
    return path


def is_cached(path):
    from pyarrow_cuda_compat import _native

    with path.open("rb") as file:
        return _native._is_cached(file.fileno(), 0, path.stat().st_size)


@EVERY_VERSION
def test_direct_storage_is_used_where_there_is_any(ctx, kvikio, path, version):
    if is_cached(path):
        pytest.skip("the system caches all files here")
    calls = kvikio(version)
    buffer = ctx.buffer_from_file(path, 5, 2 * MIB)
    assert calls == [("open", "r"), ("pread", 2 * MIB, 5), ("close",)]
    content = path.read_bytes()  # now it is cached
    assert buffer.to_pybytes() == content[5 : 5 + 2 * MIB]
    calls.clear()
    assert ctx.buffer_from_file(path).to_pybytes() == content
    assert ctx.buffer_from_file(path, direct=False).to_pybytes() == content
    assert calls == []


@EVERY_VERSION
@pytest.mark.parametrize("state", [(True, True), (True, False), (False, False)])
def test_without_direct_storage_it_is_left_alone(ctx, kvikio, path, version, state):
    calls = kvikio(version, *state)
    buffer = ctx.buffer_from_file(path)
    buffer.copy_to_file(path, direct=True)
    assert (calls, buffer.size) == ([], 3 * MIB)


def test_it_is_used_where_a_caller_wants_it(ctx, kvikio, path):
    calls = kvikio(of_25_04, is_compatible=True)
    buffer = ctx.buffer_from_file(path, 1, 100, kvikio=True)
    assert buffer.to_pybytes() == bytes(range(1, 101))
    assert buffer.copy_to_file(path, 10, offset=3, kvikio=True) == 90
    assert calls == [
        *(("open", "r"), ("pread", 100, 1), ("close",)),
        *(("open", "r+"), ("pwrite", 90, 3), ("close",)),
    ]
    assert path.read_bytes()[:94] == bytes(range(3)) + bytes(range(11, 101)) + bytes([93])
    with path.open("rb") as file:
        assert ctx.buffer_from_file(file, 0, 2, kvikio=True).to_pybytes() == b"\0\1"
    assert ctx.buffer_from_file(path, 3 * MIB, kvikio=True).size == 0


def test_direct_writes_use_direct_storage(ctx, kvikio, path):
    calls = kvikio(of_25_04)
    buffer = ctx.buffer_from_data(bytes(range(200)) * 10_000)
    buffer.copy_to_file(path)
    buffer.copy_to_file(path, direct=True, kvikio=False)
    assert calls == []
    buffer.copy_to_file(path, direct=True)
    assert calls == [("open", "r+"), ("pwrite", 2_000_000, 0), ("close",)]
    assert path.read_bytes() == buffer.to_pybytes()


def test_progress_of_its_copies(ctx, kvikio, large):
    calls, told = kvikio(of_25_04), []
    size, piece = (64 << 20) + 10, 64 << 20
    os.truncate(large, size)
    buffer = ctx.buffer_from_file(large, kvikio=True, progress=lambda *all: told.append(all))
    pieces = [("pread", TASK, at) for at in range(0, piece, TASK)]
    assert calls == [("open", "r"), *pieces, ("pread", 10, piece), ("close",)]
    assert told == [(piece, size), (size, size)]
    with pytest.raises(ZeroDivisionError):
        ctx.buffer_from_file(large, kvikio=True, progress=lambda *_: 1 // 0)
    assert calls[-2:] == [("pread", TASK, piece - TASK), ("close",)]
    with pytest.raises(ZeroDivisionError):
        buffer.copy_to_file(large, kvikio=True, progress=lambda *_: 1 // 0)
    assert calls[-2:] == [("pwrite", TASK, piece - TASK), ("close",)]


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_all_tasks_have_ended_where_one_fails(ctx, kvikio, large, monkeypatch, failing):
    kvikio(of_25_04)
    buffer = ctx.new_buffer(3 * TASK)
    monkeypatch.setattr(Task, "failing", failing)
    for call in (
        lambda: ctx.buffer_from_file(large, kvikio=True),
        lambda: buffer.copy_to_file(large, kvikio=True),
    ):
        monkeypatch.setattr(Task, "made", 0)
        with pytest.raises(RuntimeError, match="cuFile failed"):
            call()
        assert (Task.made, Task.open) == (3, 0)
        sys.modules["kvikio"].CuFile.calls.clear()


def test_a_failed_copy_keeps_no_memory(ctx, kvikio, large, monkeypatch):
    kvikio(of_25_04)
    monkeypatch.setattr(Task, "failing", 1)
    before = ctx.bytes_allocated
    gc.collect()
    gc.disable()
    try:
        for _ in range(3):
            monkeypatch.setattr(Task, "made", 0)
            with pytest.raises(RuntimeError, match="cuFile failed"):
                ctx.buffer_from_file(large, kvikio=True)
        assert ctx.bytes_allocated == before
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["pread", "pwrite"])
@pytest.mark.parametrize("interrupts", [1, 2])
def test_tasks_keep_what_they_use_however_often_the_wait_is_interrupted(
    ctx, kvikio, large, monkeypatch, name, interrupts
):
    calls = kvikio(of_25_04)
    waits, goes_on = Semaphore(0), Event()
    get, ended = Task.get, Event()

    class Waits(Event):
        def wait(self, timeout=None):
            waits.release()
            # A signal that comes just before a wait without a limit would not end that.
            while not super().wait(0.05):
                pass
            return True

    def late(task):
        if task.number == 1 and task.work is not None:
            for _ in range(interrupts):
                assert waits.acquire(timeout=60)  # two signals at once would be one interrupt
                os.kill(os.getpid(), signal.SIGINT)
            assert interrupts == 1 or goes_on.wait(60)
        found = get(task)
        if task.number == 2:
            ended.set()
        return found

    used = SimpleNamespace(Event=Waits, Thread=threading.Thread)
    monkeypatch.setattr(sys.modules["pyarrow_cuda_compat._methods.kvikio"], "threading", used)
    monkeypatch.setattr(Task, "get", late)
    copy = {
        "pread": lambda: ctx.buffer_from_file(large, kvikio=True),
        "pwrite": lambda: ctx.new_buffer(3 * TASK).copy_to_file(large, kvikio=True),
    }[name]
    before = ctx.bytes_allocated
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            copy()
        gc.collect()
        if interrupts == 2:
            assert (Task.open, ctx.bytes_allocated - before) == (2, 3 * TASK)
            assert ("close",) not in calls
    finally:
        signal.signal(signal.SIGINT, previous)
        goes_on.set()
    assert ended.wait(60)
    for thread in threading.enumerate():
        if thread.name == "KvikIO's tasks":
            thread.join()
    gc.collect()
    assert (Task.open, ctx.bytes_allocated, calls[-1]) == (0, before, ("close",))


def test_files_that_end_too_early(ctx, kvikio, path):
    kvikio(of_25_04)
    sys.modules["kvikio"].CuFile.most = 60
    with pytest.raises(OSError, match=r"the file ends at byte 67, before .*data\.bin"):
        ctx.buffer_from_file(path, 7, 100, kvikio=True)
    buffer = ctx.buffer_from_data(bytes(100))
    with pytest.raises(OSError, match=r"takes no more bytes at byte 67: .*data\.bin"):
        buffer.copy_to_file(path, offset=7, kvikio=True)


def test_it_is_not_installed(ctx, kvikio, path, monkeypatch):
    kvikio(of_25_04)
    for name in ("kvikio", "kvikio.defaults", "kvikio.cufile_driver"):
        monkeypatch.setitem(sys.modules, name, None)
    assert ctx.buffer_from_file(path).size == 3 * MIB
    empty = path.with_name("empty")
    empty.touch()
    reading, writing = os.pipe()
    os.write(writing, b"data")
    os.close(writing)
    # Also where KvikIO would not read the file: an empty one, one without a size, a pipe.
    for file in (path, empty, "/proc/version", reading):
        with pytest.raises(ImportError, match="this needs KvikIO: install"):
            ctx.buffer_from_file(file, kvikio=True)
    os.close(reading)
    buffer = ctx.buffer_from_data(b"data")
    for offset in (0, None):
        with pytest.raises(ImportError, match="this needs KvikIO: install"):
            buffer.copy_to_file(path, offset=offset, kvikio=True)
    assert path.stat().st_size == 3 * MIB, "it has not been emptied"
