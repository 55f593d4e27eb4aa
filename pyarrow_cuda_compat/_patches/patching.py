"""Changes compiled members of pyarrow in place, and adds methods to its classes.

Other libraries use pyarrow's own objects, so this package has to change these themselves.  The
pointer by which Python calls a compiled function leads to a guard, whoever has the function; its
name, its documentation and its signature stay.
"""

import gc
from collections.abc import Callable
from types import GetSetDescriptorType
from typing import Any, Literal

from .. import _native

#: Of a class of pyarrow; a function for `override` takes pyarrow's own method, and its arguments.
Method = Callable[..., Any]

#: Public members that the package adds to pyarrow's classes, or gives further parameters.  The API
#: reference describes them.
DESCRIBED: set[str] = set()
#: By module: where pyarrow shows its classes, if not as names of its own.
_PUBLIC = {"pyarrow._dataset": "dataset."}


def guard(found: Any, guard: Any) -> bool:
    """Puts a guard into a compiled class, property, function or method.  Returns whether it is
    one, or has one already."""
    if isinstance(found, type):
        _native._guard_construction(found, guard)
    elif isinstance(found, GetSetDescriptorType):
        _native._guard_property(found, guard)
    else:
        found = getattr(found, "__func__", found)  # of a static method
        return hasattr(found, "__wrapped__") or _native._guard_function(found, guard)
    return True


def override(
    cls: type,
    name: str,
    method: Method,
    when: Literal["any", "always", "result"] = "always",
) -> None:
    """Has `method` answer calls of a method, or reads of a property: always, or if ``any`` argument
    or the ``result`` contains data on a device.  It gets the original and the arguments, or that
    result.  Nothing happens if the class has no such member."""
    if name in vars(cls):
        guard(vars(cls)[name], _native._Guard(method, when))


def add(cls: type, name: str, member: Any) -> None:
    """Adds a member to a class, unless the class, or one that it extends, has one of that name: it
    may come with a later pyarrow."""
    if not hasattr(cls, name):
        _namespace(cls)[name] = member
        _native._class_changed(cls)
        if not name.startswith("_"):
            DESCRIBED.add(f"{_PUBLIC.get(cls.__module__, '')}{cls.__name__}.{name}")


def named(function: Method, cls: type, name: str) -> Method:
    """A function that looks like a method of a class."""
    function.__name__, function.__qualname__ = name, f"{cls.__name__}.{name}"
    function.__module__ = cls.__module__
    return function


def _namespace(cls: type) -> dict[str, Any]:
    """The namespace of a class, or an empty one where it cannot be found."""
    # A mapping proxy refers to one object: the namespace that it shows.
    namespaces = gc.get_referents(cls.__dict__)
    return namespaces[0] if len(namespaces) == 1 else {}
