"""Tells PyInstaller what a frozen program needs of this package, and which modules it imports.

PyInstaller finds the folder by the entry point in ``pyproject.toml``.
"""

from __future__ import annotations

import os


def get_hook_dirs() -> list[str]:
    """The folders with hooks."""
    return [os.path.dirname(__file__)]  # noqa: PTH120  (as everywhere in this package)
