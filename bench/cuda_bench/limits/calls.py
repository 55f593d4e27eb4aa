"""Calls of the driver that take about a microsecond."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_int, c_uint64, c_void_p
from functools import partial

from ..measure import Case
from .base import Bench, Limit, named


@named("alloc")
def alloc(bench: Bench, size: int) -> Limit:
    allocate = bench.driver.function("cuMemAlloc_v2", quick=True)
    free = bench.driver.function("cuMemFree_v2", quick=True)
    address = c_uint64()
    return pair(bench, partial(allocate, byref(address), size), lambda: free(address.value))


@named("alloc-async")
def alloc_async(bench: Bench, size: int) -> Limit:
    """From the driver's pool, whose memory cannot be shared with other processes."""
    allocate = bench.driver.function("cuMemAllocAsync", quick=True)
    free = bench.driver.function("cuMemFreeAsync", quick=True)
    address = c_uint64()
    allocated = partial(allocate, byref(address), size, None)
    limit = pair(bench, allocated, lambda: free(address.value, None))
    bench.driver.call("cuStreamSynchronize", None)
    return limit


@named("push-pop")
def push_pop(bench: Bench, size: int) -> Limit:
    push = bench.driver.function("cuCtxPushCurrent_v2", quick=True)
    pop = bench.driver.function("cuCtxPopCurrent_v2", quick=True)
    return pair(bench, partial(push, bench.driver.context), partial(pop, byref(c_void_p())))


def pair(bench: Bench, first: Callable[[], int], second: Callable[[], int]) -> Limit:
    if first() or second():
        raise RuntimeError("the driver refused it")
    case = Case("first(); second()", {"first": first, "second": second}, is_repeatable=True)
    return bench.limit(case, "two calls by ctypes, whose own cost is in it")


@named("ctypes")
def ctypes_call(bench: Bench, size: int) -> Limit:
    """The cost of a call of the driver by ctypes at all."""
    ask = bench.driver.function("cuDriverGetVersion", quick=True)
    return bench.limit(Case.plain(partial(ask, byref(c_int()))), "cuDriverGetVersion by ctypes")
