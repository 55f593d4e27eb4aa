"""Imports a module of this package once the package that it supports has been imported."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType


def follow(
    package: str, module: str, function: str | None = None, *, reloads: bool = False
) -> None:
    """Imports `module` now, if `package` is imported, or right after its import.

    Then calls a function of the module, if one is named, with the name of the package; with
    `reloads`, also each time that `importlib.reload` has run the package again.
    """
    if package in sys.modules:
        _import(package, module, function)
        if not reloads:
            return
    _WATCHER.followers.setdefault(package, []).append((module, function, reloads))
    if _WATCHER not in sys.meta_path:
        sys.meta_path.insert(0, _WATCHER)


def _import(package: str, module: str, function: str | None) -> None:
    try:
        import_module(package)  # another thread may be about to finish it
        found = import_module(module)
        if function is not None:
            getattr(found, function)(package)
    except Exception as error:
        # The import that was asked for has succeeded, and stays so where warnings are errors.
        text = f"{module} does not work here: {error!r}"
        try:
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        except Warning:
            logging.getLogger(__name__).warning("%s", text)


class _Watcher:
    """Finds nothing itself: it looks at what the other finders find.

    While a finder is asked, Python holds a lock that imports of other threads need, so nothing is
    imported here.  The list of finders never loses this one again: another thread that walks along
    the list would miss the one after it.
    """

    def __init__(self) -> None:
        #: Modules to import, and functions to call, after the import of each package.
        self.followers: dict[str, list[tuple[str, str | None, bool]]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.followers:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next(filter(None, specs), None)
        loader = None if spec is None else spec.loader
        execute = getattr(loader, "exec_module", None)
        if loader is None or execute is None:
            return spec

        def exec_module(module: ModuleType) -> None:
            execute(module)
            # An import that failed may be tried again, so the watch ends only here.
            followers = self.followers.pop(name, ())
            if reloads := [each for each in followers if each[2]]:
                self.followers[name] = reloads
            for follower, function, _ in followers:
                _import(name, follower, function)

        # The loader is the package's own.  Its class stays, for those who look at it.
        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_WATCHER = _Watcher()
