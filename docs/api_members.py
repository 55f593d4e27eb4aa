"""What the page of a class shows beside its docstring: the members that this package gives it.

The template `_templates/autosummary/class.rst` reads it. autosummary itself would list what
pyarrow's classes have, too, and leave out the protocols of other libraries.
"""

from __future__ import annotations

from importlib import import_module

PACKAGE = "pyarrow_cuda_compat"
# Python's own special methods need no entry.
PROTOCOLS = ["__array__", "__cuda_array_interface__", "__cuda_stream__", "__dlpack__"]
PROTOCOLS += ["__dlpack_device__"]
# Constructors that are low, or for this package only.
ARGUMENTS = {"BufferReader": "(obj)", "BufferWriter": "(buffer)"}
ARGUMENTS |= {"memory.MappedNDArray": "()", "memory.Stream": "()"}


class Members:
    """Those of a class, and its arguments where Python does not know them."""

    def __init__(self, module: str, name: str) -> None:
        cls = getattr(import_module(module), name)
        ours = [
            base for base in cls.__mro__ if base.__module__.startswith(("pyarrow._cuda", PACKAGE))
        ]
        every = {each for base in ours for each in vars(base)}
        names = {each for each in every if not each.startswith("_")}
        self.methods = sorted(each for each in names if callable(getattr(cls, each)))
        self.attributes = sorted(names.difference(self.methods))
        self.protocols = [each for each in PROTOCOLS if each in every]
        self.arguments = ARGUMENTS.get(f"{module}.{name}".removeprefix(f"{PACKAGE}."), "")
