"""This package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..space import Host
from .arrow import ArrowLike
from .base import Call, NotOffered, imported


class Ours(ArrowLike):
    title = "ours"

    def __init__(self) -> None:
        super().__init__(imported("pyarrow_cuda_compat"))

    def versions(self) -> dict[str, str]:
        return {"pyarrow-cuda-compat": self.cuda.__version__, "pyarrow": pa.__version__}

    def equal(self, first: Any, second: Any) -> Call:
        return partial(first.equals, second)

    def equal_host(self, device: Any, host: Host) -> Call:
        return partial(device.equals, pa.py_buffer(host.array))

    def buffers_up(self, hosts: Sequence[Host]) -> Callable[[], Sequence[Any]]:
        return partial(self.context.buffers_from_data, [host.array for host in hosts])

    def file_up(self, device: Any, path: str) -> Call:
        def run() -> None:
            with Path(path).open("rb") as file, self.cuda.BufferWriter(device) as writer:
                writer.upload(file)

        return run

    def file_new(self, path: str, direct: bool) -> Callable[[], Any]:
        return partial(self.context.buffer_from_file, path, direct=direct)

    def file_down(self, device: Any, path: str) -> Call:
        return partial(device.copy_to_file, path, offset=0)

    def array(self, host: Any) -> Any:
        return self.cuda.DeviceArray.from_host(host)

    def to_numpy(self, array: Any) -> Callable[[], Any]:
        return array.copy_to_host  # type: ignore[no-any-return]

    def dense_copy(self, array: Any) -> Callable[[], Any]:
        return array.copy  # type: ignore[no-any-return]

    def stream_copy(self, device: Any, host: Host) -> Call:
        (stream,) = self.streams(1)

        def run() -> None:
            device.copy_from_host(host.array, stream=stream)
            stream.synchronize()

        return run

    def queued_copies(self, device: Any, host: Host, count: int) -> tuple[list[Call], list[int]]:
        streams = self.streams(count)
        copy = device.copy_from_host
        queue: list[Call] = [partial(copy, host.array, stream=stream) for stream in streams]
        return queue, [stream.handle for stream in streams]

    def both_ways(self, up: Any, source: Host, down: Any, target: Host) -> Call:
        first, second = self.streams(2)
        result = pa.py_buffer(target.array)

        def run() -> None:
            up.copy_from_host(source.array, stream=first)
            down.copy_to_host(buf=result, stream=second)
            first.synchronize()
            second.synchronize()

        return run

    def reserved(self) -> int:
        return int(self.cuda.memory_stats(self.context)["reserved_bytes"])

    def trim(self) -> None:
        self.cuda.empty_cache(self.context)

    def streams(self, count: int) -> list[Any]:
        if not hasattr(self.cuda, "Stream"):
            raise NotOffered("no streams")
        return [self.cuda.Stream(self.context, non_blocking=True) for _ in range(count)]
