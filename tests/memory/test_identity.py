"""Which contexts are equal, and what they say of themselves."""

import weakref

import pytest


def test_contexts_of_two_devices_differ(ctx, other_ctx):
    assert ctx != other_ctx
    assert len({ctx, other_ctx}) == 2


def test_a_context_equals_nothing_else(ctx):
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
