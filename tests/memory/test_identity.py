"""Which contexts and handles are equal, and what they say of themselves."""

import operator
import re
import weakref

import pyarrow as pa
import pytest


def test_objects_for_one_context_are_equal(cuda, ctx):
    again, borrowed = cuda.Context(0), cuda.Context(0, ctx.handle)
    buffer = ctx.new_buffer(1)
    for other in (ctx, again, borrowed, buffer.context):
        assert other == ctx
        assert not operator.ne(other, ctx)
        assert hash(other) == hash(ctx)
    assert {ctx: "one"}[borrowed] == "one"
    assert len({ctx, again, borrowed}) == 1


def test_contexts_of_two_devices_differ(ctx, other_ctx):
    assert ctx != other_ctx
    assert len({ctx, other_ctx}) == 2


def test_a_context_equals_nothing_else(ctx):
    for other in (None, 0, ctx.handle, "context", object()):
        assert ctx != other
    assert ctx.__eq__(0) is NotImplemented
    with pytest.raises(TypeError, match="not supported"):
        _ = ctx < ctx


def test_a_context_of_another_library(cuda, ctx, driver):
    handle = driver.create_context()
    theirs = cuda.Context(0, handle)
    assert theirs != ctx
    assert theirs == cuda.Context(0, handle)
    before = (hash(theirs), repr(theirs))
    assert before[1].endswith("is_primary=False>")
    driver.destroy_context(handle)
    # It is gone; what it was to others stays.
    assert theirs == theirs
    assert theirs != ctx
    assert (hash(theirs), repr(theirs)) == before


def test_a_subclass_is_still_the_same_context(cuda, ctx):
    class Mine(cuda.Context):
        pass

    mine = Mine(0)
    assert mine == ctx
    assert hash(mine) == hash(ctx)
    assert weakref.ref(mine)() is mine


def test_the_text_of_a_context(ctx):
    text = "<pyarrow.cuda.Context device_number=0 handle=0x[0-9a-f]+ is_primary=True>"
    assert re.fullmatch(text, repr(ctx))
    assert hex(ctx.handle) in repr(ctx)


@pytest.mark.subprocesses
def test_a_context_after_a_reset(run_python):
    """The next primary context has the same handle, and is another one."""
    code, out, err = run_python("""
from pyarrow import cuda
from pyarrow_cuda_compat import _native
before = cuda.Context(0)
was = hash(before), repr(before)
_native._reset_device(0)
after = cuda.Context(0)
print(after.handle == before.handle, after == before, len({before, after}))
print(before == before, was == (hash(before), repr(before)))
""")
    assert code == 0, err
    handles, rest = out.split("\n", 1)
    assert handles.endswith("False 2")
    assert rest == "True True\n"


@pytest.mark.leaks
def test_handles_of_the_same_bytes_are_equal(cuda, ctx):
    buffer, other = ctx.buffer_from_data(b"shared"), ctx.buffer_from_data(b"others")
    handle = buffer.export_for_ipc()
    received = cuda.IpcMemHandle.from_buffer(handle.serialize())
    assert handle == received
    assert hash(handle) == hash(received)
    assert {handle, received, other.export_for_ipc()} == {handle, other.export_for_ipc()}
    assert handle != other.export_for_ipc()
    assert handle != buffer.slice(1, 2).export_for_ipc()
    assert handle != handle.serialize().to_pybytes()
    assert handle.__eq__(None) is NotImplemented


@pytest.mark.leaks
def test_the_text_of_a_handle_opens_nothing(cuda, ctx):
    handle = ctx.buffer_from_data(b"shared").slice(2, 3).export_for_ipc()
    # Where the buffer lies in its allocation depends on what else is cached.
    assert re.fullmatch(r"<pyarrow\.cuda\.IpcMemHandle size=3 offset=\d+>", repr(handle))
    empty = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes(8)))
    assert repr(empty) == "<pyarrow.cuda.IpcMemHandle size=0 offset=0>"
