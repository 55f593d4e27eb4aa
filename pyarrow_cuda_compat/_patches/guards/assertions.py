"""Replaces pyarrow's own check that data lies on the host, which overlooks some that does not.

It is a C function in a table of each class.  The order of the table is that of the declarations in
pyarrow's `lib.pxd`.
"""

import os
import re
from collections.abc import Iterator

import pyarrow as pa

from ... import _native

_NAME = "_assert_cpu"
#: The head of a class with its base, and its body.
_CLASS = r"^cdef class {}(?:\((\w+)\))?:\n((?:    .*\n|\n)*)"
#: A method, which has a slot in the table; attributes, and a line that opens a block of them.
_METHOD = re.compile(r"c(?:p)?def (?:inline )?(?:[^=()]*[ *&])?(\w+)\([^()]*\)[^()=]*")
_ATTRIBUTE = re.compile(
    r"(?:cdef )?(?:readonly |public )?[\w.\[\], ]+[ *&\]]+\w+(?:\[\d+\])?(?:, ?\w+)*"
)
_BLOCK = re.compile(r"cdef(?: readonly| public)?:")


def install() -> None:
    """Replaces the check of arrays, record batches and tables, unless `lib.pxd` is missing.

    Raises
    ------
    ImportError
        If a declaration cannot be read, so that the place of the check is not certain.
    """
    path = os.path.join(os.path.dirname(pa.__file__), "lib.pxd")  # noqa: PTH118, PTH120
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            declarations = file.read()
    except OSError:
        return
    for number, cls in enumerate((pa.lib.Array, pa.lib.RecordBatch, pa.lib.Table)):
        methods = _methods(declarations, cls.__name__)
        if _NAME not in methods:
            raise ImportError(f"{path} declares no {_NAME} in {cls.__name__}; {_WAY_OUT}")
        _native._guard_assertion(list(_classes(cls)), methods.index(_NAME), number)
    # They begin by the check, and then only call functions of `pyarrow.compute`.
    _native._guard_operators(pa.lib.Array, pa.lib.ChunkedArray)


_WAY_OUT = (
    "reinstall pyarrow from PyPI, or use a release that `python -m pyarrow_cuda_compat info` lists"
)


def _methods(declarations: str, name: str) -> list[str]:
    """The methods in a class's table: those of its base, and then its own."""
    found = re.search(_CLASS.format(name), declarations, re.MULTILINE)
    if found is None:
        raise ImportError(f"pyarrow's lib.pxd does not declare {name}; {_WAY_OUT}")
    base = _methods(declarations, found[1]) if found[1] else []
    for declaration in _lines(found[2]):
        method = _METHOD.fullmatch(declaration)
        if method is not None:
            base += [method[1]] if method[1] not in base else []
        elif not (_ATTRIBUTE.fullmatch(declaration) or _BLOCK.fullmatch(declaration)):
            # It may have a slot, which would shift those after it.
            text = f"pyarrow's lib.pxd declares `{declaration}` in {name}, which is not understood"
            raise ImportError(f"{text}; {_WAY_OUT}")
    return base


def _lines(body: str) -> Iterator[str]:
    """The declarations of a class, without comments; those of several lines are joined."""
    joined = ""
    for line in body.splitlines():
        joined = f"{joined} {line.partition('#')[0].strip()}".strip()
        if joined and joined.count("(") == joined.count(")"):
            if joined != "pass":
                yield joined
            joined = ""
    if joined:
        yield joined


def _classes(cls: type) -> Iterator[type]:
    """A class and those that extend it, each with a table of its own."""
    if "__pyx_vtable__" in vars(cls):
        yield cls
        subclasses: list[type] = cls.__subclasses__()
        for each in subclasses:
            yield from _classes(each)
