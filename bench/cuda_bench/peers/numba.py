"""Numba's device arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..space import Host
from .base import Call, Missing, Peer, imported


class Numba(Peer):
    title = "Numba"

    def __init__(self) -> None:
        self.cuda: Any = imported("numba.cuda")
        if not self.cuda.is_available():
            raise Missing("this Numba finds no GPU")

    def versions(self) -> dict[str, str]:
        found = {"numba": imported("numba").__version__}
        version = getattr(self.cuda, "__version__", None)
        return found | ({"numba-cuda": version} if version else {})

    def waiter(self) -> Call:
        return self.cuda.default_stream().synchronize  # type: ignore[no-any-return]

    def allocator(self, size: int) -> Callable[[], Any]:
        return partial(self.cuda.device_array, size, np.uint8)

    def pinned_allocator(self, size: int) -> Callable[[], Any]:
        return partial(self.cuda.pinned_array, size, np.uint8)

    def view(self, device: Any, start: int, size: int) -> Any:
        return device[start : start + size]

    def upload(self, device: Any, host: Host) -> Call:
        return partial(device.copy_to_device, host.array)

    def download(self, device: Any, host: Host) -> Call:
        return partial(device.copy_to_host, host.array)

    def fresh(self, device: Any) -> Callable[[], Any]:
        return device.copy_to_host  # type: ignore[no-any-return]

    def device_copy(self, source: Any, target: Any) -> Call:
        return partial(target.copy_to_device, source)

    def array(self, host: Any) -> Any:
        return self.cuda.to_device(host)

    def to_numpy(self, array: Any) -> Callable[[], Any]:
        return array.copy_to_host  # type: ignore[no-any-return]

    def stream_copy(self, device: Any, host: Host) -> Call:
        stream = self.cuda.stream()

        def run() -> None:
            device.copy_to_device(host.array, stream=stream)
            stream.synchronize()

        return run

    def both_ways(self, up: Any, source: Host, down: Any, target: Host) -> Call:
        first, second = self.cuda.stream(), self.cuda.stream()

        def run() -> None:
            up.copy_to_device(source.array, stream=first)
            down.copy_to_host(target.array, stream=second)
            first.synchronize()
            second.synchronize()

        return run

    def trim(self) -> None:
        self.cuda.current_context().deallocations.clear()
