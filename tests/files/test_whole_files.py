"""`Context.buffer_from_file` and `CudaBuffer.copy_to_file`: files to the device, and back."""

import errno
import fcntl
import gzip
import io
import os
import socket
import tempfile
import threading
from pathlib import Path

import pyarrow as pa
import pytest

CONTENT = bytes(range(256)) * 4
PIECE = 64 << 20
pytestmark = pytest.mark.usefixtures("nothing_is_lost")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def sparse(tmp_path):
    """A file of 2 pieces and a part, with a pattern where pieces meet."""
    path, size = tmp_path / "sparse.bin", 2 * PIECE + 12_345
    with path.open("wb") as file:
        for at in (0, PIECE - 100, 2 * PIECE - 100, size - 100):
            file.seek(at)
            file.write(bytes(range(at % 50, at % 50 + 100)))
        file.truncate(size)
    return path


SOURCES = {
    "str": os.fspath,
    "bytes": os.fsencode,
    "Path": lambda path: path,
    "BufferedReader": lambda path: path.open("rb"),
    "FileIO": lambda path: path.open("rb", buffering=0),
    "BufferedRandom": lambda path: path.open("r+b"),
}
#: Whether an `OSFile` knows its descriptor.
OS_FILES = pa.cpp_version_info.major >= 25
if OS_FILES:
    SOURCES["OSFile"] = lambda path: pa.OSFile(os.fspath(path))


@pytest.mark.skipif(OS_FILES, reason="an OSFile knows its descriptor")
def test_files_without_a_descriptor_are_refused(ctx, path):
    with pytest.raises(TypeError, match="pass its path"):
        ctx.buffer_from_file(pa.OSFile(os.fspath(path)))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("direct", [None, True, False])
def test_a_file_becomes_a_buffer(ctx, path, source, direct):
    file = SOURCES[source](path)
    if hasattr(file, "seek"):
        file.seek(7)
    buffer = ctx.buffer_from_file(file, direct=direct)
    assert (type(buffer).__name__, buffer.is_mutable) == ("CudaBuffer", True)
    assert buffer.to_pybytes() == CONTENT
    part = ctx.buffer_from_file(file, 3, 500, direct=direct)
    assert part.to_pybytes() == CONTENT[3:503]
    if hasattr(file, "tell"):
        assert file.tell() == 7
        file.close()
        with pytest.raises(ValueError, match="closed file"):
            ctx.buffer_from_file(file)


def test_temporary_files(ctx):
    for opener in (tempfile.NamedTemporaryFile, tempfile.TemporaryFile):
        with opener() as file:
            file.write(b"not flushed")
            assert ctx.buffer_from_file(file).to_pybytes() == b"not flushed"
            assert file.tell() == 11


def test_the_end_of_a_file(ctx, path):
    assert ctx.buffer_from_file(path, 1024).size == 0
    assert ctx.buffer_from_file(path, 1024, 0).size == 0
    assert ctx.buffer_from_file(path, 1000, 24).to_pybytes() == CONTENT[1000:]
    for offset in (1025, 2**62, 2**63 - 1):
        with pytest.raises(ValueError, match="offset argument must be at most 1024"):
            ctx.buffer_from_file(path, offset)
    for nbytes in (25, 2**62, 2**63 - 1):
        with pytest.raises(ValueError, match=r"nbytes argument must be at most 24, .*data\.bin"):
            ctx.buffer_from_file(path, 1000, nbytes)
    path.write_bytes(b"")
    assert ctx.buffer_from_file(path).size == 0
    with pytest.raises(ValueError, match="offset"):
        ctx.buffer_from_file(path, 1)
    with pytest.raises(ValueError, match="nbytes"):
        ctx.buffer_from_file(path, 0, 1)


def test_numbers_that_cannot_be(ctx, path):
    buffer = ctx.buffer_from_data(b"data")
    for argument, call in (
        ("offset", lambda number: ctx.buffer_from_file(path, number)),
        ("nbytes", lambda number: ctx.buffer_from_file(path, nbytes=number)),
        ("offset", lambda number: buffer.copy_to_file(path, offset=number)),
    ):
        for number in (-1, -(2**63)):
            with pytest.raises(ValueError, match=f"{argument} argument must be non-negative"):
                call(number)
        for number in (2**63, -(2**63) - 1, 2**200):
            with pytest.raises(OverflowError):
                call(number)
    for position in (-1, -(2**63)):
        with pytest.raises(ValueError, match="position"):
            buffer.copy_to_file(path, position)
    for position, nbytes in ((5, -1), (2, 3), (0, 2**62)):
        with pytest.raises(ValueError, match=r"position|requested more"):
            buffer.copy_to_file(path, position, nbytes)
    assert path.read_bytes() == CONTENT
    with pytest.raises(OSError, match=r"data\.bin"):
        buffer.copy_to_file(path, offset=2**63 - 1)
    assert path.read_bytes() == CONTENT


