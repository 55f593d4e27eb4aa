"""How a row's work is prepared with a peer, and how its result is checked."""

from __future__ import annotations

from collections.abc import Callable
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pyarrow as pa

from .measure import Case
from .peers import NotOffered, Peer
from .space import LEAST, Host, Space, expect, expect_equal

Work = Callable[..., Case]

# For how long streams are kept busy, in seconds: longer than anybody needs to use them.
BUSY = 0.5
# Buffers that are compared at other alignments lie in larger ones.
MARGIN = 16


def up(peer: Peer, space: Space, size: int, *, pinned: bool) -> Case:
    device = peer.allocator(size)()
    source = space.source(size, pinned=pinned)

    def check() -> None:
        expect_device(peer, space, device, source)

    return Case.waited(peer.upload(device, source), peer.waiter(), check)


def expect_device(peer: Peer, space: Space, device: Any, wanted: Host) -> None:
    """Its content, by way of the ordinary memory that no source lies in."""
    target = space.target(wanted.size)
    peer.download(device, target)()
    peer.waiter()()
    expect_equal(target.array, wanted)


def uploaded(peer: Peer, space: Space, size: int) -> tuple[Any, Host]:
    device = peer.allocator(size)()
    source = space.source(size)
    peer.upload(device, source)()
    peer.waiter()()
    return device, source


def down(peer: Peer, space: Space, size: int, *, pinned: bool) -> Case:
    device, source = uploaded(peer, space, size)
    target = space.target(size, pinned=pinned)

    def check() -> None:
        expect_equal(target.array, source)

    return Case.waited(peer.download(device, target), peer.waiter(), check)


def fresh(peer: Peer, space: Space, size: int) -> Case:
    device, source = uploaded(peer, space, size)
    download = peer.fresh(device)
    return Case.waited(download, peer.waiter(), lambda: expect_equal(download(), source))


def device_copy(peer: Peer, space: Space, size: int) -> Case:
    first, source = uploaded(peer, space, size)
    second = peer.allocator(size)()

    def check() -> None:
        expect_device(peer, space, second, source)

    return Case.waited(peer.device_copy(first, second), peer.waiter(), check)


def allocate(peer: Peer, space: Space, size: int) -> Case:
    allocator = peer.allocator(size)

    def check() -> None:
        device, source = allocator(), space.source(size)
        peer.upload(device, source)()
        expect_device(peer, space, device, source)

    return Case.plain(allocator, check)


def allocate_pinned(peer: Peer, space: Space, size: int) -> Case:
    allocator = peer.pinned_allocator(size)

    def check() -> None:
        memory, device, source = allocator(), peer.allocator(size)(), space.source(size)
        # CuPy's and Arrow's have the buffer protocol, PyTorch's is an array.
        array = np.asarray(memory) if hasattr(memory, "__array__") else np.frombuffer(memory, "u1")
        pinned = Host(array[:size], is_pinned=True)
        pinned.array[:] = source.array
        peer.upload(device, pinned)()
        expect_device(peer, space, device, source)

    return Case.plain(allocator, check)


def equal(
    peer: Peer, space: Space, size: int, *, first: int = 0, second: int = 0, differs: bool = False
) -> Case:
    source = space.source(size)
    views = []
    for offset in (first, second):
        view = peer.view(peer.allocator(size + MARGIN)(), offset, size)
        peer.upload(view, source)()
        views.append(view)
    compare = peer.equal(*views)

    def change(at: int) -> None:
        host = Host(source.array[at : at + 1] ^ np.uint8(255))
        peer.upload(peer.view(views[1], at, 1), host)()
        peer.waiter()()

    if differs:
        change(0)

    def check() -> None:
        expect(bool(compare()), not differs, "the comparison")
        if not differs:
            at = space.number(size)
            change(at)
            expect(bool(compare()), False, f"the comparison, with a difference at byte {at}")

    peer.waiter()()
    return Case.waited(compare, peer.waiter(), check)


def equal_host(peer: Peer, space: Space, size: int) -> Case:
    device, source = uploaded(peer, space, size)
    compare = peer.equal_host(device, source)

    def check() -> None:
        expect(bool(compare()), True, "the comparison")
        source.array[space.number(size)] ^= 255
        expect(bool(compare()), False, "the comparison, with a difference")

    return Case.waited(compare, peer.waiter(), check)


