"""Imports a module of this package once another package, which it serves, has been imported."""

from __future__ import annotations

import logging
import sys
import warnings
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType


def follow(package: str, module: str, function: str | None = None) -> None:
    """Imports `module` now, if `package` is imported, or right after its import.

    Then calls a function of the module, if one is named, with the name of the package.
    """
    if package in sys.modules:
        _import(package, module, function)
    else:
        sys.meta_path.insert(0, _Watcher(package, module, function))


def _import(package: str, module: str, function: str | None) -> None:
    try:
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
    """Finds nothing itself: it looks at what the other finders find."""

    def __init__(self, package: str, module: str, function: str | None) -> None:
        self._package = package
        self._module = module
        self._function = function

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._package:
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        try:
            spec = find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        execute = getattr(spec and spec.loader, "exec_module", None)
        if spec is None or execute is None:
            return spec

        def exec_module(module: ModuleType) -> None:
            execute(module)
            # An import that failed may be tried again, so the watch ends only here.
            if self in sys.meta_path:
                sys.meta_path.remove(self)
                _import(self._package, self._module, self._function)

        # The loader is the package's own.  Its class stays, for those who look at it.
        spec.loader.exec_module = exec_module  # type: ignore[method-assign, union-attr]
        return spec
