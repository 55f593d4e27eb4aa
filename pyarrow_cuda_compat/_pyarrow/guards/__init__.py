"""Puts guards before what pyarrow can do with data on the host only: see `table`.

A guard is an object of the extension, which takes a function's place.  It looks at the arguments,
and calls the function as it is unless one of them lies on a device.  Classes get it in place,
modules wherever they have the function.  A module that is not imported yet is changed right after
its import.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import update_wrapper
from types import ModuleType
from typing import Any

import _pyarrow_cuda_compat_hook as _hook  # type: ignore[import-untyped,unused-ignore]

from ... import _native, _watch
from ..replacing import replace
from . import assertions
from .callbacks import with_host_results
from .chunk_by_chunk import slice_chunks, write_batches, write_row_groups
from .host_copies import bring, count, refuse
from .sometimes import concat_tables, from_offsets, validate
from .table import (
    BATCHES,
    BRING,
    CAST,
    COUNT,
    OFFSETS,
    REFUSE,
    RESULTS,
    ROW_GROUPS,
    SLICE,
    TABLE,
    VALIDATE,
)

#: What becomes of the arguments of a function that is called with them then.
_ARGUMENTS: dict[str, Callable[[Any, str], Any]] = {
    REFUSE: refuse,
    BRING: bring,
    RESULTS: bring,
    COUNT: count,
}
#: What is called in a function's place.
_INSTEAD: dict[str, Callable[..., Any]] = {
    SLICE: slice_chunks,
    BATCHES: write_batches,
    ROW_GROUPS: write_row_groups,
    CAST: concat_tables,
    OFFSETS: from_offsets,
    VALIDATE: validate,
}


def install() -> None:
    """Guards what the table names, once each, if ``PYARROW_CUDA_HOOK`` allows it."""
    if not _hook.is_enabled():
        return
    assertions.install()
    for module in dict.fromkeys(module for module, _, _ in TABLE):
        _watch.follow(module, __name__, "guard")


def guard(module: str) -> None:
    """Guards what the table names of a module that is imported."""
    guards: dict[int, tuple[Any, Any]] = {}
    for names, happens in ((names, happens) for of, names, happens in TABLE if of == module):
        for name in names.split():
            owner, _, member = name.rpartition(".")
            found = vars(sys.modules[module]).get(owner or name)
            if isinstance(found, type):
                _guard_class(found, member if owner else "", happens)
            elif found is not None and not isinstance(found, _native._Guard):
                guards[id(found)] = found, _guarded(found, f"{module}.{name}", happens)
    _replace_everywhere(guards)


def _guard_class(cls: type, member: str, happens: str) -> None:
    name = f"{cls.__module__}.{cls.__qualname__}"
    if not member:
        treat = _ARGUMENTS[happens]

        def elsewhere(arguments: tuple[Any, ...], keywords: dict[str, Any] | None) -> Any:
            return treat(arguments, name), treat(keywords, name)

        _native._guard_construction(cls, elsewhere)
        return

    def make(original: Any) -> Any:
        if isinstance(original, staticmethod | classmethod):
            return type(original)(_guarded(original.__func__, f"{name}.{member}", happens))
        if isinstance(original, _native._Guard):
            return original
        if not callable(original):
            return property(_guarded(original.__get__, f"{name}.{member}", happens))
        return _guarded(original, f"{name}.{member}", happens)

    if cls.__flags__ & _HEAP:
        if member in vars(cls):
            setattr(cls, member, make(vars(cls)[member]))
    else:
        replace(cls, member, make)


#: Files over device memory, whose methods know what to do.
_FILES: tuple[type, ...] = (_native.BufferReader, _native.BufferWriter)
#: Of classes that Python made, whose slots follow their attributes.
_HEAP = 1 << 9


#: Called with a function, its positional and its named arguments.
_Elsewhere = Callable[[Any, tuple[Any, ...], dict[str, Any] | None], Any]
#: What calls every function of `pyarrow.compute`.
_COMPUTE = "pyarrow.compute.Function.call"


def _guarded(function: Any, name: str, happens: str) -> Any:
    elsewhere = _instead(happens) if happens in _INSTEAD else _treating(name, happens)
    guard = update_wrapper(_native._Guard(function, elsewhere), function)
    return with_host_results(guard) if happens == RESULTS else guard


def _instead(happens: str) -> _Elsewhere:
    instead = _INSTEAD[happens]

    def elsewhere(
        function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any] | None
    ) -> Any:
        return instead(function, *arguments, **(keywords or {}))

    return elsewhere


def _treating(name: str, happens: str) -> _Elsewhere:
    treat = _ARGUMENTS[happens]
    shown = name.replace("pyarrow.lib.", "pyarrow.").replace("pyarrow._", "pyarrow.")

    def elsewhere(
        function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any] | None
    ) -> Any:
        first: Any = arguments[0] if arguments else None
        if isinstance(first, _FILES):
            return function(*arguments, **(keywords or {}))
        called = f"pyarrow.compute.{first.name}" if shown == _COMPUTE else shown
        return function(*treat(arguments, called), **(treat(keywords, called) or {}))

    return elsewhere


def _replace_everywhere(guards: dict[int, tuple[Any, Any]]) -> None:
    """Puts guards into all modules that have imported the functions by their names."""
    if not guards:
        return
    for names in _namespaces():
        for name, value in list(names.items()):
            found = guards.get(id(value))
            if found is not None:
                names[name] = found[1]


def _namespaces() -> Iterator[dict[str, Any]]:
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType):
            # Modules that are loaded when they are first used are not to be loaded by this.
            yield object.__getattribute__(module, "__dict__")
