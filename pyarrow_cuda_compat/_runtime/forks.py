"""Replaces a pinned default memory pool in a forked process, where nothing can be pinned."""

from __future__ import annotations

import pyarrow


def leave_pinned_pool() -> None:
    """Puts the system's pool in the place of a pinned one that is the default.

    Some of Arrow's functions, such as the reader of CSV, end a process whose pool fails.
    """
    if pyarrow.default_memory_pool().backend_name == "pinned":
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())
