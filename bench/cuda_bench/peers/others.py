"""Libraries with arrays of their own: CuPy, PyTorch, and Numba's device arrays."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from ..measure import Call
from ..space import Host
from .base import Peer, method


class CuPy(Peer):
    title = "CuPy"

    def __init__(self) -> None:
        self.cupy = cupy = import_module("cupy")
        self.versions = {"cupy": cupy.__version__}
        self.wait = cupy.cuda.get_current_stream().synchronize
        self.allocate = partial(cupy.empty, dtype=cupy.uint8)
        self.allocate_pinned = cupy.cuda.alloc_pinned_memory
        self.array = cupy.asarray
        self.upload = method("set")
        self.fresh = attrgetter("get")
        self.device_copy = partial(partial, cupy.copyto)
        self.dense_copy = method("copy", "C")
        self.equal = lambda *both: lambda: bool(cupy.array_equal(*both))
        self.equal_host = lambda device, host: lambda: np.array_equal(device.get(), host)
        self.buffers_up = lambda hosts: lambda: [cupy.asarray(host) for host in hosts]
        self.batch_down = lambda there: lambda: [each.get() for each in there]
        self.stream = partial(cupy.cuda.Stream, non_blocking=True)
        self.handle = attrgetter("ptr")
        self.maker = type(self)
        self.reserved = cupy.get_default_memory_pool().total_bytes

    def download(self, device: Any, host: Host, **stream: Any) -> Call:
        return partial(device.get, out=host, blocking=not stream, **stream)

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
        second = self.cupy.cuda.Device(1)
        with second:
            target = self.cupy.empty_like(source)

        def run() -> None:
            target.data.copy_from_device_async(source.data, source.nbytes)
            self.wait()
            second.synchronize()

        return target, run

    @contextmanager
    def on_thread(self) -> Iterator[Call]:
        with self.cupy.cuda.Device(0), self.stream() as stream:
            yield stream.synchronize

    def trim(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()
        self.cupy.get_default_pinned_memory_pool().free_all_blocks()


class PyTorch(Peer):
    title = "PyTorch"

    def __init__(self) -> None:
        self.torch = torch = import_module("torch")
        if not torch.cuda.is_available():
            raise ImportError("this PyTorch finds no GPU")
        self.versions = {"torch": torch.__version__}
        self.wait = torch.cuda.current_stream().synchronize
        self.allocate = partial(torch.empty, dtype=torch.uint8, device="cuda")
        self.allocate_pinned = partial(torch.empty, dtype=torch.uint8, pin_memory=True)
        self.array = lambda host: torch.from_numpy(host).cuda()
        self.fresh = lambda device: lambda: device.cpu().numpy()
        self.device_copy = method("copy_")
        self.dense_copy = method("clone", memory_format=torch.contiguous_format)
        self.equal = partial(partial, torch.equal)
        self.batch_down = lambda there: lambda: [each.cpu() for each in there]
        # Without `handle`: it hands out 32 streams in turns, which others may use, too.
        self.stream = torch.cuda.Stream
        self.reserved = torch.cuda.memory_reserved
        self.trim = torch.cuda.empty_cache

    def upload(self, device: Any, host: Host, stream: Any = None) -> Call:
        tensor = self.torch.from_numpy(host)
        return self.copy(device, tensor, tensor.is_pinned(), stream)

    def download(self, device: Any, host: Host, stream: Any = None) -> Call:
        tensor = self.torch.from_numpy(host)
        return self.copy(tensor, device, tensor.is_pinned(), stream)

    def copy(self, target: Any, source: Any, is_queued: bool, stream: Any) -> Call:
        copy, using = partial(target.copy_, source, non_blocking=is_queued), self.torch.cuda.stream

        def run() -> None:
            with using(stream):
                copy()

        return copy if stream is None else run

    def equal_host(self, device: Any, host: Host) -> Call:
        tensor, equal = self.torch.from_numpy(host), self.torch.equal
        return lambda: equal(device.cpu(), tensor)

    def buffers_up(self, hosts: list[Any]) -> Call:
        tensors = [self.torch.from_numpy(host) for host in hosts]
        return lambda: [tensor.cuda() for tensor in tensors]

    def to_second_device(self, source: Any) -> tuple[Any, Call]:
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


class Numba(Peer):
    title = "Numba"

    def __init__(self) -> None:
        cuda = import_module("numba.cuda")
        if not cuda.is_available():
            raise ImportError("this Numba finds no GPU")
        version = getattr(cuda, "__version__", None)
        self.versions = {"numba": import_module("numba").__version__}
        self.versions |= {"numba-cuda": version} if version else {}
        self.wait = cuda.default_stream().synchronize
        self.allocate = partial(cuda.device_array, dtype=np.uint8)
        self.allocate_pinned = partial(cuda.pinned_array, dtype=np.uint8)
        self.array = cuda.to_device
        self.upload = self.device_copy = method("copy_to_device")
        self.download = method("copy_to_host")
        self.fresh = attrgetter("copy_to_host")
        self.stream = cuda.stream
        self.trim = cuda.current_context().deallocations.clear
