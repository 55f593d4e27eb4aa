"""CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..space import Host
from .base import Call, NotOffered, Peer, imported, on


class CuPy(Peer):
    title = "CuPy"

    def __init__(self) -> None:
        self.cupy: Any = imported("cupy")

    def versions(self) -> dict[str, str]:
        return {"cupy": self.cupy.__version__}

    def waiter(self) -> Call:
        return self.cupy.cuda.get_current_stream().synchronize  # type: ignore[no-any-return]

    def allocator(self, size: int) -> Call:
        return partial(self.cupy.empty, size, self.cupy.uint8)

    def pinned_allocator(self, size: int) -> Call:
        return partial(self.cupy.cuda.alloc_pinned_memory, size)

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        return partial(device.set, host.array, **on(stream))

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        return partial(device.get, out=host.array, blocking=stream is None, **on(stream))

    def fresh(self, device: Any) -> Call:
        return device.get  # type: ignore[no-any-return]

    def device_copy(self, source: Any, target: Any) -> Call:
        return partial(self.cupy.copyto, target, source)

    def equal(self, first: Any, second: Any) -> Call:
        array_equal = self.cupy.array_equal
        return lambda: bool(array_equal(first, second))

    def equal_host(self, device: Any, host: Host) -> Call:
        return lambda: np.array_equal(device.get(), host.array)

    def batch_up(self, batch: Any) -> Call:
        return self._each_up([column.to_numpy() for column in batch.columns])

    def batch_down(self, there: Any) -> Call:
        return lambda: [each.get() for each in there]

    def buffers_up(self, hosts: Sequence[Host]) -> Call:
        return self._each_up([host.array for host in hosts])

    def _each_up(self, arrays: Sequence[Any]) -> Call:
        asarray = self.cupy.asarray
        return lambda: [asarray(array) for array in arrays]

    def array(self, host: Any) -> Any:
        return self.cupy.asarray(host)

    def to_numpy(self, array: Any) -> Call:
        return array.get  # type: ignore[no-any-return]

    def dense_copy(self, array: Any) -> Call:
        return partial(array.copy, "C")

    def stream(self) -> Any:
        return self.cupy.cuda.Stream(non_blocking=True)

    def handle(self, stream: Any) -> int:
        return int(stream.ptr)

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        if self.cupy.cuda.runtime.getDeviceCount() < 2:
            raise NotOffered("one device")
        second = self.cupy.cuda.Device(1)
        with second:
            target = self.cupy.empty_like(source)
        wait = self.waiter()

        def run() -> None:
            target.data.copy_from_device_async(source.data, source.nbytes)
            wait()
            second.synchronize()

        return target, run

    @contextmanager
    def on_thread(self) -> Iterator[Call]:
        with self.cupy.cuda.Device(0), self.stream() as stream:
            yield stream.synchronize

    def maker(self) -> Callable[[], Peer]:
        return type(self)

    def reserved(self) -> int:
        return int(self.cupy.get_default_memory_pool().total_bytes())

    def trim(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()
        self.cupy.get_default_pinned_memory_pool().free_all_blocks()