def calls(ctx):
    buffer = ctx.buffer_from_data(b"data")
    return ctx.buffer_from_file, buffer.copy_to_file


def test_paths_that_cannot_be_opened(ctx, tmp_path, path):
    read, write = calls(ctx)
    for name in (tmp_path / "none" / "x", os.fspath(tmp_path / "none" / "x"), b"/none/x"):
        for call in (read, write):
            with pytest.raises(FileNotFoundError) as caught:
                call(name)
            assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, os.fspath(name))
    for call in (read, write):
        with pytest.raises(IsADirectoryError) as caught:
            call(tmp_path)
        assert caught.value.filename == os.fspath(tmp_path)
        with pytest.raises(NotADirectoryError):
            call(path / "x")
        for descriptor in (-1, 1_000_000, 1 << 70):
            with pytest.raises(OSError, match=f"Bad file descriptor: {descriptor}"):
                call(descriptor)
        with pytest.raises(ValueError, match="null"):
            call("a\0b")
    folder = os.open(tmp_path, os.O_RDONLY)
    with pytest.raises(IsADirectoryError):
        read(folder)
    os.close(folder)


# compute-sanitizer hangs when a process that had another effective user creates a context.
@pytest.mark.unwatched
def test_paths_that_may_not_be_read(ctx, path):
    path.chmod(0)
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)  # root may read everything
    try:
        for call in calls(ctx):
            with pytest.raises(PermissionError) as caught:
                call(path)
            assert caught.value.filename == os.fspath(path)
    finally:
        os.seteuid(before)


def test_what_is_no_file(ctx, path):
    with gzip.open(path, "rb") as zipped, path.open() as text, socket.socket() as sock:
        others = [None, True, 1.5, object(), io.BytesIO(b"x"), zipped, text, sock]

        class Reversed(io.FileIO):
            def read(self, size=-1):
                return super().read(size)[::-1]

        with Reversed(path) as changed:
            for other in [*others, changed]:
                for call in calls(ctx):
                    with pytest.raises(TypeError, match=f"path.*not {type(other).__name__}"):
                        call(other)
    assert path.read_bytes() == CONTENT


def test_descriptors_for_the_other_way(ctx, path):
    read, write = calls(ctx)
    with path.open("ab") as file:
        with pytest.raises(OSError, match="Bad file descriptor") as caught:
            read(file)
        assert caught.value.filename == os.fspath(path)
        with pytest.raises(ValueError, match=r"must not be open for appending: .*data\.bin"):
            write(file)
    with path.open("rb") as file, pytest.raises(OSError, match="Bad file descriptor"):
        write(file)
    assert path.read_bytes() == CONTENT


def test_pipes_are_read_to_their_end(ctx):
    def piped(data):
        receiver, sender = os.pipe()
        thread = threading.Thread(target=lambda: (os.write(sender, data), os.close(sender)))
        thread.start()
        return receiver, thread

    for arguments, expected in (((), CONTENT), ((0, 1000), CONTENT[:1000]), ((0, 0), b"")):
        receiver, thread = piped(CONTENT)
        assert ctx.buffer_from_file(receiver, *arguments).to_pybytes() == expected
        thread.join()
        os.close(receiver)
    receiver, thread = piped(CONTENT)
    with pytest.raises(ValueError, match="nbytes argument must be at most 1024"):
        ctx.buffer_from_file(receiver, 0, 1025)
    with pytest.raises(OSError, match="Illegal seek") as caught:
        ctx.buffer_from_file(receiver, 1)
    assert (caught.value.errno, caught.value.filename) == (errno.ESPIPE, receiver)
    thread.join()
    os.close(receiver)


