"""Guards pyarrow's functions that read their data in host memory: see `table`.

A guard is an object of the extension that takes a function's place.  It looks at the arguments,
and calls the function with them unless one contains data on a device.  A method is replaced in its
class, a function in every module that has imported it.  A module that is imported later is guarded
right after its import.
"""

import sys
from collections.abc import Callable, Iterable
from functools import update_wrapper
from importlib import import_module
from types import ModuleType
from typing import Any

from ... import _native
from ..._runtime.import_hooks import follow
from ..patching import replace
from . import assertions
from .actions import Action, copy_to_host, count_nulls, refuse
from .chunked import slice_chunks, write_batches, write_row_groups
from .conditional import concat_tables, from_offsets, join, validate
from .table import (
    BATCHES,
    CAST,
    COUNT,
    JOIN,
    OFFSETS,
    REFUSE,
    RESULTS,
    ROW_GROUPS,
    SLICE,
    TABLE,
    TO_HOST,
    VALIDATE,
)
from .udfs import with_host_results

#: By rule, the action on each piece of data on a device; that of `REFUSE` needs a name.
_ACTIONS: dict[str, Action] = {TO_HOST: copy_to_host, RESULTS: copy_to_host, COUNT: count_nulls}
#: By rule, the function to call instead of the guarded one, with that one and its arguments.
_SUBSTITUTES: dict[str, Callable[..., Any]] = {
    SLICE: slice_chunks,
    BATCHES: write_batches,
    ROW_GROUPS: write_row_groups,
    CAST: concat_tables,
    JOIN: join,
    OFFSETS: from_offsets,
    VALIDATE: validate,
}
#: Functions, by their numbers, and their guards.
_Guards = dict[int, tuple[Any, Any]]


def install() -> None:
    """Guards all functions in the table, once each."""
    assertions.install()
    guards: _Guards = {}
    for module in dict.fromkeys(module for module, _, _ in TABLE):
        if module in sys.modules:
            import_module(module)  # another thread may be about to finish it
            guards |= _guard_members(module)
        else:
            follow(module, __name__, "guard")
    # Any module may have imported the functions by their names before.
    _replace_functions(guards, sys.modules.values())


def guard(module: str) -> None:
    """Guards the functions in the table of a module that has just been imported."""
    package = module.partition(".")[0]
    # While the module was imported, only its own package could get functions from it.
    siblings = [each for name, each in sys.modules.items() if name.partition(".")[0] == package]
    _replace_functions(_guard_members(module), siblings)


def _guard_members(module: str) -> _Guards:
    """Guards members of classes.  Returns the guards of functions, which are not in place yet."""
    guards: _Guards = {}
    for names, rule in ((names, rule) for of, names, rule in TABLE if of == module):
        for name in names.split():
            owner, _, member = name.rpartition(".")
            found = vars(sys.modules[module]).get(owner or name)
            if isinstance(found, type):
                _guard_class(found, member if owner else "", rule)
            elif found is not None and not isinstance(found, _native._Guard):
                guards[id(found)] = found, _guarded(found, f"{module}.{name}", rule)
    return guards


def _guard_class(cls: type, member: str, rule: str) -> None:
    name = f"{cls.__module__}.{cls.__qualname__}"
    if not member:
        _guard_construction(cls, name, rule)
        return

    def make(original: Any) -> Any:
        if isinstance(original, staticmethod | classmethod):
            return type(original)(_guarded(original.__func__, f"{name}.{member}", rule))
        if isinstance(original, _native._Guard):
            return original
        if not callable(original):
            return property(_guarded(original.__get__, f"{name}.{member}", rule))
        return _guarded(original, f"{name}.{member}", rule)

    replace(cls, member, make)


class _Example:
    """A class whose objects Python constructs by the methods in its namespace."""

    def __new__(cls, *_arguments: Any) -> Any:
        return super().__new__(cls)

    def __init__(self) -> None:
        pass


def _guard_construction(cls: type, name: str, rule: str) -> None:
    member = "__init__" if "__init__" in vars(cls) else "__new__"
    if isinstance(vars(cls)[member], _native._Guard | staticmethod):
        return
    new = _native._construct_by(cls, _Example, member)
    if member == "__new__":
        replace(cls, member, lambda _: staticmethod(_guarded(new, name, rule)))
    else:
        replace(cls, member, lambda init: _guarded(init, name, rule))


def _guarded(function: Any, name: str, rule: str) -> Any:
    if rule in _SUBSTITUTES:
        guard = _native._Guard(function, _SUBSTITUTES[rule], substitutes=True)
    else:
        action = refuse(name) if rule == REFUSE else _ACTIONS[rule]
        guard = _native._Guard(function, action, substitutes=False)
    update_wrapper(guard, function)
    return with_host_results(guard) if rule == RESULTS else guard


def _replace_functions(guards: _Guards, modules: Iterable[Any]) -> None:
    """Puts guards into the modules that have the functions."""
    if not guards:
        return
    for module in list(modules):
        if isinstance(module, ModuleType):
            # Another attribute would load a module that is loaded when it is first used.
            names = object.__getattribute__(module, "__dict__")
            for name, value in list(names.items()):
                found = guards.get(id(value))
                if found is not None:
                    names[name] = found[1]
