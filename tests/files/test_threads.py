"""One file in the hands of several threads, and what Python classes make of ours."""

import pyarrow as pa
import pytest

from support.threads import in_threads


def together(*works):
    """Does each piece of work over and over, in a thread of its own."""

    def repeat(number):
        for _ in range(200):
            works[number]()

    in_threads(repeat, len(works))


def test_a_writer_is_asked_while_its_host_buffer_is_replaced(cuda, ctx):
    writer = cuda.BufferWriter(ctx.new_buffer(100))

    def replace():
        writer.buffer_size = 64

    together(
        replace,
        lambda: writer.buffer_size,
        lambda: writer.num_bytes_buffered,
        lambda: writer.closed,
        lambda: writer.tell(),
    )


def test_a_writer_is_asked_while_it_writes_its_own_memory(cuda, ctx):
    buffer = ctx.new_buffer(2000)
    part = buffer.slice(10, 1000)
    writer = cuda.BufferWriter(buffer)
    together(lambda: writer.writeat(0, part), lambda: writer.buffer_size, lambda: writer.closed)


def test_a_class_that_is_another_file_too_is_refused(cuda, ctx):
    class Mixed(cuda.BufferReader, pa.MockOutputStream):
        pass

    with pytest.raises(TypeError, match="conflict"):
        Mixed(ctx.buffer_from_data(b"0123456789"))


def test_a_writer_that_another_thread_closes_at_the_end(run_python):
    """Between the question whether it is open, and the flush."""
    code = """
from pyarrow import cuda
class Closing(cuda.BufferWriter):
    def flush(self):
        self.close()
        super().flush()
writer = Closing(cuda.Context(0).new_buffer(10))
print("over")
"""
    assert run_python(code) == (0, "over\n", "")
