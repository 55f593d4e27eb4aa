"""`BufferWriter.upload`: what another file has, to its end."""

import io
import os
from pathlib import Path

import pyarrow as pa
import pytest

FULL = "do not fit into a device buffer of"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(range(100)))
    return path


OPENERS = {
    "BufferedReader": lambda path: path.open("rb"),
    "FileIO": lambda path: path.open("rb", buffering=0),
    "OSFile": lambda path: pa.OSFile(os.fspath(path)),
    "BufferedRandom": lambda path: path.open("r+b"),
    "memory_map": lambda path: pa.memory_map(os.fspath(path)),
    "BytesIO": lambda path: io.BytesIO(path.read_bytes()),
}


@pytest.mark.parametrize("opener", OPENERS)
@pytest.mark.parametrize("buffered", [0, 8, 1000])
def test_the_rest_of_a_file_arrives(cuda, guarded, path, opener, buffered):
    buffer = guarded(100)
    with OPENERS[opener](path) as file, cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = buffered
        assert file.read(30) == bytes(range(30))
        writer.write(b"ab")
        writer.upload(file)
        assert (writer.tell(), file.tell(), file.read()) == (72, 100, b"")
        writer.upload(file)
        writer.write(b"cd")
    assert buffer.to_pybytes() == b"ab" + bytes(range(30, 100)) + b"cd" + bytes(26)


def test_a_file_that_does_not_fit_changes_nothing(cuda, guarded, path):
    buffer = guarded(99)
    with path.open("rb") as file, cuda.BufferWriter(buffer) as writer:
        with pytest.raises(OSError, match=FULL):
            writer.upload(file)
        assert (writer.tell(), file.tell()) == (0, 0)
    assert buffer.to_pybytes() == bytes(99)


def test_what_no_threads_read_and_does_not_fit_is_an_error(cuda, guarded):
    """pyarrow's own `upload` loses what its thread raises."""
    buffer = guarded(99)
    with cuda.BufferWriter(buffer) as writer:
        with pytest.raises(OSError, match=FULL):
            writer.upload(io.BytesIO(bytes(range(100))), 40)
        assert writer.tell() == 80
    assert buffer.to_pybytes() == bytes(range(80)) + bytes(19)


def test_a_source_that_raises(cuda, guarded):
    class Broken:
        def read(self, size):
            raise KeyError(size)

    with cuda.BufferWriter(guarded(10)) as writer:
        for size, expected in ((None, 65536), (0, 65536), (7, 7)):
            with pytest.raises(KeyError, match=f"^{expected}$"):
                writer.upload(Broken(), size)


@pytest.mark.parametrize("path", ["/proc/self/cmdline", "/sys/devices/system/cpu/possible"])
def test_a_file_without_a_size_arrives(cuda, ctx, path):
    path = Path(path)
    wanted = path.read_bytes()
    buffer = ctx.new_buffer(len(wanted))
    with path.open("rb") as file, cuda.BufferWriter(buffer) as writer:
        writer.upload(file)
    assert buffer.to_pybytes() == wanted


def test_a_pipe_arrives(cuda, guarded):
    buffer = guarded(10)
    receiver, sender = os.pipe()
    os.write(sender, b"piped")
    os.close(sender)
    with io.FileIO(receiver) as file, cuda.BufferWriter(buffer) as writer:
        writer.upload(file)
    assert buffer.to_pybytes() == b"piped" + bytes(5)


def test_a_subclass_reads_its_own_way(cuda, guarded, path):
    class Reversed(io.FileIO):
        def read(self, size=-1):
            return super().read(size)[::-1]

    buffer = guarded(100)
    with Reversed(path) as file, cuda.BufferWriter(buffer) as writer:
        writer.upload(file, 50)
    content = bytes(range(100))
    assert buffer.to_pybytes() == content[49::-1] + content[:49:-1]


def test_closed_files_are_refused(cuda, guarded, path):
    buffer = guarded(100)
    with path.open("rb") as closed:
        pass
    with cuda.BufferWriter(buffer) as writer:
        with pytest.raises(ValueError, match="closed file"):
            writer.upload(closed)
        assert writer.tell() == 0
    with path.open("rb") as file, pytest.raises(ValueError, match="closed file"):
        writer.upload(file)
    assert buffer.to_pybytes() == bytes(100)
