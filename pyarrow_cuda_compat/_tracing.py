"""Records of calls: for ``logging``, and as NVTX ranges."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

from . import _native
from ._start.extension import PACKAGE
from ._start.optional import required

_LOG, _NVTX = 1, 2

_loggers = {
    area: logging.getLogger(f"{PACKAGE}.{area}")
    for area in ("allocation", "transfer", "ipc", "compute")
}
#: The kinds of records that the program has asked for, as bits.
traced = 0
_push: Callable[..., object]
_pop: Callable[..., object]


def set_tracing(log: bool | None = None, *, nvtx: bool | None = None) -> None:
    """Choose whether the package's calls are recorded, from the next one on.

    Nothing is recorded until a program asks for it, and costs nothing until then.

    Parameters
    ----------
    log : bool, optional
        Whether calls are logged by Python's ``logging``, at the level DEBUG, to the loggers
        ``pyarrow_cuda_compat.allocation``, ``.transfer``, ``.ipc`` and ``.compute``, whose levels
        and handlers apply as usual.  By default as it was.
    nvtx : bool, optional
        Whether calls are ranges of NVTX, which Nsight Systems shows, in the domain
        ``pyarrow_cuda_compat``.  By default as it was.

    Raises
    ------
    ImportError
        If ranges are asked for, and the package nvtx is not installed.
    TypeError
        If an argument is neither a bool nor None.

    Notes
    -----
    Allocations, copies, fills, exports and imports are recorded that the program makes by
    the methods and functions of this package, and by ``copy_to``, and pyarrow's functions that
    compute on a device, with the bytes and the rows of their arguments; not those that pyarrow
    makes within its own functions, such as reading a file.  The time is that of the call: a copy
    with ``stream=`` may only be queued when it ends.

    A log record has the attributes ``call``, ``nbytes`` and ``device`` (None where the package
    does not know them), ``rows`` (of functions that compute) and ``seconds``.

    Examples
    --------
    >>> import logging, sys
    >>> logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(call)s: %(nbytes)s")
    >>> set_tracing(log=True)
    >>> buf = cuda.Context(0).new_buffer(1000)
    Context.new_buffer: 1000
    >>> set_tracing(log=False)
    """
    global traced, _push, _pop
    for name, wanted in (("log", log), ("nvtx", nvtx)):
        if not (wanted is None or isinstance(wanted, bool)):
            raise TypeError(f"{name} argument must be a bool, not {type(wanted).__name__}")
    if nvtx:
        module = required("nvtx", "this needs NVTX: pip install nvtx")
        _push, _pop = module.push_range, module.pop_range
    for bit, wanted in ((_LOG, log), (_NVTX, nvtx)):
        if wanted is not None:
            traced = traced | bit if wanted else traced & ~bit
    _native._set_traced(traced, _begin_call, _end_call)


set_tracing.__module__ = PACKAGE


def tracing() -> dict[str, bool]:
    """Return what `set_tracing` has chosen.

    Returns
    -------
    dict of str to bool
        ``log`` and ``nvtx``.

    Examples
    --------
    >>> tracing()
    {'log': False, 'nvtx': False}
    """
    return {"log": bool(traced & _LOG), "nvtx": bool(traced & _NVTX)}


tracing.__module__ = PACKAGE


def _begin_call(traced: int, area: str, call: str) -> None:
    """To be called before a call that `_end_call` records, with the same `traced`."""
    if traced & _NVTX:
        _push(message=call, category=area, domain=PACKAGE)


def _end_call(
    traced: int,
    area: str,
    call: str,
    nbytes: int | None,
    device: int | None,
    seconds: float,
    error: BaseException | None,
    rows: int | None,
) -> None:
    """Records a call, which has raised `error` if there is one."""
    if traced & _NVTX:
        _pop(domain=PACKAGE)
    logger = _loggers[area]
    if not (traced & _LOG and logger.isEnabledFor(logging.DEBUG)):
        return
    facts = "" if nbytes is None else f" {nbytes} bytes,"
    facts += "" if rows is None else f" {rows} rows by libcudf,"
    facts += "" if device is None else f" device {device},"
    text, arguments = "%s:%s %.1f us", [call, facts, 1e6 * seconds]
    if error is not None:
        said = f"{type(error).__name__}: {error}"
        text, arguments = "%s failed after %.1f us: %s", [call, 1e6 * seconds, said]
    extra: dict[str, Any] = {"call": call, "nbytes": nbytes, "device": device, "seconds": seconds}
    extra["rows"] = rows
    logger.debug(text, *arguments, extra=extra, stacklevel=_callers_level())


def _callers_level() -> int:
    """How far up the stack from `_end_call` the program's own line is, as logging counts."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back and str(frame.f_globals.get("__package__")).partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    return level
