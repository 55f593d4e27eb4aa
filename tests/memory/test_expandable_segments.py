"""Device memory that the driver maps in chunks, where buffers need them."""

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import empty_cache, memory_stats, set_expandable_segments

MIB = 1 << 20


@pytest.fixture
def expand():
    set_expandable_segments(True)
    yield
    set_expandable_segments(False)


@pytest.fixture
def buffer(ctx, expand):
    """A buffer whose memory lies in several chunks."""
    return ctx.buffer_from_data(bytes(range(256)) * (17 << 12))


def test_export_says_why_it_is_refused_and_what_to_do(ctx, buffer):
    view = ctx.foreign_buffer(buffer.address, buffer.size, base=buffer)
    for each in buffer, buffer.slice(5, 100), view:
        with pytest.raises(pa.ArrowInvalid, match=r"expandable segment.* copy it .*\(False\)"):
            each.export_for_ipc()
    set_expandable_segments(False)
    copy = ctx.buffer_from_data(buffer)
    assert copy.equals(buffer)
    ctx.new_buffer(MIB)


def test_views_end_where_the_buffer_does(ctx, buffer):
    view = ctx.foreign_buffer(buffer.address + 3, buffer.size - 3, base=buffer)
    assert view.slice(view.size - 9).to_pybytes() == buffer.slice(buffer.size - 9).to_pybytes()
    with pytest.raises((ValueError, pa.ArrowInvalid), match="out-of-range"):
        ctx.foreign_buffer(buffer.address + 3, buffer.size, base=buffer)


def test_memory_comes_back_and_is_counted(ctx, expand):
    empty_cache(ctx)
    before = memory_stats(ctx)
    kept = [ctx.new_buffer(size * MIB) for size in (5, 9, 5)]
    del kept[::2]
    stats = memory_stats(ctx)
    assert 8 * MIB <= stats["cached_bytes"] - before["cached_bytes"] <= 10 * MIB
    assert empty_cache(ctx) == stats["cached_bytes"]
    assert memory_stats(ctx)["cached_bytes"] == 0
    kept.clear()
    empty_cache(ctx)
    assert memory_stats(ctx)["reserved_bytes"] == before["reserved_bytes"]


def test_only_bools_are_taken():
    for value in 1, "on", None:
        with pytest.raises(TypeError):
            set_expandable_segments(value)


@pytest.mark.parametrize("value", ["1", "on", "off", "yes"])
def test_the_environment_sets_it(run_python, value):
    code = (
        "from pyarrow import cuda\nbuf = cuda.Context(0).new_buffer(2 << 20)\n"
        "try:\n    buf.export_for_ipc()\n"
        "except Exception as error:\n    print(type(error).__name__)"
    )
    _, out, err = run_python(code, PYARROW_CUDA_EXPANDABLE_SEGMENTS=value)
    assert out == ("ArrowInvalid\n" if value in ("1", "on") else "")
    assert ("must be 'on' or 'off', not 'yes'" in err) == (value == "yes")
