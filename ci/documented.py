"""Tells whether the built documentation describes every public name: documented.py OBJECTS.INV"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from sphinx.util.inventory import InventoryFile

import pyarrow_cuda_compat
from pyarrow_cuda_compat.conformance.examples import PACKAGE, added_to_pyarrow


def public_names() -> set[str]:
    return {*added_to_pyarrow(), *(f"{PACKAGE}.{name}" for name in own_names())}


def own_names() -> Iterator[str]:
    """The names of the package, and the members that its classes add to pyarrow's."""
    for name in vars(pyarrow_cuda_compat)["__all__"]:
        thing = getattr(pyarrow_cuda_compat, name)
        yield name
        if not inspect.isclass(thing):
            continue
        for base in thing.__mro__:
            if base.__module__ in ("pyarrow._cuda", PACKAGE):
                yield from (f"{name}.{each}" for each in vars(base) if not each.startswith("_"))
    for module in ("numba", "dask", "rmm", "cupy", "memory"):
        names = import_module(f"{PACKAGE}.{module}").__all__
        yield from (f"{module}.{name}" for name in names)
    pygpu = import_module(f"{PACKAGE}.pygpu")
    yield from (f"pygpu.{name}" for name in pygpu.__all__ if callable(getattr(pygpu, name)))


def described(inventory: Path) -> set[str]:
    objects = InventoryFile.loads(inventory.read_bytes(), uri="").data
    return {name for kind, names in objects.items() if kind.startswith("py:") for name in names}


def main() -> None:
    found = described(Path(sys.argv[1]))
    wanted = public_names()
    if missing := wanted - found:
        sys.exit(f"not in the documentation: {', '.join(sorted(missing))}")
    print(f"documented: {len(wanted)} names")


if __name__ == "__main__":
    main()
