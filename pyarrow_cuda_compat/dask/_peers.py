"""Which workers of Dask lend device memory to each other.

A worker that may ask another one for data announces itself in the handshake of its connections:
which machine it is on, and which devices it has.  Nobody else does, so whatever is not deserialised
by the worker that receives it holds no memory of others.
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

from .. import _native

logger = logging.getLogger(__name__)

# The name of this package in handshakes, configuration and lists of extensions.
NAME = "pyarrow-cuda-compat"
# The version of the format on which both sides of a transfer have to agree.
_FORMAT = 3
# How long to wait for a connection that is in use, in seconds.
_RENEWAL = 0.05
# A worker that has opened memory before may fail this often in a row: its peers may have died.
_FAILURES = 3

_prepared: weakref.WeakSet[Any] = weakref.WeakSet()
_lock = threading.Lock()


def prepare(worker: Any) -> None:
    """Lets a worker lend memory, and announce that it takes some.  Once is enough."""
    with _lock:
        if worker in _prepared:
            return
        _prepared.add(worker)
    worker.handlers["get_data"] = _lending(worker.handlers["get_data"])
    if not openings.are_hopeless:
        _announce(worker, announcement())


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


def devices() -> range:
    """The numbers of this process's devices."""
    return range(_native.Context.get_num_devices())


def _machine() -> str:
    """Names where memory can be shared: a boot of a machine, and a container on it."""
    parts = [Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()]
    parts += [str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in ("ipc", "pid")]
    return " ".join([*parts, str(os.getuid())])


def _announce(worker: Any, announced: dict[str, Any] | None) -> None:
    """Changes the handshake of the connections that the worker asks for data with."""
    arguments = dict(worker.rpc.connection_args)
    overrides = dict(arguments.get("handshake_overrides") or {})
    overrides.pop(NAME, None)
    if announced is not None:
        overrides[NAME] = announced
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


class Openings:
    """How this process fares with memory of others."""

    def __init__(self) -> None:
        self._ever_succeeded = False
        self._failed_in_a_row = 0

    @property
    def are_hopeless(self) -> bool:
        """Whether it takes no more memory by IPC."""
        return self._failed_in_a_row >= (_FAILURES if self._ever_succeeded else 1)

    def succeeded(self) -> None:
        with _lock:
            self._ever_succeeded, self._failed_in_a_row = True, 0

    def failed(self) -> None:
        with _lock:
            self._failed_in_a_row += 1
            workers = list(_prepared) if self.are_hopeless else []
        for worker in workers:
            _announce(worker, None)


openings = Openings()


# Whether a message is the reply to `get_data`: that one's objects are held until it is confirmed.
_is_held = contextvars.ContextVar("_is_held", default=False)


def _lending(handler: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    """A worker's `get_data`, whose replies may lend memory."""

    @functools.wraps(handler)
    async def get_data(*args: Any, **kwargs: Any) -> Any:
        token = _is_held.set(True)
        try:
            return await handler(*args, **kwargs)
        finally:
            _is_held.reset(token)

    return get_data


def devices_of_borrower(context: Mapping[str, Any] | None) -> list[str]:
    """Memory of which devices may be lent to the recipient of a message."""
    peer = ((context or {}).get("recipient") or {}).get(NAME)
    if (
        peer is None
        or not _is_held.get()
        or not dask.config.get(f"{NAME}.ipc", default=True)
        or peer.get("format") != _FORMAT
        # A process cannot open what it has exported itself.
        or peer["process"] == os.getpid()
        or peer["machine"] != _machine()
    ):
        return []
    found: list[str] = peer["devices"]
    return found
