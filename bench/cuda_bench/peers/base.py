"""What a peer can be asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from ..space import Host

Call = Callable[[], object]


class Missing(Exception):
    """A peer that is not here, and why."""


class NotOffered(Exception):
    """What a peer has no call for."""


def imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise Missing(str(error)) from None


class Peer:
    """Calls that are ready to be timed: nothing of the benchmark's own runs in them.

    `Any` is the peer's own kind of device memory, of single bytes.
    """

    title: ClassVar[str]

    def versions(self) -> dict[str, str]:
        raise NotImplementedError

    def waiter(self) -> Call:
        """A call that waits for the default stream."""
        raise NotImplementedError

    def allocator(self, size: int) -> Callable[[], Any]:
        """A call that gives device memory, which goes with its last reference."""
        raise NotImplementedError

    def pinned_allocator(self, size: int) -> Callable[[], Any]:
        """A call that gives pinned host memory for NumPy, which goes with its last reference."""
        raise NotOffered("no pinned memory")

    def view(self, device: Any, start: int, size: int) -> Any:
        raise NotImplementedError

    def upload(self, device: Any, host: Host) -> Call:
        raise NotImplementedError

    def download(self, device: Any, host: Host) -> Call:
        raise NotImplementedError

    def fresh(self, device: Any) -> Callable[[], Any]:
        """A call that gives the bytes in new host memory."""
        raise NotImplementedError

    def device_copy(self, source: Any, target: Any) -> Call:
        raise NotImplementedError

    def equal(self, first: Any, second: Any) -> Call:
        raise NotOffered("no comparison on the device")

    def equal_host(self, device: Any, host: Host) -> Call:
        """As its users would compare device memory with host memory."""
        raise NotOffered("no comparison")

    def serialize(self, batch: Any) -> Callable[[], Any]:
        raise NotOffered("no record batches")

    def read(self, message: Any, schema: Any) -> Callable[[], Any]:
        raise NotOffered("no record batches")

    def batch_up(self, batch: Any) -> Callable[[], Any]:
        """A record batch to the device: as one, or a list of its columns, as its users would."""
        raise NotOffered("no typed arrays")

    def batch_down(self, there: Any) -> Callable[[], Any]:
        """What `batch_up` has made to new host memory: a record batch, or a list of arrays."""
        raise NotOffered("no typed arrays")

    def buffers_up(self, hosts: Sequence[Host]) -> Callable[[], Sequence[Any]]:
        """New device memory for each, as its users would make it."""
        raise NotOffered("no such call")

    def file_up(self, device: Any, path: str) -> Call:
        """A whole file to device memory of its size, as its users would: from a mapping of it."""

        def run() -> None:
            self.upload(device, Host(np.memmap(path, np.uint8, "r")))()

        return run

    def file_parts_up(self, device: Any, path: str, part: int) -> Call:
        """The same, by a loop that reads and writes `part` bytes at a time."""
        raise NotOffered("no file over device memory")

    def file_new(self, path: str, direct: bool) -> Callable[[], Any]:
        """A whole file to new device memory; past the page cache if `direct`."""
        raise NotOffered("no such call")

    def file_down(self, device: Any, path: str) -> Call:
        """A whole file from device memory."""
        raise NotOffered("no such call")

    def array(self, host: Any) -> Any:
        """A typed array on the device, with the elements of a NumPy array."""
        raise NotOffered("no typed arrays")

    def to_numpy(self, array: Any) -> Callable[[], Any]:
        raise NotOffered("no typed arrays")

    def dense_copy(self, array: Any) -> Callable[[], Any]:
        """A copy on the device, in C order, of an array in another one."""
        raise NotOffered("no copies in another order")

    def call_names(self, device: Any) -> dict[str, object]:
        """What statements like `buffer.address` are about."""
        raise NotOffered("no such call")

    def stream_copy(self, device: Any, host: Host) -> Call:
        """An upload from pinned memory on a stream of its own, and the wait for it."""
        raise NotOffered("no streams")

    def queued_copies(self, device: Any, host: Host, count: int) -> tuple[list[Call], list[int]]:
        """Calls that queue an upload from pinned memory, each on a stream of its own, and the
        handles of these streams.
        """
        raise NotOffered("no streams")

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        """Memory of another device, and a call that copies to it and waits for that."""
        raise NotOffered("no copies between devices")

    def both_ways(self, up: Any, source: Host, down: Any, target: Host) -> Call:
        """Two pinned copies on two streams, and the wait for both."""
        raise NotOffered("no streams")

    def on_thread(self) -> AbstractContextManager[Call]:
        """While a thread makes copies beside others: they go on a stream of its own, where streams
        are what keeps them apart.  It gives a call that waits for these copies alone.
        """
        raise NotOffered("not measured in several threads")

    def maker(self) -> Callable[[], Peer]:
        """What makes such a peer in another process."""
        raise NotOffered("not measured in other processes")

    def reserved(self) -> int:
        """The bytes of device memory that it has of the driver, in use or not."""
        raise NotOffered("does not say how much it has reserved")

    def trim(self) -> None:
        """Gives unused memory back to the driver."""
