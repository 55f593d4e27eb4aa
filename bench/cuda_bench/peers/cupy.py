"""CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..space import Host
from .base import Call, NotOffered, Peer, imported


class CuPy(Peer):
    title = "CuPy"

    def __init__(self) -> None:
        self.cupy: Any = imported("cupy")

    def versions(self) -> dict[str, str]:
        return {"cupy": self.cupy.__version__}

    def waiter(self) -> Call:
        return self.cupy.cuda.get_current_stream().synchronize  # type: ignore[no-any-return]

    def allocator(self, size: int) -> Callable[[], Any]:
        return partial(self.cupy.empty, size, self.cupy.uint8)

    def pinned_allocator(self, size: int) -> Callable[[], Any]:
        return partial(self.cupy.cuda.alloc_pinned_memory, size)

    def view(self, device: Any, start: int, size: int) -> Any:
        return device[start : start + size]

    def upload(self, device: Any, host: Host) -> Call:
        return partial(device.set, host.array)

    def download(self, device: Any, host: Host) -> Call:
        return partial(device.get, out=host.array)

    def fresh(self, device: Any) -> Callable[[], Any]:
        return device.get  # type: ignore[no-any-return]

    def device_copy(self, source: Any, target: Any) -> Call:
        return partial(self.cupy.copyto, target, source)

    def equal(self, first: Any, second: Any) -> Call:
        array_equal = self.cupy.array_equal
        return lambda: bool(array_equal(first, second))

    def equal_host(self, device: Any, host: Host) -> Call:
        return lambda: np.array_equal(device.get(), host.array)

    def batch_up(self, batch: Any) -> Callable[[], Any]:
        return self._each_up([column.to_numpy() for column in batch.columns])

    def batch_down(self, there: Any) -> Callable[[], Any]:
        return lambda: [each.get() for each in there]

    def buffers_up(self, hosts: Sequence[Host]) -> Callable[[], Sequence[Any]]:
        return self._each_up([host.array for host in hosts])

    def _each_up(self, arrays: Sequence[Any]) -> Callable[[], Sequence[Any]]:
        asarray = self.cupy.asarray
        return lambda: [asarray(array) for array in arrays]

    def array(self, host: Any) -> Any:
        return self.cupy.asarray(host)

    def to_numpy(self, array: Any) -> Callable[[], Any]:
        return array.get  # type: ignore[no-any-return]

    def dense_copy(self, array: Any) -> Callable[[], Any]:
        return partial(array.copy, "C")

    def stream_copy(self, device: Any, host: Host) -> Call:
        stream = self.cupy.cuda.Stream(non_blocking=True)

        def run() -> None:
            device.set(host.array, stream=stream)
            stream.synchronize()

        return run

    def queued_copies(self, device: Any, host: Host, count: int) -> tuple[list[Call], list[int]]:
        streams = [self.cupy.cuda.Stream(non_blocking=True) for _ in range(count)]
        queue: list[Call] = [partial(device.set, host.array, stream=stream) for stream in streams]
        return queue, [stream.ptr for stream in streams]

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

    def both_ways(self, up: Any, source: Host, down: Any, target: Host) -> Call:
        first, second = (self.cupy.cuda.Stream(non_blocking=True) for _ in range(2))

        def run() -> None:
            up.set(source.array, stream=first)
            down.get(stream=second, out=target.array, blocking=False)
            first.synchronize()
            second.synchronize()

        return run

    @contextmanager
    def on_thread(self) -> Iterator[Call]:
        with self.cupy.cuda.Device(0), self.cupy.cuda.Stream(non_blocking=True) as stream:
            yield stream.synchronize

    def maker(self) -> Callable[[], Peer]:
        return type(self)

    def reserved(self) -> int:
        return int(self.cupy.get_default_memory_pool().total_bytes())

    def trim(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()
        self.cupy.get_default_pinned_memory_pool().free_all_blocks()
