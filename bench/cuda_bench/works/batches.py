"""Record batches, and many buffers at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ..measure import Case
from ..peers import Peer
from ..space import Host, Space, expect, expect_equal


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
