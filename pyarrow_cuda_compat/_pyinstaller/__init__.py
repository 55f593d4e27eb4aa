"""Tells PyInstaller which files and modules of this package a frozen program needs.

PyInstaller finds the folder by the entry point in ``pyproject.toml``.
"""

from __future__ import annotations

import os


def get_hook_dirs() -> list[str]:
    """The folders with hooks."""
    return [os.path.dirname(__file__)]  # noqa: PTH120  (as everywhere in this package)
