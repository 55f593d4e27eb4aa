"""Calls of the driver that take about a microsecond."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import byref, c_int, c_uint64, c_void_p
from functools import partial

from ..measure import Case, measure
from .base import Bench, Limit


def alloc(bench: Bench, size: int) -> Limit:
    allocate = bench.driver.function("cuMemAlloc_v2", quick=True)
    free = bench.driver.function("cuMemFree_v2", quick=True)
    address = c_uint64()
    return pair(bench, partial(allocate, byref(address), size), lambda: free(address.value))


def alloc_async(bench: Bench, size: int) -> Limit:
    """From the driver's pool, whose memory cannot be shared with other processes."""
    allocate = bench.driver.function("cuMemAllocAsync", quick=True)
    free = bench.driver.function("cuMemFreeAsync", quick=True)
    address = c_uint64()
    limit = pair(
        bench, partial(allocate, byref(address), size, None), lambda: free(address.value, None)
    )
    bench.driver.call("cuStreamSynchronize", None)
    return limit


def push_pop(bench: Bench, size: int) -> Limit:
    push = bench.driver.function("cuCtxPushCurrent_v2", quick=True)
    pop = bench.driver.function("cuCtxPopCurrent_v2", quick=True)
    popped = c_void_p()
    return pair(bench, partial(push, bench.driver.context), partial(pop, byref(popped)))


def pair(bench: Bench, first: Callable[[], int], second: Callable[[], int]) -> Limit:
    if first() or second():
        raise RuntimeError("the driver refused it")
    case = Case("first(); second()", {"first": first, "second": second}, is_repeatable=True)
    return Limit(measure(case, bench.budget), "two calls by ctypes, whose own cost is in it")


def ctypes_call(bench: Bench, size: int) -> Limit:
    """What it costs to call the driver by ctypes at all."""
    ask = bench.driver.function("cuDriverGetVersion", quick=True)
    version = c_int()
    case = Case.plain(partial(ask, byref(version)))
    return Limit(measure(case, bench.budget), "cuDriverGetVersion by ctypes")


LIMITS: dict[str, Callable[[Bench, int], Limit]] = {
    "alloc": alloc,
    "alloc-async": alloc_async,
    "push-pop": push_pop,
    "ctypes": ctypes_call,
}
