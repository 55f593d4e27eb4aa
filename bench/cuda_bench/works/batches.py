"""Record batches, and many buffers at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from ..measure import Case
from ..space import Host, expect, expect_equal
from .base import Setup, work


def batch_of(setup: Setup, size: int, columns: int) -> pa.RecordBatch:
    values = 8 * max(1, size // columns // 8)
    arrays = [setup.space.fresh(values).array.view(np.int64) * 0.5 for _ in range(columns)]
    return pa.record_batch(arrays, names=[f"column {number}" for number in range(columns)])


def expect_columns(found: Any, batch: pa.RecordBatch) -> None:
    """The columns of a record batch, or a list of arrays, have the values of a batch's."""
    columns = found.columns if isinstance(found, pa.RecordBatch) else found
    expect(len(columns), batch.num_columns, "the number of columns")
    for column, wanted in zip(columns, batch.columns, strict=True):
        expect(np.array_equal(np.asarray(column), wanted.to_numpy()), True, "a column's values")


@work
def serialize(setup: Setup, size: int, *, columns: int) -> Case:
    batch = batch_of(setup, size, columns)
    run = setup.peer.serialize(batch)
    wanted = Host(np.frombuffer(batch.serialize(), np.uint8))
    return setup.waited(run, lambda: expect_equal(run().copy_to_host(), wanted))


@work
def read(setup: Setup, size: int, *, columns: int) -> Case:
    batch = batch_of(setup, size, columns)
    run = setup.peer.read(setup.peer.serialize(batch)(), batch.schema)

    def check() -> None:
        there = run().copy_to(pa.default_cpu_memory_manager())
        expect(there.equals(batch), True, "the batch that was read is the one that was sent")

    return setup.waited(run, check)


@work
def batch_up(setup: Setup, size: int, *, columns: int) -> Case:
    batch = batch_of(setup, size, columns)
    run = setup.peer.batch_up(batch)
    return setup.waited(run, lambda: expect_columns(setup.peer.batch_down(run())(), batch))


@work
def batch_down(setup: Setup, size: int, *, columns: int) -> Case:
    batch = batch_of(setup, size, columns)
    run = setup.peer.batch_down(setup.peer.batch_up(batch)())
    return setup.waited(run, lambda: expect_columns(run(), batch))


@work
def buffers_up(setup: Setup, size: int, *, count: int) -> Case:
    hosts = [setup.space.fresh(max(1, size // count)) for _ in range(count)]
    run = setup.peer.buffers_up(hosts)

    def check() -> None:
        for device, host in zip(run(), hosts, strict=True):
            expect_equal(setup.peer.fresh(device)(), host)

    return setup.waited(run, check)
