"""Sends device memory between Dask workers.

Between workers of `distributed` on one machine, buffers, record batches and tables on a device go
through CUDA IPC: the bytes are copied from device to device, not through the host.  All other data
is sent as host frames, like a pickle: data for other machines, for clients and through the
scheduler, small data (`THRESHOLD`), and data that cannot be exported.

Users do not have to configure this.  Importing ``pyarrow_cuda_compat`` (or ``pyarrow.cuda``) in a
process that uses ``distributed`` imports this module, in either order.  A worker accepts memory
through IPC once its process has imported this module.  To use IPC from the first transfer on,
import it when the workers start:

* ``client.register_plugin(pyarrow_cuda_compat.dask.Plugin())``, or
* ``distributed.worker.preload: pyarrow_cuda_compat.dask`` in Dask's configuration.

With ``pyarrow-cuda-compat.ipc: false`` in Dask's configuration (in the environment:
``DASK_PYARROW_CUDA_COMPAT__IPC=false``) a worker sends host frames only.

How it works:

1. In the handshake of a connection, the receiving worker announces its machine and its devices.
2. The sending worker exports the memory, and retains it until the receiver has confirmed the reply.
3. The receiver makes its own copy, checks that the sender still retains the memory, and confirms.
4. If the receiver cannot open the memory, for example between containers that may not share it, it
   repeats the request.  The sender answers that one with host frames.
"""

import sys
import threading
from collections.abc import Mapping
from typing import Any

from . import _installed  # noqa: F401  # isort: skip  (first: it says what is missing)
import distributed.protocol.arrow  # before what is below: it would take pyarrow's classes back
import distributed.worker
import pyarrow as pa
from dask.sizeof import sizeof
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.protocol.serialize import dask_deserialize, dask_serialize

from .. import _native
from .._data import lies_on_host
from .._methods.pickling import context_for
from .._start.import_hooks import follow
from . import _device_frames, _tokens
from ._loans import Loan, lasts
from ._peers import NAME, devices, loan_to, prepare
from ._pickler import PartsPickler, PartsUnpickler

__all__ = ["THRESHOLD", "Plugin", "transfers"]

THRESHOLD = 64 * 1024
"""Buffers of fewer bytes than this go as host frames: mapping them would take longer."""

_ADVICE = (
    "set `pyarrow-cuda-compat.ipc: false` in Dask's configuration of the workers "
    "(DASK_PYARROW_CUDA_COMPAT__IPC=false) to have it sent through the host"
)

_transfers = {"ipc": 0, "host": 0}
_lock = threading.Lock()


def transfers() -> dict[str, int]:
    """Count the objects that this process has sent through CUDA IPC and through the host.

    Returns
    -------
    counts : dict
        ``ipc``: objects with at least one buffer that was exported to another worker; ``host``:
        objects whose bytes all went through host memory.  Objects are buffers, record batches and
        tables on a device; objects inside other objects do not count.

    Examples
    --------
    >>> import pyarrow_cuda_compat.dask
    >>> sorted(pyarrow_cuda_compat.dask.transfers())
    ['host', 'ipc']
    """
    with _lock:
        return dict(_transfers)


def _count(way: str) -> None:
    with _lock:
        _transfers[way] += 1


class Plugin(WorkerPlugin):
    """Makes workers accept device memory through CUDA IPC from the first transfer on.

    Examples
    --------
    >>> import distributed, pyarrow_cuda_compat.dask
    >>> with distributed.Client(processes=False, dashboard_address=":0") as client:
    ...     results = client.register_plugin(pyarrow_cuda_compat.dask.Plugin())
    >>> [result["status"] for result in results.values()]
    ['OK']
    """

    name = NAME
    idempotent = True

    def setup(self, worker: Any) -> None:
        """Called by the worker."""
        prepare(worker)


def dask_setup(worker: Any) -> None:
    """Called where this module is preloaded."""
    if isinstance(worker, distributed.worker.Worker):
        prepare(worker)


def _deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
    value = _Borrower(header, frames).load()
    if "loan" in header and not lasts(header["loan"]):
        raise _refused("its worker has released it in the meantime")
    return value


def _refused(reason: object) -> OSError:
    """As an OSError `distributed` takes it for a broken connection, and asks again."""
    return OSError(
        f"device memory of another worker cannot be opened by CUDA IPC ({reason}): {_ADVICE}"
    )


