"""The context in which the thread's call computes."""

from __future__ import annotations

import threading
from typing import Any


class _Thread(threading.local):
    context: Any = None


_thread = _Thread()


def compute_in(context: Any) -> None:
    """Sets the context in which the thread's call computes; None behind calls."""
    _thread.context = context


def here() -> Any:
    """The context in which the thread's call computes; None outside of calls."""
    return _thread.context