def test_pipes_are_written(ctx):
    data = bytes(range(250)) * 40_000
    buffer, received = ctx.buffer_from_data(data), bytearray()
    receiver, sender = os.pipe()

    def receive():
        while piece := os.read(receiver, 1 << 20):
            received.extend(piece)

    thread = threading.Thread(target=receive)
    thread.start()
    told = []
    assert buffer.copy_to_file(sender, 10, progress=lambda *all: told.append(all)) == len(data) - 10
    with pytest.raises(OSError, match="Illegal seek"):
        buffer.copy_to_file(sender, offset=1)
    os.close(sender)
    thread.join()
    assert received == data[10:]
    assert told[-1] == (len(data) - 10, len(data) - 10)
    os.close(receiver)
    receiver, sender = os.pipe()
    os.close(receiver)
    with pytest.raises(BrokenPipeError):
        buffer.copy_to_file(sender)
    os.close(sender)


def test_files_without_a_size(ctx):
    path = Path("/proc/self/status")
    name = ctx.buffer_from_file(path).to_pybytes().splitlines()[0]
    assert name == path.read_bytes().splitlines()[0]
    assert ctx.buffer_from_file(path, 6, 3).to_pybytes() == path.read_bytes()[6:9]
    with pytest.raises(ValueError, match="nbytes argument is needed"):
        ctx.buffer_from_file("/dev/zero")
    assert ctx.buffer_from_file("/dev/zero", nbytes=5_000_000).to_pybytes() == bytes(5_000_000)
    assert ctx.buffer_from_file("/dev/null", nbytes=0).size == 0
    # Which refuses to be read in pieces of 4 MiB.
    assert ctx.buffer_from_file("/proc/sys/kernel/ostype").to_pybytes() == b"Linux\n"
    # Which claims a page.
    path = Path("/sys/devices/system/cpu/possible")
    assert ctx.buffer_from_file(path).to_pybytes() == path.read_bytes()


def test_a_descriptor_that_reads_directly_itself(ctx, path):
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    assert ctx.buffer_from_file(file, 3, 500).to_pybytes() == CONTENT[3:503]
    assert fcntl.fcntl(file, fcntl.F_GETFL) & os.O_DIRECT
    os.close(file)


def test_a_path_is_written_behind_its_end_anew_and_with_nothing(ctx, tmp_path, path):
    buffer = ctx.buffer_from_data(CONTENT)
    assert buffer.copy_to_file(path, nbytes=2, offset=1030) == 2
    assert path.read_bytes() == CONTENT + bytes(6) + CONTENT[:2]
    assert buffer.copy_to_file(tmp_path / "other", 0, 3, offset=0) == 3
    assert (tmp_path / "other").read_bytes() == CONTENT[:3]
    assert buffer.copy_to_file(path, 1024) == 0
    assert path.read_bytes() == b""


def test_an_interrupt_while_a_file_is_emptied(ctx, path, monkeypatch):
    def interrupted(_file, _size):
        raise KeyboardInterrupt

    buffer = ctx.buffer_from_data(b"0123456789")
    monkeypatch.setattr(os, "ftruncate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        buffer.copy_to_file(path)


ONE_DESCRIPTOR = """
import os, resource, sys
from pyarrow import cuda
buffer = cuda.Context(0).buffer_from_data(b"data")
path = sys.argv[1]
cuda.Context(0).buffer_from_file(path)
free = os.open(path, os.O_RDONLY)
os.close(free)
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (free + 1, most))
for work in (cuda.Context(0).buffer_from_file, lambda path: buffer.copy_to_file(path, offset=0)):
    try:
        work(path)
    except OSError as error:
        print(error.errno, error.filename == path)
"""


def test_a_process_that_may_not_open_more_files(run_python, path):
    expected = f"{errno.EMFILE} True\n" * 2
    assert run_python(ONE_DESCRIPTOR, os.fspath(path)) == (0, expected, "")


def test_an_open_file_keeps_its_other_bytes(ctx, path):
    buffer = ctx.buffer_from_data(b"0123456789")
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"first")
        assert buffer.copy_to_file(file) == 10
        assert buffer.copy_to_file(file.fileno(), 8, offset=50) == 2
        assert file.tell() == 105
    written = path.read_bytes()
    assert written[:10] + written[50:52] + written[100:105] == b"012345678989first"
    assert written[105:] == CONTENT[105:]
    if OS_FILES:
        with pa.OSFile(os.fspath(path), "w") as file:
            assert buffer.copy_to_file(file, 3) == 7
        assert path.read_bytes() == b"3456789"


def test_a_full_disk(ctx):
    buffer = ctx.buffer_from_data(CONTENT)
    for direct in (False, True):
        with pytest.raises(OSError, match="cannot write the file at byte 0: No space") as caught:
            buffer.copy_to_file("/dev/full", direct=direct)
        assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, "/dev/full")


