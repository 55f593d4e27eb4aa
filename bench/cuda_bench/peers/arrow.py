"""This package, and a pyarrow that was built with CUDA: both have the names of `pyarrow.cuda`."""

from contextlib import nullcontext
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..measure import Call, nothing
from ..space import Host
from .base import Peer, method
from .calls import CALLS


class Upstream(Peer):
    title, module = "pyarrow", "pyarrow.cuda"

    def __init__(self, device: int = 0) -> None:
        self.cuda = cuda = import_module(self.module)
        # A pyarrow that was built without CUDA gets these names from this package.
        if type(self) is Upstream and cuda.Context is import_module(Ours.module).Context:
            raise ImportError("this pyarrow was built without CUDA")
        self.context = context = cuda.Context(device)
        self.versions = {"pyarrow": pa.__version__}
        self.wait = context.synchronize
        self.adopt = context.buffer_from_object
        self.allocate = context.new_buffer
        self.allocate_pinned = cuda.new_host_buffer
        self.buffer = lambda device: device
        self.upload = method("copy_from_host")
        self.fresh = attrgetter("copy_to_host")
        self.device_copy = method("copy_from_device")
        self.serialize = lambda batch: partial(cuda.serialize_record_batch, batch, context)
        self.read = partial(partial, cuda.read_record_batch)
        self.batch_down = method("copy_to", pa.default_cpu_memory_manager())
        # A copy is complete when it returns.
        self.on_thread = partial(nullcontext, nothing)
        self.maker = type(self)
        self.maker_on = partial(partial, type(self))
        self.trim = nothing

    def view(self, device: Any, start: int, size: int) -> Any:
        return device.slice(start, size)

    def download(self, device: Any, host: Host, **stream: Any) -> Call:
        return partial(device.copy_to_host, buf=pa.py_buffer(host), **stream)

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        target = self.cuda.Context(1).new_buffer(source.size)
        return target, partial(target.copy_from_device, source)

    def batch_to_second_device(self, there: Any) -> Call:
        second = self.cuda.Context(1)

        def run() -> Any:
            copy = there.copy_to(second)
            second.synchronize()
            return copy

        return run

    def batch_up(self, batch: Any) -> Call:
        return partial(batch.copy_to, self.context.memory_manager)

    def buffers_up(self, hosts: list[Any]) -> Call:
        make = self.context.buffer_from_data
        return lambda: [make(host) for host in hosts]

    def file_parts_up(self, device: Any, path: str, part: int) -> Call:
        def run() -> None:
            with pa.OSFile(path) as file, self.cuda.BufferWriter(device) as writer:
                writer.buffer_size = 8 << 20
                while len(data := file.read_buffer(part)):
                    writer.write(data)

        return run

    def equal_host(self, device: Any, host: Host) -> Call:
        wanted = pa.py_buffer(host)
        return lambda: device.copy_to_host().equals(wanted)


class Ours(Upstream):
    title, module = "ours", "pyarrow_cuda_compat"

    def __init__(self, device: int = 0) -> None:
        super().__init__(device)
        cuda = self.cuda
        self.versions = {"pyarrow-cuda-compat": cuda.__version__, **self.versions}
        self.transfer_limits = cuda.transfer_limits
        self.array = cuda.DeviceArray.from_host
        self.dense_copy = attrgetter("copy")
        self.equal = method("equals")
        self.file_new = partial(partial, self.context.buffer_from_file)
        self.file_down = method("copy_to_file", offset=0)
        self.stream = partial(cuda.Stream, self.context, non_blocking=True)
        self.handle = attrgetter("handle")
        self.reserved = lambda: cuda.memory_stats(self.context)["reserved_bytes"]
        self.trim = partial(cuda.empty_cache, self.context)
        self.compute = CALLS.__getitem__

    def equal_host(self, device: Any, host: Host) -> Call:
        return partial(device.equals, pa.py_buffer(host))

    def buffers_up(self, hosts: list[Any]) -> Call:
        return partial(self.context.buffers_from_data, hosts)

    def file_up(self, device: Any, path: str) -> Call:
        def run() -> None:
            with Path(path).open("rb") as file, self.cuda.BufferWriter(device) as writer:
                writer.upload(file)

        return run

    def table_up(self, table: pa.Table) -> pa.Table:
        return table.copy_to(self.context)

    def result_down(self, result: Any) -> Any:
        is_scalar = isinstance(result, pa.Scalar)
        return result if is_scalar else result.copy_to("cpu")