class _Borrower(PartsUnpickler):
    """Puts copies of lent memory, and what came in frames instead, into what it loads."""

    def take(self, lent: Mapping[str, Any]) -> Any:
        """Copies memory of another worker, which is unmapped again when this returns."""
        try:
            [context] = (
                _native.Context(number)
                for number in devices()
                if _native._uuid(number).hex() == lent["device"]
            )
            handle = _native.IpcMemHandle.from_buffer(pa.py_buffer(lent["handle"]))
            theirs = context.open_ipc_buffer(handle)
        except (OSError, ValueError) as error:
            raise _refused(error) from error
        # The device of that number, as for a pickle: a worker may have another order of devices.
        here = context_for(lent["number"])
        if lent["is_part"]:
            ours = _native._new_packed_buffer(here, theirs.size)
        else:
            ours = here.new_buffer(theirs.size)
        ours.copy_from_device(theirs)
        return ours if lent["is_mutable"] else _native._read_only(ours)


def _serialize(value: Any, context: Mapping[str, Any] | None = None) -> tuple[Any, list[Any]]:
    recipient = (context or {}).get("recipient")
    if allowed := loan_to(recipient):
        pickler = _Lender(*allowed)
        pickler.dump(value)
        if len(pickler.beside) < len(pickler.parts):
            _count("ipc")
            frames = pickler.frames()
            return pickler.header(frames), frames
    if recipient is not None:
        _count("host")
    # `distributed` goes on to the next way of serialising, which is to pickle.
    raise NotImplementedError


class _Lender(PartsPickler):
    """Lends the device memory in what it pickles, as far as it can be lent."""

    def __init__(self, loan: Loan, devices: list[str]) -> None:
        super().__init__()
        self._loan, self._devices = loan, devices

    def frames(self) -> list[Any]:
        """The pickle, its buffers on the host, and what was not lent."""
        return self.host_frames() + [memoryview(each.copy_to_host()) for each in self.beside]

    def header(self, frames: list[Any]) -> dict[str, Any]:
        """What loads the frames, and shows whether the loan lasts."""
        return super().header(frames) | {"loan": self._loan.evidence}

    def place(self, buffer: Any) -> dict[str, Any]:
        """The number of the buffer's device, and how to open its memory where that can be."""
        device = _native._uuid(buffer.context.device_number).hex()
        if buffer.size >= THRESHOLD and device in self._devices:
            try:
                handle = self._loan.lend(buffer)
                number = buffer.context.device_number
                return {"number": number, "device": device, "handle": handle}
            except (OSError, pa.ArrowInvalid):
                pass  # memory of a pool, of another process, and so on
        return super().place(buffer)


# --- registration --------------------------------------------------------------------------------


def _register() -> None:
    for kind in (_native.CudaBuffer, _native.DeviceArray):
        dask_serialize.register(kind, _serialize)
        dask_deserialize.register(kind, _deserialize)
    _register_beside(pa.RecordBatch)
    _register_beside(pa.Table)
    sizeof.register(_native.CudaBuffer, lambda buffer: sys.getsizeof(object()) + buffer.size)
    sizeof.register(_native.DeviceArray, lambda array: sys.getsizeof(object()) + array.nbytes)
    sizeof.register(pa.RecordBatch, _size_of_batch)
    sizeof.register(pa.Array, _size_of_array)
    _device_frames.register()
    _tokens.register()
    follow("dask_cuda", f"{__package__}._spilling", "register")
    distributed.worker.DEFAULT_EXTENSIONS[NAME] = prepare  # type: ignore[assignment]
    for worker in list(distributed.worker.Worker._instances):
        prepare(worker)


def _register_beside(kind: type) -> None:
    """For what lies on a device; the rest goes on to the functions that are registered already."""
    serialize_host = dask_serialize.dispatch(kind)
    deserialize_host = dask_deserialize.dispatch(kind)

    def serialize(value: Any, context: Mapping[str, Any] | None = None) -> Any:
        return serialize_host(value) if lies_on_host(value) else _serialize(value, context)

    def deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
        load = _deserialize if "parts" in header else deserialize_host
        return load(header, frames)

    dask_serialize.register(kind, serialize)
    dask_deserialize.register(kind, deserialize)


def _size_of_batch(batch: Any) -> int:
    if lies_on_host(batch):
        return sys.getsizeof(batch)
    return sum(map(_size_of_array, batch.columns))


def _size_of_array(array: Any) -> int:
    if lies_on_host(array):
        return sys.getsizeof(array)
    size: int = sum(buffer.size for buffer in array.buffers() if buffer is not None)
    return sys.getsizeof(object()) + size


_register()
