"""Numba's device arrays."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..space import Host
from .base import Call, Missing, Peer, imported, on


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

    def allocator(self, size: int) -> Call:
        return partial(self.cuda.device_array, size, np.uint8)

    def pinned_allocator(self, size: int) -> Call:
        return partial(self.cuda.pinned_array, size, np.uint8)

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        return partial(device.copy_to_device, host.array, **on(stream))

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        return partial(device.copy_to_host, host.array, **on(stream))

    def fresh(self, device: Any) -> Call:
        return device.copy_to_host  # type: ignore[no-any-return]

    def device_copy(self, source: Any, target: Any) -> Call:
        return partial(target.copy_to_device, source)

    def array(self, host: Any) -> Any:
        return self.cuda.to_device(host)

    def to_numpy(self, array: Any) -> Call:
        return array.copy_to_host  # type: ignore[no-any-return]

    def stream(self) -> Any:
        return self.cuda.stream()

    def trim(self) -> None:
        self.cuda.current_context().deallocations.clear()
