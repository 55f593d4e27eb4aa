"""Typed arrays, record batches, many buffers at once; and single calls."""

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure import Case, repeated
from ..peers import NotOffered
from ..space import LEAST, expect, expect_equal, fresh
from .base import Setup


def matrix(size: int) -> np.ndarray[Any, Any]:
    """Doubles, in as many rows as columns."""
    side = max(1, int((size // 8) ** 0.5))
    return fresh(8 * side * side).view(np.int64).reshape(side, side) * 0.5


def batch_of(size: int, columns: int) -> pa.RecordBatch:
    values = 8 * max(1, size // columns // 8)
    arrays = [fresh(values).view(np.int64) * 0.5 for _ in range(columns)]
    return pa.record_batch(arrays, names=[f"column {number}" for number in range(columns)])


def expect_columns(found: Any, batch: pa.RecordBatch) -> None:
    """The columns of a record batch, or a list of arrays, have the values of a batch's."""
    columns = found.columns if isinstance(found, pa.RecordBatch) else found
    for column, wanted in zip(columns, batch.columns, strict=True):
        expect_equal(np.asarray(column), wanted.to_numpy())


def offered(statement: str, names: dict[str, Any]) -> Case:
    """A short statement, unless the objects have no such attribute."""
    try:
        eval(statement, dict(names))
    except AttributeError as error:
        raise NotOffered(str(error)) from None
    return Case(statement, names, is_repeatable=True)


class Typed(Setup):
    def call(self, size: int, *, statement: str) -> Case:
        device, source = self.uploaded(LEAST)
        names = {"buffer": self.peer.buffer(device)}

        def check() -> None:
            if statement.endswith("[5]"):
                expect(eval(statement, dict(names)), int(source[5]), statement)

        return Case(statement, names, check, is_repeatable=True)

    def array_call(self, size: int, *, statement: str) -> Case:
        return offered(statement, {"array": self.peer.array(matrix(LEAST))})

    def batch_call(self, size: int, *, statement: str, columns: int = 1) -> Case:
        """Of a record batch on the device, or of its first column."""
        batch = self.peer.batch_up(batch_of(LEAST, columns))()
        return offered(statement, {"batch": batch, "column": batch[0]})

    def from_cupy(self, size: int) -> Case:
        """A buffer over the memory of a CuPy array."""
        adopt = self.peer.adopt
        try:
            cupy = import_module("cupy")
        except ImportError as error:
            raise NotOffered(str(error)) from None
        source = fresh(size)
        run = partial(adopt, cupy.asarray(source))
        return repeated(run, lambda: expect_equal(self.peer.fresh(run())(), source))

    def array_to_numpy(self, size: int) -> Case:
        host = matrix(size)
        run = self.peer.fresh(self.peer.array(host))
        return self.waited(run, lambda: expect_equal(run(), host))

    def array_from_numpy(self, size: int) -> Case:
        host = matrix(size)
        run = partial(self.peer.array, host)
        return self.waited(run, lambda: expect_equal(self.peer.fresh(run())(), host))

    def array_transpose(self, size: int) -> Case:
        host = matrix(size)
        run, wanted = self.peer.dense_copy(self.peer.array(host).T), np.ascontiguousarray(host.T)
        return self.waited(run, lambda: expect_equal(self.peer.fresh(run())(), wanted))

    def serialize(self, size: int, *, columns: int) -> Case:
        batch = batch_of(size, columns)
        run = self.peer.serialize(batch)
        return self.waited(run, lambda: expect_equal(run().copy_to_host(), batch.serialize()))

    def read(self, size: int, *, columns: int) -> Case:
        batch = batch_of(size, columns)
        run, back = self.peer.read(self.peer.serialize(batch)(), batch.schema), self.peer.batch_down
        return self.waited(run, lambda: expect_columns(back(run())(), batch))

    def batch_up(self, size: int, *, columns: int) -> Case:
        batch, peer = batch_of(size, columns), self.peer
        run = peer.batch_up(batch)
        return self.waited(run, lambda: expect_columns(peer.batch_down(run())(), batch))

    def batch_down(self, size: int, *, columns: int) -> Case:
        batch, peer = batch_of(size, columns), self.peer
        run = peer.batch_down(peer.batch_up(batch)())
        return self.waited(run, lambda: expect_columns(run(), batch))

    def batch_to_second_device(self, size: int, *, columns: int) -> Case:
        self.require_devices(2)
        batch, peer = batch_of(size, columns), self.peer
        run = peer.batch_to_second_device(peer.batch_up(batch)())
        return repeated(run, lambda: expect_columns(peer.batch_down(run())(), batch))

    def buffers_up(self, size: int, *, count: int) -> Case:
        hosts = [fresh(max(1, size // count)) for _ in range(count)]
        run = self.peer.buffers_up(hosts)

        def check() -> None:
            for device, host in zip(run(), hosts, strict=True):
                expect_equal(self.peer.fresh(device)(), host)

        return self.waited(run, check)
