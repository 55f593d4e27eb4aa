"""What has the names of `pyarrow.cuda`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import pyarrow as pa

from ..space import Host
from .base import Call, NotOffered, Peer


def done() -> None:
    """A copy is complete when it returns."""


class ArrowLike(Peer):
    def __init__(self, cuda: Any) -> None:
        self.cuda = cuda
        self.context = cuda.Context(0)

    def waiter(self) -> Call:
        return self.context.synchronize  # type: ignore[no-any-return]

    def allocator(self, size: int) -> Callable[[], Any]:
        return partial(self.context.new_buffer, size)

    def pinned_allocator(self, size: int) -> Callable[[], Any]:
        return partial(self.cuda.new_host_buffer, size)

    def view(self, device: Any, start: int, size: int) -> Any:
        return device.slice(start, size)

    def upload(self, device: Any, host: Host) -> Call:
        return partial(device.copy_from_host, host.array)

    def download(self, device: Any, host: Host) -> Call:
        return partial(device.copy_to_host, buf=pa.py_buffer(host.array))

    def fresh(self, device: Any) -> Callable[[], Any]:
        return device.copy_to_host  # type: ignore[no-any-return]

    def device_copy(self, source: Any, target: Any) -> Call:
        return partial(target.copy_from_device, source)

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        if self.cuda.Context.get_num_devices() < 2:
            raise NotOffered("one device")
        target = self.cuda.Context(1).new_buffer(source.size)
        return target, partial(target.copy_from_device, source)

    def serialize(self, batch: Any) -> Callable[[], Any]:
        return partial(self.cuda.serialize_record_batch, batch, self.context)

    def read(self, message: Any, schema: Any) -> Callable[[], Any]:
        return partial(self.cuda.read_record_batch, message, schema)

    def batch_up(self, batch: Any) -> Callable[[], Any]:
        return partial(batch.copy_to, self.context.memory_manager)

    def batch_down(self, there: Any) -> Callable[[], Any]:
        return partial(there.copy_to, pa.default_cpu_memory_manager())

    def buffers_up(self, hosts: Sequence[Host]) -> Callable[[], Sequence[Any]]:
        make, arrays = self.context.buffer_from_data, [host.array for host in hosts]
        return lambda: [make(array) for array in arrays]

    def file_parts_up(self, device: Any, path: str, part: int) -> Call:
        def run() -> None:
            with pa.OSFile(path) as file, self.cuda.BufferWriter(device) as writer:
                writer.buffer_size = 8 << 20
                while len(data := file.read_buffer(part)):
                    writer.write(data)

        return run

    def on_thread(self) -> AbstractContextManager[Call]:
        return nullcontext(done)

    def maker(self) -> Callable[[], Peer]:
        return type(self)

    def call_names(self, device: Any) -> dict[str, object]:
        return {"buffer": device}
