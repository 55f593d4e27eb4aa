"""Replaces members of pyarrow's classes in place, and adds some (monkey-patching).

Other libraries use pyarrow's own objects, so this package has to replace the members themselves.
The classes are compiled and refuse new attributes, but their namespaces accept them: Cython itself
adds methods for pickling to a class in this way.
"""

import gc
from collections.abc import Callable
from typing import Any

from .. import _native


def replace(cls: type, name: str, make: Callable[[Any], Any]) -> bool:
    """Replaces a member by `make(member)`.  Returns whether the class has one."""
    namespace = _namespace(cls)
    if name not in namespace:
        return False
    namespace[name] = make(namespace[name])
    _native._class_changed(cls)
    return True


def wrap(cls: type, name: str, make: Callable[[Any], Any]) -> None:
    """Replaces a method, as the class gives it, by `make(method)`, unless that was done before."""
    original = getattr(cls, name)
    if not hasattr(original, "__wrapped__"):
        replace(cls, name, lambda _raw: make(original))


def add(cls: type, name: str, member: Any) -> None:
    """Adds a member to a class, unless the class, or one that it extends, has one of that name: it
    may come with a later pyarrow."""
    if not hasattr(cls, name):
        _namespace(cls)[name] = member
        _native._class_changed(cls)


def named(function: Callable[..., Any], cls: type, name: str) -> Callable[..., Any]:
    """A function that looks like a method of a class."""
    function.__name__, function.__qualname__ = name, f"{cls.__name__}.{name}"
    function.__module__ = cls.__module__
    return function


def _namespace(cls: type) -> dict[str, Any]:
    """The namespace of a class, or an empty one where it cannot be found."""
    # A mapping proxy refers to one object: the namespace that it shows.
    namespaces = gc.get_referents(cls.__dict__)
    return namespaces[0] if len(namespaces) == 1 else {}
