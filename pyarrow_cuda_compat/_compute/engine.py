"""Which engine computes on device data."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Literal

from .. import _native
from .._runtime.extension import PACKAGE

_VARIABLE = "PYARROW_CUDA_COMPUTE_ENGINE"
_ENGINES = ("cudf", "none")
#: The releases of pylibcudf whose answers were compared with pyarrow's.
OLDEST, NEWEST = (26, 10), (26, 12)
_INSTALL = (
    "install pylibcudf-cu12 or pylibcudf-cu13, for the CUDA of your driver, to compute on it: "
    "pip install 'pylibcudf-cu13>=26.10,<26.13'"
)

#: What `set_tracing` has chosen.
traced = 0
_chosen: str | None = None
#: How often the choice was made.
_choices = 0
#: Held for a few lines only, which neither import nor wait.  A finalizer among them may need it.
_lock = threading.RLock()
#: By the number of a device: the context for which RMM was asked, and the resource that it got.
_shared: dict[int, tuple[Any, Any]] = {}
#: The module of rows, or the reason why no function runs on the device, once a call has asked.
_rows: Any = None


def set_compute_engine(engine: Literal["cudf", "none"] | None) -> None:
    """Set what computes where pyarrow's functions get data on a device.

    Parameters
    ----------
    engine : {'cudf', 'none'} or None
        ``'cudf'``: libcudf, by pylibcudf.  ``'none'``: nothing does, and the functions raise
        ``NotImplementedError``.  None: what the environment variable
        ``PYARROW_CUDA_COMPUTE_ENGINE`` says, or libcudf if pylibcudf is installed.

    Raises
    ------
    ValueError
        If there is no such engine.
    ImportError
        For ``'cudf'``, if no release of pylibcudf is installed whose answers are known.

    Examples
    --------
    >>> set_compute_engine("none")
    >>> set_compute_engine(None)
    """
    global _choices, _chosen, _rows
    if engine is not None and engine not in _ENGINES:
        raise ValueError(f"engine must be 'cudf', 'none' or None, not {engine!r}")
    if engine == "cudf" and (missing := _missing()):
        raise ImportError(missing, name="pylibcudf")
    with _lock:
        _chosen, _rows, _choices = engine, None, _choices + 1


set_compute_engine.__module__ = PACKAGE


def described() -> str:
    """The engine and its version, or why nothing computes on devices, for `show_config`."""
    reason = _reason()
    return f"none: {reason}" if reason else f"libcudf, by pylibcudf {_installed()}"


def rows() -> Any:
    """The module `rows`, or a text that says why no function runs on the device."""
    found = _rows
    while found is None:
        if _thread.is_loading:  # a finalizer, or a handler of a signal, computes
            return "this thread is loading pylibcudf; call the function once that has ended"
        found = _found()
    return found


def _found() -> Any:
    """The same; None if the choice has changed meanwhile.

    No lock is held: another thread that needs it may be importing the same modules.
    """
    global _rows
    choices = _choices
    _thread.is_loading = True
    try:
        found = _reason() or _load()
    finally:
        _thread.is_loading = False
    with _lock:
        if choices != _choices:
            return None
        if isinstance(found, str) and _is_being_imported():
            return found  # of modules that are not complete yet, so that it may not last
        _rows = found
    return found


def _is_being_imported() -> bool:
    """Whether an import of RMM or pylibcudf, maybe one by the program, has not ended."""
    specs = (getattr(sys.modules.get(name), "__spec__", None) for name in ("rmm", "pylibcudf"))
    return any(getattr(spec, "_initializing", False) for spec in specs)


def _reason() -> str | None:
    choice = _chosen or os.environ.get(_VARIABLE) or "cudf"
    if choice not in _ENGINES:
        return f"{_VARIABLE} names the engine {choice!r}; there are {' and '.join(_ENGINES)}"
    if choice == "none":
        return "the compute engine is set to 'none'"
    if missing := _missing():
        return missing
    if _is_per_thread():
        return (
            f"{_STREAMS}=1 has pylibcudf queue the work of each thread on a stream of its own, and "
            "nothing would order what threads share; unset it before pylibcudf is imported"
        )
    if _native._driver()["simulated"]:
        return "the simulated device runs no kernels of libcudf"
    return None


def _missing() -> str | None:
    """What to install, unless there is a release of pylibcudf whose answers are known."""
    found = _installed()
    if found is None:
        return _INSTALL
    release = tuple(int(part) for part in found.split(".")[:2])
    if not OLDEST <= release <= NEWEST:
        known = " to ".join(".".join(map(str, each)) for each in (OLDEST, NEWEST))
        return f"pylibcudf {found} is installed, and answers are known of {known}"
    return None


#: pylibcudf reads it when it is imported.
_STREAMS = "CUDF_PER_THREAD_STREAM"


def _is_per_thread() -> bool:
    """Whether pylibcudf's default stream is another one in each thread."""
    utils, streams = (sys.modules.get(it) for it in ("pylibcudf.utils", "rmm.pylibrmm.stream"))
    if utils is None or streams is None:
        return os.environ.get(_STREAMS) == "1"
    found: Any = getattr(utils, "CUDF_DEFAULT_STREAM", None)
    return found is not None and found is streams.PER_THREAD_DEFAULT_STREAM


def _installed() -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # takes milliseconds

    for name in ("pylibcudf-cu13", "pylibcudf-cu12", "pylibcudf"):
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    return None


def _load() -> Any:
    try:
        import rmm.mr  # noqa: F401 - a program needs both

        from . import rows
    except Exception as error:  # a library of another CUDA fails in ways of its own
        return f"pylibcudf cannot be loaded: {error}"
    return rows


class _Thread(threading.local):
    context: Any = None
    is_loading = False


_thread = _Thread()


def compute_in(context: Any) -> None:
    """Sets the context in which the thread's call computes; an OSError if that is gone."""
    _native._make_ready_in(context)
    _thread.context = context


def resume_in(context: Any) -> None:
    """Sets the context of a call again that another one has interrupted."""
    _thread.context = context


def here() -> Any:
    """The context in which the thread's call computes; None outside of calls."""
    return _thread.context


class Elsewhere(Exception):
    """The data lies where libcudf cannot compute; the text says where."""


def share_memory(context: Any) -> None:
    """Has RMM allocate from this package, unless the program has made another choice.

    Raises
    ------
    Elsewhere
        If the context is not the primary one of its device.
    """
    device = context.device_number
    before, ours = _shared.get(device, (None, None))
    if before == context:
        return
    if context != _native.Context(device):
        raise Elsewhere("libcudf computes in the primary context of a device, and this is another")
    _set_resource(context, ours)


def _set_resource(context: Any, ours: Any) -> None:
    """Has RMM allocate from the context, unless another thread has replaced our resource."""
    import rmm.mr  # type: ignore[import-not-found,unused-ignore]

    from ..rmm import memory_resource

    device, made = context.device_number, memory_resource(context)
    # Another thread's first call would take a resource of ours for the program's.
    with _lock:
        chosen = rmm.mr.get_per_device_resource(device)
        before, latest = _shared.get(device, (None, None))
        if before == context or latest is not ours:
            return
        # After a reset of the device, ours is of a context that is gone.
        if type(chosen) is rmm.mr.CudaMemoryResource or (ours is not None and chosen is ours):
            ours = made
            rmm.mr.set_per_device_resource(device, ours)
        _shared[device] = context, ours
