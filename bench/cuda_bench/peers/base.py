"""The calls that a row can ask a library for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from ..space import Host

Call = Callable[[], Any]


class Missing(Exception):
    """The reason why a library cannot be measured here."""


class NotOffered(Exception):
    """The library has no such call."""


def imported(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError as error:
        raise Missing(str(error)) from None


def on(stream: Any) -> dict[str, Any]:
    """The argument for a copy on a stream; without a stream, none."""
    return {} if stream is None else {"stream": stream}


class Peer:
    """Calls that are ready to be timed: the benchmark's own code does not run in them.

    `Any` is the library's own kind of device memory, of single bytes, or of streams, which have a
    method `synchronize`.
    """

    title: ClassVar[str]

    def versions(self) -> dict[str, str]:
        raise NotImplementedError

    def waiter(self) -> Call:
        """A call that waits for the default stream."""
        raise NotImplementedError

    def allocator(self, size: int) -> Call:
        """A call that returns device memory, which is released with its last reference."""
        raise NotImplementedError

    def pinned_allocator(self, size: int) -> Call:
        """A call that returns pinned host memory for NumPy, released with its last reference."""
        raise NotImplementedError

    def view(self, device: Any, start: int, size: int) -> Any:
        return device[start : start + size]

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        """A copy to the device, which on a stream is only queued."""
        raise NotImplementedError

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        raise NotImplementedError

    def fresh(self, device: Any) -> Call:
        """A call that returns the bytes in new host memory."""
        raise NotImplementedError

    def device_copy(self, source: Any, target: Any) -> Call:
        raise NotImplementedError

    def equal(self, first: Any, second: Any) -> Call:
        raise NotOffered("no comparison on the device")

    def equal_host(self, device: Any, host: Host) -> Call:
        """As its users would compare device memory with host memory."""
        raise NotOffered("no comparison")

    def serialize(self, batch: Any) -> Call:
        raise NotOffered("no record batches")

    def read(self, message: Any, schema: Any) -> Call:
        raise NotOffered("no record batches")

    def batch_up(self, batch: Any) -> Call:
        """A record batch to the device: as one, or a list of its columns, as its users would."""
        raise NotOffered("no typed arrays")

    def batch_down(self, there: Any) -> Call:
        """The result of `batch_up` in new host memory: a record batch, or a list of arrays."""
        raise NotOffered("no typed arrays")

    def buffers_up(self, hosts: Sequence[Host]) -> Call:
        """New device memory for each, as its users would make it."""
        raise NotOffered("no such call")

    def file_up(self, device: Any, path: str) -> Call:
        """A whole file to device memory of its size, as its users would: from a mapping of it."""
        return lambda: self.upload(device, Host(np.memmap(path, np.uint8, "r")))()

    def file_parts_up(self, device: Any, path: str, part: int) -> Call:
        """The same, by a loop that reads and writes `part` bytes at a time."""
        raise NotOffered("no file over device memory")

    def file_new(self, path: str, direct: bool) -> Call:
        """A whole file to new device memory; past the page cache if `direct`."""
        raise NotOffered("no such call")

    def file_down(self, device: Any, path: str) -> Call:
        """A whole file from device memory."""
        raise NotOffered("no such call")

    def array(self, host: Any) -> Any:
        """A typed array on the device, with the elements of a NumPy array."""
        raise NotOffered("no typed arrays")

    def to_numpy(self, array: Any) -> Call:
        raise NotOffered("no typed arrays")

    def dense_copy(self, array: Any) -> Call:
        """A copy on the device, in C order, of an array in another one."""
        raise NotOffered("no copies in another order")

    def call_names(self, device: Any) -> dict[str, object]:
        """The values of the names in statements like `buffer.address`."""
        raise NotOffered("no such call")

    def stream(self) -> Any:
        """A new stream, which does not wait for the default stream."""
        raise NotOffered("no streams")

    def handle(self, stream: Any) -> int:
        """The driver's handle of a stream that nothing else uses."""
        raise NotOffered("no streams")

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        """Memory of another device, and a call that copies to it and waits for that."""
        raise NotOffered("no copies between devices")

    def on_thread(self) -> AbstractContextManager[Call]:
        """While a thread makes copies beside others: they go on a stream of its own, if the library
        needs streams to keep them apart.  It yields a call that waits for these copies alone.
        """
        raise NotOffered("not measured in several threads")

    def maker(self) -> Callable[[], Peer]:
        """Makes such a peer in another process."""
        raise NotOffered("not measured in other processes")

    def reserved(self) -> int:
        """The bytes of device memory that it has of the driver, in use or not."""
        raise NotOffered("does not say how much it has reserved")

    def trim(self) -> None:
        """Gives unused memory back to the driver."""
