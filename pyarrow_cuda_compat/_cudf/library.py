"""libcudf as a library that may be missing, refuse a call, or fail in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar

from .. import _native
from . import engine
from .refusals import Refusal, RefusedByLibrary

_T = TypeVar("_T")


def load() -> Any:
    """The module that answers calls."""
    from . import dispatch  # needs pylibcudf

    return dispatch


def attempted(call: Callable[[Any], _T]) -> _T:
    """What a function returns, which gets `dispatch` and calls libcudf.

    Raises
    ------
    Refusal
        If no engine answers, or libcudf refuses the call by a check of its own.
    OutOfMemoryError
        If the device has too little free memory.
    OSError
        If the device has failed.
    """
    try:
        return call(engine.implementations(load))
    except (Refusal, _native.OutOfMemoryError):
        raise
    except MemoryError as error:
        raise _native.OutOfMemoryError(str(error)) from error
    except Exception as error:
        if not _is_of_libcudf(error.__traceback__):
            raise
        if _DEVICE_ERROR.search(str(error)):
            raise OSError(str(error)) from error
        raise RefusedByLibrary(str(error)) from error


#: In texts of libcudf, RMM and CCCL for errors of the driver.
_DEVICE_ERROR = re.compile("CUDA error|cudaError", re.IGNORECASE)
#: Their files: compiled ones are named without folders above.
_OF_LIBCUDF = re.compile("(.*/site-packages/)?(pylibcudf|rmm)/")


def _is_of_libcudf(trace: TracebackType | None) -> bool:
    """Whether pylibcudf or RMM have raised an exception, which are of many classes."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and bool(_OF_LIBCUDF.match(trace.tb_frame.f_code.co_filename))
