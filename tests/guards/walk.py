"""Finds every callable and property that pyarrow offers, by walking its modules."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator, Set
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pyarrow as pa

#: Parts of pyarrow that no program calls, or that are written for tests.
_LEFT_OUT = {"tests", "vendored", "conftest", "benchmark", "_pyarrow_cpp_tests", "cffi", "jvm"}
_PROPERTIES = {"getset_descriptor", "property"}
_METHODS = {"cython_function_or_method", "function"}
#: Methods that have to do with the class or the interpreter, not with data.
_OF_PYTHON = {
    "__reduce_cython__", "__setstate_cython__", "__setstate__", "__subclasshook__", "__new__",
    "__init_subclass__", "__format__", "__dir__", "__class_getitem__",
}  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A function, a member of a class, or a class to be called."""

    module: str
    #: The class, or "" for a function.
    owner: str
    #: "" for a class itself.
    name: str
    #: "function", "method", "static", "property" or "class".
    kind: str

    def __str__(self) -> str:
        return f"{self.module}:{'.'.join(filter(None, (self.owner, self.name)))}"

    def found(self) -> Any:
        """The function or class, or the member of the class."""
        found = importlib.import_module(self.module)
        for part in filter(None, (self.owner, self.name)):
            found = getattr(found, part)
        return found

    def parameters(self) -> list[inspect.Parameter]:
        """Without the object of a method; none where it does not say."""
        try:
            found = inspect.signature(self.found()).parameters.values()
        except (TypeError, ValueError):
            return []
        named = [each for each in found if each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
        return named[1:] if self.kind == "method" else named


def modules(left_out: Set[str] = frozenset()) -> Iterator[ModuleType]:
    """All modules of pyarrow, imported, except those that need a library that is missing here."""
    yield pa
    for each in pkgutil.walk_packages(pa.__path__, "pyarrow."):
        if not (_LEFT_OUT | left_out).isdisjoint(each.name.split(".")):
            continue
        try:
            yield importlib.import_module(each.name)
        except ImportError:
            continue


def entries() -> list[Entry]:
    """Each once, under the module that defines it, in the order of their names."""
    found = {}
    for module in modules():
        for name, value in vars(module).items():
            home = getattr(value, "__module__", None) or ""
            if home.split(".")[0] != "pyarrow" or home == "pyarrow._cuda":
                continue
            if inspect.isclass(value):
                for each in _of_class(value, home):
                    found[str(each)] = each
            elif callable(value) and not name.startswith("_"):
                each = Entry(module.__name__, "", name, "function")
                # Under the shortest name that programs use.
                found.setdefault((home, getattr(value, "__name__", name)), each)
    return sorted(found.values(), key=str)


def _of_class(cls: type, module: str) -> Iterator[Entry]:
    if getattr(importlib.import_module(module), cls.__name__, None) is not cls:
        return
    if not issubclass(cls, BaseException):
        yield Entry(module, cls.__name__, "", "class")
    for name, member in vars(cls).items():
        kind = type(member).__name__
        if name in _OF_PYTHON or (name.startswith("_") and not name.endswith("__")):
            continue
        if kind in _PROPERTIES:
            yield Entry(module, cls.__name__, name, "property")
        elif kind in ("staticmethod", "classmethod"):
            yield Entry(module, cls.__name__, name, "static")
        elif kind in _METHODS:
            yield Entry(module, cls.__name__, name, "method")
