"""Guards pyarrow's functions that read their data in host memory: see `table`.

A guard looks at the arguments of each call, and changes it if one contains data on a device.  It is
put into pyarrow's own function, property or class, so it acts for whoever has that.  Only functions
of Python code get a wrapper, in every module that has imported them.  A module that is imported
later is guarded right after its import.
"""

import sys
from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any, Literal

from ... import _native
from ..._methods import sizes
from ..._start.import_hooks import follow
from .. import patching
from . import assertions
from .actions import Action, copy_to_host, count_nulls, refuse
from .chunked import slice_chunks, write_batches, write_row_groups
from .compute import call, query
from .conditional import concat_tables, from_offsets, join, size_of, validate
from .datasets import in_memory_dataset, write_dataset
from .parquet import write_table
from .table import (
    BATCHES,
    BUFFERS,
    CAST,
    CHECK,
    COMPUTE,
    COUNT,
    DATASET,
    JOIN,
    MASK,
    METHOD,
    NBYTES,
    OFFSETS,
    PARQUET,
    QUERY,
    RESULTS,
    ROW_GROUPS,
    SIZE,
    SLICE,
    TABLE,
    TO_HOST,
    VALIDATE,
    WRITE,
)
from .udfs import with_host_results

#: By rule, the action on each piece of data on a device; the others need a name.
_ACTIONS: dict[str, Action] = {TO_HOST: copy_to_host, COUNT: count_nulls}
#: By rule, the argument without which a guard does nothing: its position and its name.
_ARGUMENTS = {MASK: (2, "mask")}
#: By rule, the function to call instead of the guarded one, with that one and its arguments.
_SUBSTITUTES: dict[str, Callable[..., Any]] = {
    SLICE: slice_chunks,
    BATCHES: write_batches,
    ROW_GROUPS: write_row_groups,
    PARQUET: write_table,
    CAST: concat_tables,
    JOIN: join,
    OFFSETS: from_offsets,
    VALIDATE: validate,
    SIZE: size_of,
    QUERY: query,
    DATASET: in_memory_dataset,
    WRITE: write_dataset,
}
#: By rule, the function that answers where pyarrow refuses the first argument.
_ANSWERS: dict[str, Callable[[Any], Any]] = {
    NBYTES: sizes.nbytes,
    BUFFERS: sizes.total_buffer_size,
}
#: By rule, the guard that needs no function.
_BUILT_IN: dict[str, Literal["method", "check"]] = {METHOD: "method", CHECK: "check"}
#: Functions of Python code, by their numbers, and their wrappers.
_Wrappers = dict[int, tuple[Any, Any]]


def install() -> None:
    """Guards all functions in the table, once each."""
    assertions.install()
    for module in dict.fromkeys(module for module, _, _ in TABLE):
        follow(module, __name__, "guard", reloads=True)


def guard(module: str) -> None:
    """Guards the functions in the table of a module that has just been imported."""
    _replace_functions(_guard_members(module))


def _guard_members(module: str) -> _Wrappers:
    """Guards members of a module.  Returns the wrappers of functions, not in place yet."""
    wrappers: _Wrappers = {}
    for names, rule in ((names, rule) for of, names, rule in TABLE if of == module):
        for name in names.split():
            owner, _, member = name.rpartition(".")
            home: Any = sys.modules[module]
            if owner:
                home = vars(home).get(owner)
            found = None if home is None else vars(home).get(member)
            if found is not None and not _guard_in_place(found, f"{module}.{name}", rule):
                wrapper = _wrapped(found, f"{module}.{name}", rule)
                if owner:
                    setattr(home, member, wrapper)
                else:
                    wrappers[id(found)] = found, wrapper
    return wrappers


def _guard_in_place(found: Any, name: str, rule: str) -> bool:
    """Guards a compiled class, function, method or property.  Returns whether it is one."""
    if rule == COMPUTE:
        guard = _native._Guard(call, "computed", (1, "args"))
    elif rule in _SUBSTITUTES:
        guard = _native._Guard(_SUBSTITUTES[rule], "any")
    elif rule in _ANSWERS:
        guard = _native._Guard(_ANSWERS[rule], "refused")
    elif rule in _BUILT_IN:
        guard = _native._Guard(None, _BUILT_IN[rule])
    elif rule == RESULTS:
        guard = _native._Guard(with_host_results, "always")
    else:
        guard = _native._Guard(_action(name, rule), "each", _ARGUMENTS.get(rule))
    return patching.guard(found, guard)


def _action(name: str, rule: str) -> Action:
    return _ACTIONS.get(rule) or refuse(name)


def _wrapped(function: Any, name: str, rule: str) -> Any:
    action, substitute = _action(name, rule), _SUBSTITUTES.get(rule)

    @wraps(function)
    def guarded(*arguments: Any, **keywords: Any) -> Any:
        if substitute is not None:
            return substitute(function, *arguments, **keywords)
        arguments, keywords = _native._map_device_data((arguments, keywords), action)
        return function(*arguments, **keywords)

    return guarded


def _replace_functions(wrappers: _Wrappers) -> None:
    """Puts wrappers into all modules that have the functions: any may have imported them."""
    for module in list(sys.modules.values()) if wrappers else ():
        if isinstance(module, ModuleType):
            # Another attribute would load a module that is loaded when it is first used.
            names = object.__getattribute__(module, "__dict__")
            for name, value in list(names.items()):
                found = wrappers.get(id(value))
                if found is not None:
                    names[name] = found[1]
