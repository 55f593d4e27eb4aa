"""Pickles whose device memory travels beside them.

Each buffer of device memory is a part, which the pickle names by a number; memory that several
objects share is one part.  A part travels in a frame of its own, unless a subclass knows better.
"""

import io
import pickle
from collections.abc import Mapping
from typing import Any

import cloudpickle  # type: ignore[import-untyped,unused-ignore]
from distributed.utils import nbytes

from .. import _native
from .._methods.pickling import Part, _as_mutable, _restore_buffer, _restore_part


def _size_of(frame: Any) -> int:
    size: int = nbytes(frame)  # type: ignore[no-untyped-call,unused-ignore]
    return size


class PartsPickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles a value without its device memory, of which nothing is copied."""

    def __init__(self) -> None:
        self._file = io.BytesIO()
        self._host: list[Any] = []
        super().__init__(self._file, protocol=5, buffer_callback=self._host.append)
        # By identity, with the object, so that the identity stays its own.
        self._numbers: dict[int, tuple[Any, int]] = {}
        #: The facts that the other side needs about each part.
        self.parts: list[dict[str, Any]] = []
        #: The parts that travel in frames of their own.
        self.beside: list[Any] = []

    def place(self, buffer: Any) -> dict[str, Any]:
        """Where the other side finds a buffer's bytes: in a frame of its own."""
        self.beside.append(buffer)
        return {"number": buffer.context.device_number}

    def host_frames(self) -> list[Any]:
        """The pickle, and its buffers on the host."""
        return [self._file.getvalue(), *(memoryview(buffer) for buffer in self._host)]

    def frames(self) -> list[Any]:
        """The pickle, its buffers on the host, and the parts where they lie."""
        return self.host_frames() + self.beside

    def header(self, frames: list[Any]) -> dict[str, Any]:
        """What loads the frames."""
        return {"parts": self.parts, "sizes": [*map(_size_of, frames)]}

    def persistent_id(self, value: Any) -> int | None:
        if type(value) is Part:
            return self._number(value, value.buffer)
        if type(value) is _native.CudaBuffer:
            return self._number(value, value)
        return None

    def _number(self, value: Any, buffer: Any) -> int:
        if id(value) not in self._numbers:
            self._numbers[id(value)] = value, len(self.parts)
            what = {"is_part": type(value) is Part, "is_mutable": buffer.is_mutable}
            self.parts.append(what | self.place(buffer))
        return self._numbers[id(value)][1]


class PartsUnpickler(pickle.Unpickler):
    """Loads such a pickle: first come the frames on the host, then the frames of parts."""

    def __init__(self, header: Mapping[str, Any], frames: list[Any]) -> None:
        parts, found = header["parts"], [*map(_size_of, frames)]
        if found != [*header["sizes"]]:  # a tuple, where it has travelled
            raise ValueError(f"expected frames of {header['sizes']} bytes, got {found}")
        rest = len(frames) - sum("handle" not in part for part in parts)
        super().__init__(io.BytesIO(frames[0]), buffers=frames[1:rest])
        self._parts = parts
        self._contents = iter(frames[rest:])
        self._taken: dict[int, Any] = {}

    def take(self, lent: Mapping[str, Any]) -> Any:
        """A part that has not come in a frame."""
        raise NotImplementedError

    def persistent_load(self, pid: int) -> Any:
        # New numbers come in the order of the frames.
        if pid not in self._taken:
            part = self._parts[pid]
            self._taken[pid] = self.take(part) if "handle" in part else self._from_frame(part)
        return self._taken[pid]

    def _from_frame(self, part: Mapping[str, Any]) -> Any:
        contents, number = next(self._contents), part["number"]
        if not _size_of(contents):
            contents = b""
        elif hasattr(contents, "__cuda_array_interface__"):
            # Retains the frame, whose memory nobody else uses.
            is_ours = isinstance(contents, _native.CudaBuffer)
            view = contents if is_ours else _native.DeviceArray(contents).buffer
            return _as_mutable(view, part["is_mutable"])
        if part["is_part"]:
            return _restore_part(contents, number)
        return _restore_buffer(contents, number, part["is_mutable"])