def test_too_little_memory(cuda, ctx, tmp_path):
    import pyarrow_cuda_compat as compat

    path = tmp_path / "huge"
    path.touch()
    os.truncate(path, 1 << 43)
    for source in (path, "/dev/zero"):
        with pytest.raises(compat.OutOfMemoryError, match=str(1 << 43)):
            ctx.buffer_from_file(source, nbytes=1 << 43)


def test_progress_is_told(ctx, sparse, tmp_path):
    content, told = sparse.read_bytes(), []

    def tell(done, total):
        assert threading.current_thread() is threading.main_thread()
        told.append((done, total))

    size = len(content)
    buffer = ctx.buffer_from_file(sparse, progress=tell)
    pieces = [(PIECE, size), (2 * PIECE, size), (size, size)]
    assert told == pieces
    assert buffer.equals(pa.py_buffer(content))
    buffer.copy_to_file(tmp_path / "back", progress=tell)
    assert told == pieces * 2
    assert (tmp_path / "back").read_bytes() == content
    told.clear()
    assert ctx.buffer_from_file(sparse, 100, PIECE, progress=tell).size == PIECE
    assert told == [(PIECE - 100, PIECE), (PIECE, PIECE)]  # pieces end at whole pages
    told.clear()
    ctx.buffer_from_file(sparse, size, progress=tell)
    buffer.copy_to_file(tmp_path / "back", size, progress=tell)
    ctx.buffer_from_file("/dev/zero", nbytes=5 << 20, progress=tell)
    assert told == [(0, 0), (0, 0), *((done << 20, 5 << 20) for done in range(1, 6))]


def test_what_progress_raises_ends_the_copy(ctx, sparse, tmp_path):
    class Enough(Exception):
        pass

    told = []

    def tell(done, total):
        told.append(done)
        raise Enough(total)

    buffer = ctx.new_buffer(2 * PIECE)
    buffer.fill(7)
    target = tmp_path / "target"
    for copy in (
        lambda: ctx.buffer_from_file(sparse, progress=tell),
        lambda: buffer.copy_to_file(target, progress=tell),
        lambda: ctx.buffer_from_file("/dev/zero", nbytes=9 << 20, progress=tell),
    ):
        with pytest.raises(Enough):
            copy()
    assert told == [PIECE, PIECE, 1 << 20]
    assert target.read_bytes() == b"\7" * PIECE


def test_progress_that_changes_the_file(ctx, sparse):
    """It has been opened once, and is read as it is then."""
    with sparse.open("rb") as file:
        size = file.seek(0, io.SEEK_END)

        def close(done, total):
            sparse.unlink(missing_ok=True)
            file.close()

        assert ctx.buffer_from_file(file, progress=close).size == size


def test_a_file_that_shrinks_is_named(ctx, sparse):
    def shrink(done, total):
        os.truncate(sparse, PIECE + 5)

    with pytest.raises(OSError, match=f"the file ends at byte {PIECE + 5}, before .*sparse"):
        ctx.buffer_from_file(sparse, progress=shrink)


SHRINKS = """
import os, threading
from pyarrow import cuda
import pyarrow_cuda_compat

path = os.environ["FILE"]
pyarrow_cuda_compat.set_transfer_limits(threads=3, begin_after=0)
size = 24 << 20
content = os.urandom(size)
with open(path, "wb") as file:
    file.write(content)
ctx = cuda.Context()
buffer = ctx.new_buffer(size)
before = ctx.bytes_allocated
is_over = threading.Event()

def read(turn):
    assert ctx.buffer_from_file(path, direct=[None, True][turn % 2]).size in (size, 5_000_000)

def upload(_turn):
    with open(path, "rb") as file, cuda.BufferWriter(buffer) as writer:
        try:
            writer.upload(file)
        finally:
            assert writer.tell() == file.tell()

upload(0)
assert buffer.to_pybytes() == content

def resize():
    while not is_over.is_set():
        os.truncate(path, 5_000_000)
        os.truncate(path, size)

thread = threading.Thread(target=resize, daemon=True)
thread.start()
for turn in range(30):
    try:
        WORK(turn)
    except OSError as error:
        assert "the file ends at byte" in str(error), error
is_over.set()
thread.join()
assert ctx.bytes_allocated == before
print("alive")
"""


@pytest.mark.parametrize("work", ["read", "upload"])
def test_a_file_that_shrinks_at_any_time(run_python, path, work):
    code = SHRINKS.replace("WORK", work)
    assert run_python(code, FILE=os.fspath(path)) == (0, "alive\n", "")
