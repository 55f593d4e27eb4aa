"""Which workers of Dask lend device memory to each other.

A worker that may ask another one for data announces itself in the handshake of its connections:
which machine it is on, and which devices it has.  Nobody else announces itself.  So no data that
its receiver passes on without deserialising it contains memory of other workers.
"""

import contextvars
import functools
import logging
import os
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import dask
from distributed.core import Status

from .. import _native
from ._loans import Borrowers, Loan, Reply

logger = logging.getLogger(__name__)

# The name of this package in handshakes, configuration and lists of extensions.
NAME = "pyarrow-cuda-compat"
# The version of the format on which both sides of a transfer have to agree.
_FORMAT = 5
# How long to wait for a connection that is in use, in seconds.
_RENEWAL = 0.05

_prepared: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.Lock()


def prepare(worker: Any) -> None:
    """Lets a worker lend memory, and announce that it takes some.  Once is enough."""
    _is_wanted()  # raises where the setting is wrong, which transfers cannot
    with _lock:
        if worker in _prepared:
            return
        _prepared.add(worker)
    worker.handlers["get_data"] = _lending(worker.handlers["get_data"])
    if (announced := announcement()) is not None:
        _announce(worker, announced)


def announcement() -> dict[str, Any] | None:
    """What others have to know before they lend memory to this process."""
    try:
        return {
            "format": _FORMAT,
            "machine": _machine(),
            "process": os.getpid(),
            "devices": [_native._uuid(number).hex() for number in devices()],
        }
    except OSError as error:
        logger.info("no device memory is taken from other workers: %s", error)
        return None


def _is_wanted() -> bool:
    """Whether Dask's configuration lets memory be lent."""
    wanted = dask.config.get(f"{NAME}.ipc", default=True)
    if wanted not in (True, False):
        raise ValueError(
            f"{NAME}.ipc in Dask's configuration (DASK_PYARROW_CUDA_COMPAT__IPC) must be true or "
            f"false, not {wanted!r}"
        )
    return bool(wanted)


def _is_lending() -> bool:
    try:
        return _is_wanted()
    except ValueError as error:
        # It was changed later.  If a transfer raised this, the task there would wait for ever.
        logger.error("device memory is sent through the host: %s", str(error))
        return False


def devices() -> range:
    """The numbers of this process's devices."""
    return range(_native.Context.get_num_devices())


def _machine() -> str:
    """Names where memory can be shared: a boot of a machine, and a container on it."""
    parts = [Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()]
    parts += [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("ipc", "pid")]
    return " ".join([*parts, str(os.getuid())])


def _announce(worker: Any, announced: dict[str, Any]) -> None:
    """Changes the handshake of the connections that the worker asks for data with."""
    arguments = dict(worker.rpc.connection_args)
    overrides = (arguments.get("handshake_overrides") or {}) | {NAME: announced}
    # Not in place: the worker's connection to its scheduler shares the original.
    worker.rpc.connection_args = arguments | {"handshake_overrides": overrides}
    if worker.rpc.open:
        worker.loop.add_callback(_renew_connections, worker)


def _renew_connections(worker: Any, old: set[Any] | None = None) -> None:
    """Has connections closed that were opened with another handshake, once they are idle."""
    pool = worker.rpc
    if old is None:
        old = _comms(pool.available) | _comms(pool.occupied)
    if not old.isdisjoint(_comms(pool.available)):
        pool.collect()
    if not old.isdisjoint(_comms(pool.occupied)):
        worker.loop.call_later(_RENEWAL, _renew_connections, worker, old)


def _comms(group: Mapping[str, set[Any]]) -> set[Any]:
    return {comm for comms in group.values() for comm in comms}


# The reply to `get_data` that a message is, if it is one: only that is confirmed.
_reply: contextvars.ContextVar[Reply | None] = contextvars.ContextVar("_reply", default=None)


def _lending(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A worker's `get_data`, whose replies may lend memory."""
    borrowers = Borrowers()

    @functools.wraps(handler)
    async def get_data(*args: Any, **kwargs: Any) -> Any:
        reply = Reply(borrowers, kwargs.get("who"), kwargs.get("keys", ()))
        token, is_confirmed = _reply.set(reply), False
        try:
            answer = await handler(*args, **kwargs)
            is_confirmed = answer is Status.dont_reply  # it has read the confirmation, then
            return answer
        finally:
            _reply.reset(token)
            reply.end(is_confirmed=is_confirmed)

    return get_data


def loan_to(recipient: Mapping[str, Any] | None) -> tuple[Loan, list[str]] | None:
    """A loan for the message that is being written, and memory of which devices it may contain."""
    peer, reply = (recipient or {}).get(NAME), _reply.get()
    if (
        peer is None
        or reply is None
        or not _is_lending()
        or peer.get("format") != _FORMAT
        # A process cannot open what it has exported itself.
        or peer["process"] == os.getpid()
        or peer["machine"] != _machine()
    ):
        return None
    loan = reply.loan()
    return None if loan is None else (loan, peer["devices"])
