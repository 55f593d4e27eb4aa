"""Replaces pyarrow's own check that data lies on the host, which overlooks some that does not.

It is a C function in a table of each class, whose order pyarrow's own declarations tell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pyarrow as pa

from ... import _native

_NAME = "_assert_cpu"
#: What a class declares, line by line, and its base.
_CLASS = r"^cdef class {}(?:\((\w+)\))?:\n((?:    .*\n|\n)*)"
_METHOD = re.compile(r"^    cdef [^=:]*?(\w+)\(.*\).*$", re.MULTILINE)


def install() -> None:
    """Replaces the check of arrays, record batches and tables, unless nothing tells where it is."""
    path = os.path.join(os.path.dirname(pa.__file__), "lib.pxd")  # noqa: PTH118, PTH120
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            declarations = file.read()
    except OSError:
        return
    for number, cls in enumerate((pa.lib.Array, pa.lib.RecordBatch, pa.lib.Table)):
        methods = _methods(declarations, cls.__name__)
        if _NAME in methods:
            _native._guard_assertion(list(_classes(cls)), methods.index(_NAME), number)


def _methods(declarations: str, name: str) -> list[str]:
    """The methods in a class's table: those of its base, and then its own."""
    found = re.search(_CLASS.format(name), declarations, re.MULTILINE)
    if found is None:
        return []
    base = _methods(declarations, found[1]) if found[1] else []
    own: list[str] = _METHOD.findall(found[2])
    return base + [each for each in own if each not in base]


def _classes(cls: type) -> Iterator[type]:
    """A class and those that extend it, each with a table of its own."""
    if "__pyx_vtable__" in vars(cls):
        yield cls
        subclasses: list[type] = cls.__subclasses__()
        for each in subclasses:
            yield from _classes(each)
