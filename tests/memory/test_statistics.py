"""How much memory is free, and how much was needed."""

import pytest

import pyarrow_cuda_compat as compat

MIB = 1 << 20
PEAKS = "peak_allocated_bytes", "peak_reserved_bytes"


@pytest.mark.alone
def test_free_memory_is_the_devices(ctx):
    compat.empty_cache(ctx)
    free, total = compat.mem_get_info()
    assert 0 < free <= total
    buffer = ctx.new_buffer(64 * MIB)
    assert free - compat.mem_get_info(0)[0] >= 64 * MIB
    del buffer
    # Cached memory is not free for others.
    assert free - compat.mem_get_info(ctx)[0] >= 64 * MIB
    compat.empty_cache()
    assert compat.mem_get_info(device=0) == (free, total)


@pytest.mark.alone  # what is free counts the memory of all processes
def test_each_device_has_its_own(ctx, other_ctx):
    before = compat.mem_get_info(other_ctx)
    buffer = ctx.new_buffer(64 * MIB)
    assert compat.mem_get_info(1) == before
    del buffer


def test_peaks_begin_again(ctx, other_ctx):
    kept = ctx.new_buffer(1000)
    del kept
    there = ctx.new_buffer(5 * MIB), other_ctx.new_buffer(3 * MIB)
    others = compat.memory_stats(other_ctx)
    del there
    before = compat.memory_stats(ctx)
    compat.reset_peak_memory_stats(ctx)
    stats = compat.memory_stats(ctx)
    assert stats["peak_allocated_bytes"] == stats["allocated_bytes"] == ctx.bytes_allocated
    assert stats["peak_reserved_bytes"] == stats["reserved_bytes"]
    # Nothing else has changed: what is cached stays, and another device has its own peaks.
    assert {name for name in stats if stats[name] != before[name]} <= set(PEAKS)
    assert compat.memory_stats(1)["peak_allocated_bytes"] == others["peak_allocated_bytes"]
    buffer = ctx.new_buffer(7 * MIB)
    del buffer
    peak = compat.memory_stats(ctx)["peak_allocated_bytes"]
    assert peak == stats["allocated_bytes"] + 7 * MIB
