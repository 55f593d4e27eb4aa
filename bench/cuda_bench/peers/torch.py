"""PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from ..space import Host
from .base import Call, Missing, NotOffered, Peer, imported


class PyTorch(Peer):
    title = "PyTorch"

    def __init__(self) -> None:
        self.torch: Any = imported("torch")
        if not self.torch.cuda.is_available():
            raise Missing("this PyTorch finds no GPU")

    def versions(self) -> dict[str, str]:
        return {"torch": self.torch.__version__}

    def waiter(self) -> Call:
        return self.torch.cuda.current_stream().synchronize  # type: ignore[no-any-return]

    def allocator(self, size: int) -> Call:
        return partial(self.torch.empty, size, dtype=self.torch.uint8, device="cuda")

    def pinned_allocator(self, size: int) -> Call:
        return partial(self.torch.empty, size, dtype=self.torch.uint8, pin_memory=True)

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        tensor = self.torch.from_numpy(host.array)
        return self._on(stream, partial(device.copy_, tensor, non_blocking=host.is_pinned))

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        tensor = self.torch.from_numpy(host.array)
        return self._on(stream, partial(tensor.copy_, device, non_blocking=host.is_pinned))

    def _on(self, stream: Any, copy: Call) -> Call:
        if stream is None:
            return copy
        using = self.torch.cuda.stream

        def run() -> None:
            with using(stream):
                copy()

        return run

    def fresh(self, device: Any) -> Call:
        return lambda: device.cpu().numpy()

    def device_copy(self, source: Any, target: Any) -> Call:
        return partial(target.copy_, source)

    def equal(self, first: Any, second: Any) -> Call:
        return partial(self.torch.equal, first, second)

    def equal_host(self, device: Any, host: Host) -> Call:
        tensor, equal = self.torch.from_numpy(host.array), self.torch.equal
        return lambda: equal(device.cpu(), tensor)

    def batch_up(self, batch: Any) -> Call:
        # PyTorch warns of arrays that must not be written to, such as Arrow's.
        return self._each_up([np.array(column) for column in batch.columns])

    def batch_down(self, there: Any) -> Call:
        return lambda: [each.cpu() for each in there]

    def buffers_up(self, hosts: Sequence[Host]) -> Call:
        return self._each_up([host.array for host in hosts])

    def _each_up(self, arrays: Sequence[Any]) -> Call:
        tensors = [self.torch.from_numpy(array) for array in arrays]
        return lambda: [tensor.cuda() for tensor in tensors]

    def array(self, host: Any) -> Any:
        return self.torch.from_numpy(host).cuda()

    def to_numpy(self, array: Any) -> Call:
        return lambda: array.cpu().numpy()

    def dense_copy(self, array: Any) -> Call:
        return partial(array.clone, memory_format=self.torch.contiguous_format)

    def stream(self) -> Any:
        return self.torch.cuda.Stream()

    def handle(self, stream: Any) -> int:
        raise NotOffered("32 streams, which it hands out in turns")

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        if self.torch.cuda.device_count() < 2:
            raise NotOffered("one device")
        target = self.torch.empty_like(source, device="cuda:1")
        wait = self.torch.cuda.synchronize

        def run() -> None:
            target.copy_(source)
            wait(0)
            wait(1)

        return target, run

    @contextmanager
    def on_thread(self) -> Iterator[Call]:
        self.torch.cuda.set_device(0)
        stream = self.stream()
        with self.torch.cuda.stream(stream):
            yield stream.synchronize

    def reserved(self) -> int:
        return int(self.torch.cuda.memory_reserved())

    def trim(self) -> None:
        self.torch.cuda.empty_cache()
