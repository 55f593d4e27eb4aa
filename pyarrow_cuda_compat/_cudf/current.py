"""The context in which the thread's call computes."""

from __future__ import annotations

import threading
from typing import Any

from .. import _native


class _Thread(threading.local):
    context: Any = None


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
