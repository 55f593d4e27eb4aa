"""Writes the entries of the API reference from the names that the package registers.

In a page, `.. names:: PATTERN...` stands for an entry for each public name that matches one of the
patterns and none before it; `numba.*` means the names of that module.  A name that matches no
pattern is an error, so that the reference has each name once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib import import_module

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import pyarrow_cuda_compat as package

PAGE = "api"
MODULES = ["numba", "dask", "rmm", "cupy"]
# The protocols of other libraries; Python's own special methods need no entry.
PROTOCOLS = ["__array__", "__cuda_array_interface__", "__cuda_stream__", "__dlpack__"]
PROTOCOLS += ["__dlpack_device__"]
# Their bases take arguments of other names.
ARGUMENTS = {"BufferReader": "(obj)", "BufferWriter": "(buffer)"}
DIRECTIVE = re.compile(r"^\.\. names:: (.+)$", re.MULTILINE)


def public_names() -> Iterator[str]:
    yield from vars(package)["__all__"]
    for module in MODULES:
        names = import_module(f"{package.__name__}.{module}").__all__
        yield from (f"{module}.{name}" for name in names)


def entry(name: str) -> str:
    thing = package
    for part in name.split("."):
        thing = getattr(thing, part)
    full = f"{package.__name__}.{name}{ARGUMENTS.get(name, '')}"
    if inspect.isclass(thing):
        if issubclass(thing, BaseException):
            return f".. autoexception:: {full}\n"
        lines = [f".. autoclass:: {full}", "   :members:", "   :undoc-members:"]
        foreign = [base.__name__ for base in thing.__mro__ if base.__module__ == "pyarrow.lib"]
        if foreign:
            lines.append(f"   :inherited-members: {foreign[0]}")
        protocols = [each for each in PROTOCOLS if hasattr(thing, each)]
        if protocols:
            lines.append(f"   :special-members: {', '.join(protocols)}")
        return "\n".join([*lines, ""])
    kind = "autofunction" if callable(thing) else "autodata"
    return f".. {kind}:: {full}\n"


def write_entries(app: Sphinx, page: str, source: list[str]) -> None:
    if page != PAGE:
        return
    left = list(public_names())

    def entries(found: re.Match[str]) -> str:
        matching = [
            name
            for pattern in found[1].split()
            for name in sorted(left)
            if fnmatchcase(name, pattern)
        ]
        if not matching:
            raise ExtensionError(f"docs/{page}.rst: no other public name matches {found[1]}")
        for name in set(matching):
            left.remove(name)
        return "\n".join(entry(name) for name in dict.fromkeys(matching))

    source[0] = DIRECTIVE.sub(entries, source[0])
    if left:
        raise ExtensionError(f"docs/{page}.rst has no section for {', '.join(left)}")


def setup(app: Sphinx) -> None:
    app.connect("source-read", write_entries)
