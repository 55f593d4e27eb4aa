"""Replaces members of pyarrow's classes, in place.

Other libraries use pyarrow's own objects, so this package has to replace the members themselves.
The classes are compiled and refuse new attributes, but their namespaces accept them: Cython itself
adds methods for pickling to a class in this way.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from . import _native


def replace(cls: type, name: str, make: Callable[[Any], Any]) -> bool:
    """Puts what `make` makes of a member in its place.  Returns whether that was possible."""
    # What a mapping proxy shows is the one thing that it refers to.
    namespaces = gc.get_referents(cls.__dict__)
    if len(namespaces) != 1 or name not in namespaces[0]:
        return False
    namespaces[0][name] = make(namespaces[0][name])
    _native._class_changed(cls)
    return True
