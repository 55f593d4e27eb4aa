"""This package, and a pyarrow that was built with CUDA: both have the names of `pyarrow.cuda`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..measure import nothing
from ..space import Host
from .base import Call, Missing, NotOffered, Peer, imported, on


class ArrowLike(Peer):
    def __init__(self, cuda: Any) -> None:
        self.cuda = cuda
        self.context = cuda.Context(0)

    def versions(self) -> dict[str, str]:
        return {"pyarrow": pa.__version__}

    def waiter(self) -> Call:
        return self.context.synchronize  # type: ignore[no-any-return]

    def allocator(self, size: int) -> Call:
        return partial(self.context.new_buffer, size)

    def pinned_allocator(self, size: int) -> Call:
        return partial(self.cuda.new_host_buffer, size)

    def view(self, device: Any, start: int, size: int) -> Any:
        return device.slice(start, size)

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        return partial(device.copy_from_host, host.array, **on(stream))

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        return partial(device.copy_to_host, buf=pa.py_buffer(host.array), **on(stream))

    def fresh(self, device: Any) -> Call:
        return device.copy_to_host  # type: ignore[no-any-return]

    def device_copy(self, source: Any, target: Any) -> Call:
        return partial(target.copy_from_device, source)

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        if self.cuda.Context.get_num_devices() < 2:
            raise NotOffered("one device")
        target = self.cuda.Context(1).new_buffer(source.size)
        return target, partial(target.copy_from_device, source)

    def serialize(self, batch: Any) -> Call:
        return partial(self.cuda.serialize_record_batch, batch, self.context)

    def read(self, message: Any, schema: Any) -> Call:
        return partial(self.cuda.read_record_batch, message, schema)

    def batch_up(self, batch: Any) -> Call:
        return partial(batch.copy_to, self.context.memory_manager)

    def batch_down(self, there: Any) -> Call:
        return partial(there.copy_to, pa.default_cpu_memory_manager())

    def buffers_up(self, hosts: Sequence[Host]) -> Call:
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
        # A copy is complete when it returns.
        return nullcontext(nothing)

    def maker(self) -> Callable[[], Peer]:
        return type(self)

    def call_names(self, device: Any) -> dict[str, object]:
        return {"buffer": device}


class Upstream(ArrowLike):
    title = "pyarrow"

    def __init__(self) -> None:
        cuda = imported("pyarrow.cuda")
        # Where pyarrow has none of its own, this package gives its names to it.
        if cuda.Context is imported("pyarrow_cuda_compat").Context:
            raise Missing("this pyarrow was built without CUDA")
        super().__init__(cuda)

    def equal_host(self, device: Any, host: Host) -> Call:
        wanted = pa.py_buffer(host.array)
        return lambda: device.copy_to_host().equals(wanted)


class Ours(ArrowLike):
    title = "ours"

    def __init__(self) -> None:
        super().__init__(imported("pyarrow_cuda_compat"))

    def versions(self) -> dict[str, str]:
        return {"pyarrow-cuda-compat": self.cuda.__version__, **super().versions()}

    def equal(self, first: Any, second: Any) -> Call:
        return partial(first.equals, second)

    def equal_host(self, device: Any, host: Host) -> Call:
        return partial(device.equals, pa.py_buffer(host.array))

    def buffers_up(self, hosts: Sequence[Host]) -> Call:
        return partial(self.context.buffers_from_data, [host.array for host in hosts])

    def file_up(self, device: Any, path: str) -> Call:
        def run() -> None:
            with Path(path).open("rb") as file, self.cuda.BufferWriter(device) as writer:
                writer.upload(file)

        return run

    def file_new(self, path: str, direct: bool) -> Call:
        return partial(self.context.buffer_from_file, path, direct=direct)

    def file_down(self, device: Any, path: str) -> Call:
        return partial(device.copy_to_file, path, offset=0)

    def array(self, host: Any) -> Any:
        return self.cuda.DeviceArray.from_host(host)

    def to_numpy(self, array: Any) -> Call:
        return array.copy_to_host  # type: ignore[no-any-return]

    def dense_copy(self, array: Any) -> Call:
        return array.copy  # type: ignore[no-any-return]

    def stream(self) -> Any:
        return self.cuda.Stream(self.context, non_blocking=True)

    def handle(self, stream: Any) -> int:
        return int(stream.handle)

    def reserved(self) -> int:
        return int(self.cuda.memory_stats(self.context)["reserved_bytes"])

    def trim(self) -> None:
        self.cuda.empty_cache(self.context)
