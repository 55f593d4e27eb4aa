"""The rows of the benchmark, with their goals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from .row import GB, MS, US, Goal, Row, short
from .rows_load import under_load
from .units import size_of, size_text


def copies() -> Iterator[Row]:
    ways = [("up", True), ("down", False)]
    goals = {
        "up-pageable-1GiB": Goal(at_least=45 * GB),
        "down-pageable-1GiB": Goal(at_least=38 * GB),
        "up-pinned-1GiB": Goal(at_least=54 * GB),
        "up-pageable-4KiB": Goal(at_most=8 * US),
        "up-pageable-1MiB": Goal(at_most=45 * US),
    }
    for memory, sizes in (
        ("pageable", "64 4K 64K 1M 64M 1G"),
        ("pinned", "4K 1M 64M 1G"),
        ("fresh", "4K 1M 64M 1G"),
    ):
        for way, up in ways:
            if memory == "fresh" and up:
                continue
            for size in map(size_of, sizes.split()):
                name = f"{way}-{memory}-{short(size)}"
                kind = "new result" if memory == "fresh" else memory
                yield Row(
                    name,
                    f"{size_text(size)} {way}, {kind}",
                    "table",
                    "fresh" if memory == "fresh" else way,
                    size,
                    (("pinned", memory == "pinned"),) if memory != "fresh" else (),
                    goals.get(name),
                    copy_limit(way, memory, size),
                    as_rate=size > 1 << 20,
                )


def copy_limit(way: str, memory: str, size: int) -> str:
    if memory == "pinned" or size == 1 << 20:
        return f"pinned-{way}"
    return f"staged-{way}" if size > 1 << 20 else f"driver-{way}"


def on_the_device() -> Iterator[Row]:
    for size in map(size_of, ["4K", "64M", "1G"]):
        yield Row(
            f"device-{short(size)}",
            f"{size_text(size)} device to device",
            "table",
            "device_copy",
            size,
            limit="device-copy",
            as_rate=size > 1 << 20,
        )
    for size in map(size_of, ["4K", "1M", "64M", "1G"]):
        goal = Goal(at_most=2 * US) if size == 64 << 20 else None
        name = f"alloc-{short(size)}"
        title = f"allocate and free {size_text(size)}"
        yield Row(name, title, "table", "allocate", size, goal=goal, limit="alloc-async")


def pinned_memory() -> Iterator[Row]:
    for size in map(size_of, ["4K", "64M"]):
        yield Row(
            f"pinned-alloc-{short(size)}",
            f"pin and release {size_text(size)}",
            "table",
            "allocate_pinned",
            size,
            goal=Goal(at_most=5 * US) if size == 64 << 20 else None,
        )


def equality() -> Iterator[Row]:
    size = 1 << 30
    goal = Goal(at_most=520 * US)
    for first, second in ((0, 0), (1, 1), (0, 1), (3, 8)):
        offsets = "" if first == second == 0 else f"-{first}-{second}"
        where = f", {first} and {second} bytes off" if offsets else ""
        yield Row(
            f"equal-1GiB{offsets}",
            f"1 GiB equal{where}",
            "table",
            "equal",
            size,
            (("first", first), ("second", second)),
            goal,
            "device-read",
            2 * size,
        )
    yield Row(
        "equal-4KiB",
        "4 KiB equal",
        "table",
        "equal",
        4096,
        limit="launch",
        limit_size=0,
    )
    yield Row(
        "equal-early",
        "1 GiB, first byte differs",
        "table",
        "equal",
        size,
        (("differs", True),),
        limit="launch",
        limit_size=0,
    )
    yield Row(
        "equal-host",
        "1 GiB equal to host memory",
        "table",
        "equal_host",
        size,
        limit="staged-down",
        as_rate=True,
    )


def batches() -> Iterator[Row]:
    for columns, values, write_goal, read_goal in (
        (64, 100_000, Goal(at_most=1.6 * MS), None),
        (256, 100, Goal(at_most=120 * US), Goal(at_most=100 * US)),
    ):
        shape = f"{columns} x {values} doubles"
        size = 8 * columns * values
        options = (("columns", columns),)
        name = f"{columns}x{values}"
        yield Row(
            f"serialize-{name}",
            f"serialize batch, {shape}",
            "table",
            "serialize",
            size,
            options,
            write_goal,
            "pinned-up",
        )
        yield Row(
            f"read-{name}",
            f"read batch, {shape}",
            "table",
            "read",
            size,
            options,
            read_goal,
            "driver-down",
            4096,
        )


def whole_batches() -> Iterator[Row]:
    large, small = Goal(at_least=42 * GB), {"up": Goal(at_most=MS), "down": Goal(at_most=0.8 * MS)}
    for way in ("up", "down"):
        for values in (100_000, 1000):
            is_large = values == 100_000
            yield Row(
                f"batch-{way}-1000x{values}",
                f"copy batch {way}, 1000 x {values} doubles",
                "table",
                f"batch_{way}",
                8 * 1000 * values,
                (("columns", 1000),),
                large if is_large else small[way],
                f"staged-{way}" if is_large else f"pinned-{way}",
                as_rate=is_large,
            )
    count = 10_000
    yield Row(
        "buffers-10000x1KiB",
        "10,000 buffers of 1 KiB up",
        "table",
        "buffers_up",
        count << 10,
        (("count", count),),
        Goal(at_most=count * 1.5 * US),
        "pinned-up",
    )


def files() -> Iterator[Row]:
    size = 1 << 30
    yield Row(
        "file-up-1GiB",
        "1 GiB of a file in the page cache up",
        "table",
        "file_up",
        size,
        goal=Goal(at_least=40 * GB),
        limit="staged-up",
        as_rate=True,
    )
    for direct, title in ((False, "in the page cache"), (True, "past the page cache")):
        yield Row(
            f"file-{'direct' if direct else 'new'}-1GiB",
            f"1 GiB of a file {title}, as a new buffer",
            "table",
            "file_new",
            size,
            (("direct", direct),),
            None if direct else Goal(at_least=40 * GB),
            "" if direct else "staged-up",
            as_rate=True,
        )
    yield Row(
        "file-down-1GiB",
        "1 GiB down into a file",
        "table",
        "file_down",
        size,
        as_rate=True,
    )
    yield Row(
        "file-parts-64KiB",
        "1 GiB of a file up, read and written by 64 KiB",
        "table",
        "file_parts_up",
        size,
        (("part", 64 << 10),),
        Goal(at_least=8 * GB),
        "staged-up",
        as_rate=True,
    )


def calls() -> Iterator[Row]:
    for name, title, statement, goal, limit in (
        ("slice", "`slice`", "buffer.slice(16, 64)", 0.5, ""),
        ("address", "`.address`", "buffer.address", 0.1, ""),
        ("context", "`.context`", "buffer.context", 0.2, ""),
        ("index", "one byte by its index", "buffer[5]", None, "driver-down"),
    ):
        yield Row(
            name,
            title,
            "table",
            "call",
            options=(("statement", statement),),
            goal=Goal(at_most=goal * US) if goal else None,
            limit=limit,
            limit_size=1 if limit else None,
        )


def arrays() -> Iterator[Row]:
    for name, title, statement, goal in (
        ("index", "a row of an array", "array[1]", 1),
        ("slice", "a part of an array", "array[1:-1, ::2]", 1),
        ("dlpack", "`__dlpack__` of an array", "array.__dlpack__()", 0.5),
    ):
        options = (("statement", statement),)
        at_most = Goal(at_most=goal * US)
        yield Row(f"array-{name}", title, "table", "array_call", options=options, goal=at_most)
    for way, limit in (("to", "staged-down"), ("from", "staged-up")):
        yield Row(
            f"array-{way}-numpy-1GiB",
            f"1 GiB array {way} NumPy",
            "table",
            f"array_{way}_numpy",
            1 << 30,
            limit=limit,
            as_rate=True,
        )
    yield Row(
        "array-transpose-512MiB",
        "transpose 512 MiB of doubles",
        "table",
        "array_transpose",
        512 << 20,
        limit="device-copy",
        as_rate=True,
    )


def streams() -> Iterator[Row]:
    yield Row(
        "stream-4KiB",
        "4 KiB up, pinned, on a stream",
        "table",
        "stream_copy",
        4096,
        limit="pinned-up",
    )
    yield Row(
        "stream-busy-512",
        "queue 4 KiB up beside 512 busy streams",
        "table",
        "queue_beside_busy",
        4096,
        (("streams", 512),),
        Goal(at_most=5 * US),
    )
    for name, title, work, size, goal in (
        ("alloc-busy-64MiB", "allocate and free 64 MiB", "allocate_beside_busy", 64 << 20, 2),
        ("up-busy-4KiB", "new buffer of 4 KiB", "up_beside_busy", 4096, 14),
    ):
        title += " beside a busy stream"
        yield Row(name, title, "table", work, size, goal=Goal(at_most=goal * US))
    yield Row(
        "stream-both-64MiB",
        "64 MiB up and down at once, pinned",
        "table",
        "both_ways",
        128 << 20,
        limit="pinned-both",
        as_rate=True,
    )


def between_devices() -> Iterator[Row]:
    yield Row(
        "devices-1GiB",
        "1 GiB from one device to another",
        "table",
        "to_second_device",
        1 << 30,
        goal=Goal(at_least=390 * GB),
        as_rate=True,
    )


def sweep() -> Iterator[Row]:
    for power in range(6, 33, 2):
        for way in ("up", "down"):
            for memory in ("pageable", "pinned"):
                size = 1 << power
                yield Row(
                    f"sweep-{way}-{memory}-{short(size)}",
                    f"{size_text(size)} {way}, {memory}",
                    "sweep",
                    way,
                    size,
                    (("pinned", memory == "pinned"),),
                    as_rate=size > 1 << 20,
                )


ROWS: tuple[Row, ...] = (
    *copies(),
    *on_the_device(),
    *pinned_memory(),
    *equality(),
    *batches(),
    *whole_batches(),
    *files(),
    *calls(),
    *arrays(),
    *streams(),
    *between_devices(),
    *under_load(),
    *sweep(),
)
PARTS = ("limits", "table", "sweep")


def chosen(words: Sequence[str], rows: Iterable[Row] = ROWS) -> list[Row]:
    """The rows whose part, name or pattern (`up-*`) is among the words.

    Raises ValueError for a word that chooses nothing.
    """
    rows = list(rows)
    found = []
    for word in words:
        matching = [row for row in rows if row.part == word or fnmatchcase(row.name, word)]
        if not matching and word not in PARTS:
            raise ValueError(f"no row, pattern or part: {word!r}; --list tells what there is")
        found += matching
    return [row for row in rows if row in found]
