"""Rows of what real programs do: many threads and processes, results that are kept, memory that
comes and goes, and what copies take of the processors.
"""

from __future__ import annotations

from collections.abc import Iterator

from .row import GB, MS, US, Goal, Row
from .units import size_of, size_text


def under_load() -> Iterator[Row]:
    yield from beside_others()
    yield from first_times()
    yield from one_at_a_time()
    yield from memory_in_use()
    yield from processors()


def beside_others() -> Iterator[Row]:
    for name, size, ways, words, goal in (
        ("both-4MiB", 4 << 20, "up+down", "up and down", Goal(at_least=30 * GB, p99=5 * MS)),
        ("up-256KiB", 256 << 10, "up", "up", Goal(at_least=11 * GB)),
    ):
        yield Row(
            f"threads-{name}",
            f"{size_text(size)} {words} in 8 threads",
            "table",
            "in_threads",
            size,
            (("threads", 8), ("ways", ways)),
            goal,
            as_rate=True,
        )
    yield Row(
        "beside-large-4KiB",
        "4 KiB up beside 256 MiB up of another thread",
        "table",
        "small_beside_large",
        256 << 20,
        (("small", 4096),),
        Goal(at_most=10 * US, p99=30 * US),
    )
    yield Row(
        "processes-64MiB",
        "64 MiB up and down in 8 processes",
        "table",
        "in_processes",
        64 << 20,
        (("processes", 8),),
        Goal(at_least=52 * GB),
        as_rate=True,
    )


def first_times() -> Iterator[Row]:
    yield Row(
        "down-kept-1GiB",
        "1 GiB down, results kept",
        "table",
        "kept",
        1 << 30,
        goal=Goal(at_least=32 * GB),
        limit="staged-down",
        as_rate=True,
    )
    yield Row(
        "first-up-100MiB",
        "first 100 MiB up of a process",
        "table",
        "first_up",
        100 << 20,
        goal=Goal(at_least=25 * GB),
        as_rate=True,
    )


def one_at_a_time() -> Iterator[Row]:
    for name, at_most in (("4 MiB", 150 * US), ("16 MiB", 420 * US)):
        size = size_of(name)
        yield Row(
            f"down-pageable-{name.replace(' ', '')}",
            f"{name} down, pageable",
            "table",
            "down",
            size,
            (("pinned", False),),
            Goal(at_most=at_most),
            "pinned-down",
        )
    yield Row(
        "up-pause-1MiB",
        "1 MiB up after 2 ms without copies",
        "table",
        "up_after_pause",
        1 << 20,
        (("milliseconds", 2),),
        limit="pinned-up",
    )


def memory_in_use() -> Iterator[Row]:
    largest = 256 << 20
    options = (("alive", (8 << 30) // largest),)
    yield Row(
        "random-sizes",
        "allocate or free 1 KiB to 256 MiB, 8 GiB in use",
        "table",
        "random_sizes",
        largest,
        options,
        Goal(at_most=4 * US),
    )
    yield Row(
        "random-reserved",
        "most reserved / most in use, same sizes",
        "table",
        "random_reserved",
        largest,
        options,
        Goal(at_most=1.25),
        counts="ratio",
    )
    yield Row(
        "small-1000x1KiB",
        "device memory of 1000 buffers of 1 KiB",
        "table",
        "small_buffers",
        1000 << 10,
        (("count", 1000),),
        Goal(at_most=64e6),
        counts="bytes",
    )


def processors() -> Iterator[Row]:
    for way in ("up", "down"):
        yield Row(
            f"processor-{way}-1GiB",
            f"processor time of 1 GiB {way}, pageable",
            "table",
            "processor_time",
            1 << 30,
            (("way", way),),
            Goal(at_most=0.18),
            counts="seconds a GB",
        )
    for way in ("up", "down"):
        yield Row(
            f"cores-{way}-1MiB",
            f"cores that 1 MiB {way} keeps busy, pageable",
            "table",
            "cores",
            1 << 20,
            (("way", way),),
            Goal(at_most=4),
            counts="cores",
        )