def batch_of(space: Space, size: int, columns: int) -> pa.RecordBatch:
    values = max(1, size // columns // 8)
    arrays = [pa.array(space.fresh(8 * values).array.view(np.int64) * 0.5) for _ in range(columns)]
    return pa.record_batch(arrays, names=[f"column {number}" for number in range(columns)])


def serialize(peer: Peer, space: Space, size: int, *, columns: int) -> Case:
    batch = batch_of(space, size, columns)
    run = peer.serialize(batch)

    def check() -> None:
        wanted = Host(np.frombuffer(batch.serialize(), np.uint8))
        expect_equal(run().copy_to_host(), wanted)

    return Case.waited(run, peer.waiter(), check)


def read(peer: Peer, space: Space, size: int, *, columns: int) -> Case:
    batch = batch_of(space, size, columns)
    run = peer.read(peer.serialize(batch)(), batch.schema)

    def check() -> None:
        there = run().copy_to(pa.default_cpu_memory_manager())
        expect(there.equals(batch), True, "the batch that was read is the one that was sent")

    return Case.waited(run, peer.waiter(), check)


def expect_columns(found: Any, batch: pa.RecordBatch) -> None:
    """The columns of a record batch, or a list of arrays, have the values of a batch's."""
    columns = found.columns if isinstance(found, pa.RecordBatch) else found
    expect(len(columns), batch.num_columns, "the number of columns")
    for column, wanted in zip(columns, batch.columns, strict=True):
        expect(np.array_equal(np.asarray(column), wanted.to_numpy()), True, "a column's values")


def batch_up(peer: Peer, space: Space, size: int, *, columns: int) -> Case:
    batch = batch_of(space, size, columns)
    run = peer.batch_up(batch)

    def check() -> None:
        expect_columns(peer.batch_down(run())(), batch)

    return Case.waited(run, peer.waiter(), check)


def batch_down(peer: Peer, space: Space, size: int, *, columns: int) -> Case:
    batch = batch_of(space, size, columns)
    run = peer.batch_down(peer.batch_up(batch)())
    return Case.waited(run, peer.waiter(), lambda: expect_columns(run(), batch))


def buffers_up(peer: Peer, space: Space, size: int, *, count: int) -> Case:
    hosts = [space.fresh(max(1, size // count)) for _ in range(count)]
    run = peer.buffers_up(hosts)

    def check() -> None:
        for device, host in zip(run(), hosts, strict=True):
            expect_equal(peer.fresh(device)(), host)

    return Case.waited(run, peer.waiter(), check)


def file_of(host: Host) -> Any:
    """A file with these bytes, which are in the page cache; it goes with its last reference."""
    file = NamedTemporaryFile()  # noqa: SIM115  (closed by its destructor)
    file.write(host.array.data)
    file.flush()
    return file


def file_up(peer: Peer, space: Space, size: int) -> Case:
    device, source = peer.allocator(size)(), space.source(size)
    file = file_of(source)
    run = peer.file_up(device, file.name)

    def check() -> None:
        expect(file.closed, False, "whether the file is closed")
        expect_device(peer, space, device, source)

    return Case.waited(run, peer.waiter(), check)


def file_parts_up(peer: Peer, space: Space, size: int, *, part: int) -> Case:
    device, source = peer.allocator(size)(), space.source(size)
    file = file_of(source)
    run = peer.file_parts_up(device, file.name, part)

    def check() -> None:
        expect(file.closed, False, "whether the file is closed")
        expect_device(peer, space, device, source)

    return Case.waited(run, peer.waiter(), check)


def call(peer: Peer, space: Space, size: int, *, statement: str) -> Case:
    device, source = uploaded(peer, space, LEAST)
    names = peer.call_names(device)

    def check() -> None:
        if statement.endswith("[5]"):
            expect(eval(statement, dict(names)), int(source.array[5]), statement)

    return Case(statement, names, check, is_repeatable=True)


def matrix(space: Space, size: int) -> np.ndarray[Any, Any]:
    """Doubles, in as many rows as columns."""
    side = max(1, int((size // 8) ** 0.5))
    return space.fresh(8 * side * side).array.view(np.int64).reshape(side, side) * 0.5


def array_call(peer: Peer, space: Space, size: int, *, statement: str) -> Case:
    host = matrix(space, LEAST)
    names = {"array": peer.array(host)}
    try:
        eval(statement, dict(names))
    except AttributeError as error:
        raise NotOffered(str(error)) from None
    return Case(statement, names, lambda: None, is_repeatable=True)


def array_to_numpy(peer: Peer, space: Space, size: int) -> Case:
    host = matrix(space, size)
    run = peer.to_numpy(peer.array(host))

    def check() -> None:
        expect(np.array_equal(run(), host), True, "the array that came back")

    return Case.waited(run, peer.waiter(), check)


def array_from_numpy(peer: Peer, space: Space, size: int) -> Case:
    host = matrix(space, size)

    def run() -> Any:
        return peer.array(host)

    def check() -> None:
        expect(np.array_equal(peer.to_numpy(run())(), host), True, "the array that was sent")

    return Case.waited(run, peer.waiter(), check)


def array_transpose(peer: Peer, space: Space, size: int) -> Case:
    host = matrix(space, size)
    run = peer.dense_copy(peer.array(host).T)

    def check() -> None:
        expect(np.array_equal(peer.to_numpy(run())(), host.T), True, "the transposed matrix")

    return Case.waited(run, peer.waiter(), check)


def stream_copy(peer: Peer, space: Space, size: int) -> Case:
    device = peer.allocator(size)()
    source = space.source(size, pinned=True)
    peer.waiter()()
    run = peer.stream_copy(device, source)
    return Case.plain(run, lambda: expect_device(peer, space, device, source))


def queue_beside_busy(peer: Peer, space: Space, size: int, *, streams: int) -> Case:
    device = peer.allocator(size)()
    source = space.source(size, pinned=True)
    peer.waiter()()
    queue, handles = peer.queued_copies(device, source, streams + 1)
    space.driver.hold(handles, BUSY)
    *others, run = queue
    for other in others:
        other()

    def check() -> None:
        space.driver.call("cuCtxSynchronize")
        expect_device(peer, space, device, source)

    return Case("run()", {"run": run}, check, most=200)


def allocate_beside_busy(peer: Peer, space: Space, size: int) -> Case:
    run = peer.allocator(size)
    run()
    return beside_busy(run, space, lambda: None)


def up_beside_busy(peer: Peer, space: Space, size: int) -> Case:
    allocator, wait, source = peer.allocator(size), peer.waiter(), space.source(size)

    def run() -> object:
        device = allocator()
        peer.upload(device, source)()
        wait()
        return device

    return beside_busy(run, space, lambda: expect_device(peer, space, run(), source))


def beside_busy(run: Callable[[], object], space: Space, check: Callable[[], None]) -> Case:
    """While a stream is busy that nobody else uses."""
    space.driver.call("cuCtxSynchronize")
    space.driver.hold([space.driver.make_stream()], BUSY)

    def checked() -> None:
        space.driver.call("cuCtxSynchronize")
        check()

    return Case("run()", {"run": run}, checked, most=200)


def to_second_device(peer: Peer, space: Space, size: int) -> Case:
    device, source = uploaded(peer, space, size)
    there, run = peer.to_second_device(device)
    return Case.plain(run, lambda: expect_device(peer, space, there, source))


def both_ways(peer: Peer, space: Space, size: int) -> Case:
    part = size // 2
    there, back = peer.allocator(part)(), peer.allocator(part)()
    source = space.source(part, pinned=True)
    target = space.target(part, pinned=True, start=part)
    sent = space.fresh(part)
    peer.upload(back, sent)()
    peer.waiter()()
    run = peer.both_ways(there, source, back, target)

    def check() -> None:
        expect_device(peer, space, there, source)
        expect_equal(target.array, sent)

    return Case.plain(run, check)


WORKS: dict[str, Work] = {
    work.__name__: work
    for work in (
        up,
        down,
        fresh,
        device_copy,
        allocate,
        allocate_pinned,
        equal,
        equal_host,
        serialize,
        read,
        batch_up,
        batch_down,
        buffers_up,
        file_up,
        file_parts_up,
        call,
        array_call,
        array_to_numpy,
        array_from_numpy,
        array_transpose,
        stream_copy,
        queue_beside_busy,
        allocate_beside_busy,
        up_beside_busy,
        both_ways,
        to_second_device,
    )
}
