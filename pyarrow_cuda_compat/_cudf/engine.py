"""Which engine computes on device data."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Literal

from .. import _native
from .._start.extension import PACKAGE
from .refusals import EngineUnavailable

_VARIABLE = "PYARROW_CUDA_COMPUTE_ENGINE"
_ENGINES = ("cudf", "none")
#: The releases of pylibcudf whose answers were compared with pyarrow's.
OLDEST, NEWEST = (26, 10), (26, 12)
_INSTALL = (
    "to compute on it, install pylibcudf-cu13, or pylibcudf-cu12 for a driver of CUDA 12: "
    "pip install 'pylibcudf-cu13>=26.10,<26.13'"
)

_chosen: str | None = None
#: How often the choice was made.
_choices = 0
#: Held for a few lines only, which neither import nor wait.  A finalizer among them may need it.
_lock = threading.RLock()
#: The engine, or the reason why no engine computes; None before the first call asks.
_found: Any = None


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
    global _choices, _chosen, _found
    if engine is not None and engine not in _ENGINES:
        raise ValueError(f"engine must be 'cudf', 'none' or None, not {engine!r}")
    if engine == "cudf" and (missing := _missing()):
        raise ImportError(missing, name="pylibcudf")
    with _lock:
        _chosen, _found, _choices = engine, None, _choices + 1
        _native._set_has_engine(False)


set_compute_engine.__module__ = PACKAGE


def described() -> str:
    """The engine and its version, or why nothing computes on devices, for `show_config`."""
    reason = _reason()
    return f"none: {reason}" if reason else f"libcudf, by pylibcudf {_installed()}"


def implementations(load: Callable[[], Any]) -> Any:
    """What `load` has returned, the first time that an engine was needed.

    Raises
    ------
    EngineUnavailable
        If there is no engine, or it cannot be loaded.
    """
    found = _found
    while found is None:
        if _thread.is_loading:  # a finalizer, or a handler of a signal, computes
            raise EngineUnavailable(
                "this thread is loading pylibcudf; call the function once that has ended"
            )
        found = _choose(load)
    if isinstance(found, str):
        raise EngineUnavailable(found)
    return found


def _choose(load: Callable[[], Any]) -> Any:
    """What computes, or the reason why nothing does; None if the choice has changed meanwhile.

    No lock is held: another thread that needs it may be importing the same modules.
    """
    global _found
    choices = _choices
    _thread.is_loading = True
    try:
        found = _reason() or _loaded(load)
    finally:
        _thread.is_loading = False
    with _lock:
        if choices != _choices:
            return None
        if isinstance(found, str) and _is_being_imported():
            return found  # of modules that are not complete yet, so that it may not last
        _found = found
        _native._set_has_engine(not isinstance(found, str))
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
    if _native._driver()["simulated"]:
        return "the simulated device runs no kernels of libcudf, and a GPU with pylibcudf does"
    if missing := _missing():
        return missing
    if _is_per_thread():
        return (
            f"{_STREAMS}=1 has pylibcudf queue the work of each thread on a stream of its own, and "
            "nothing would order what threads share; unset it before pylibcudf is imported"
        )
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


def _loaded(load: Callable[[], Any]) -> Any:
    try:
        import rmm.mr  # type: ignore[import-not-found,unused-ignore]  # noqa: F401 - a program needs both

        return load()
    except Exception as error:  # a library of another CUDA fails in ways of its own
        return f"pylibcudf cannot be loaded: {error}"


class _Thread(threading.local):
    is_loading = False


_thread = _Thread()
