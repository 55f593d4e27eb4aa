"""Loads the extension, or raises an ImportError of one line that names what is supported."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import re
import sys
from importlib import import_module
from types import ModuleType

OLDEST = (3, 11)
PACKAGE = "pyarrow_cuda_compat"
NAME = f"{PACKAGE}._native"
FOLDER = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120

# Of an ELF file: the class and the machine.
MACHINES = {
    (1, 3): "32-bit x86",
    (1, 40): "32-bit Arm",
    (2, 21): "64-bit Power",
    (2, 62): "x86-64",
    (2, 183): "aarch64",
    (2, 243): "64-bit RISC-V",
}
ELF = b"\x7fELF"


def load() -> ModuleType:
    """The extension.

    Raises
    ------
    ImportError
        If it does not load: what is supported and what to do, where that is known, with Python's
        own error as its cause.
    """
    if sys.version_info < OLDEST:
        # It might load all the same, and crash later.
        raise ImportError(
            f"pyarrow_cuda_compat supports Python {join(OLDEST)} and later, but this is Python "
            f"{join(sys.version_info[:3])}; install it into an environment of a later Python"
        )
    try:
        return import_module(NAME)
    except ImportError as error:
        text = explain(str(error), FOLDER)
        if text is None:
            raise
        raise ImportError(text, name=NAME, path=error.path) from error


def explain(error: str, folder: str) -> str | None:
    """What an error means that Python raises when it cannot load the extension from a folder."""
    if not os.path.isdir(folder):  # noqa: PTH112
        return (
            f"pyarrow_cuda_compat is in an archive, {folder}, but Python loads compiled modules "
            "from folders only; install it into a folder, and put that on the path of modules"
        )
    names = sorted(os.listdir(folder))  # noqa: PTH208
    built = [name for name in names if name.startswith("_native.") and name.endswith(".so")]
    if not built:
        return (
            f"pyarrow_cuda_compat in {folder} has no compiled extension; install the package, and "
            "if this is a checkout of its source, start Python in another folder or with -P "
            "(PYTHONSAFEPATH=1), or compile the extension there with `pip install -e .`"
        )
    wanted, here = machine_of(f"{folder}/{built[0]}"), machine_of(sys.executable or "")
    if here is None and sys.platform != "linux":
        here = sys.platform
    if wanted is not None and here is not None and wanted != here:
        return (
            f"this pyarrow_cuda_compat is for Linux on {wanted}, but this Python is for {here}; "
            f"install it again with `{sys.executable} -m pip`"
        )
    if NAME in error and "t" in sys.abiflags:
        return (
            "pyarrow_cuda_compat supports Python with the GIL, but this is a free-threaded build "
            "of Python; install it into an environment of an ordinary one"
        )
    missing = re.search(r"\bGLIBC_(\d[\d.]*\d)' not found", error)
    if missing is not None:
        return (
            f"this pyarrow_cuda_compat needs glibc {missing[1]} or later, but this system has "
            f"{os.confstr('CS_GNU_LIBC_VERSION')}; use a later system, or build the package on "
            "this one from its source"
        )
    return None


def join(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def machine_of(path: str) -> str | None:
    """Which machine an ELF file is for; of another file nothing."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            header = file.read(20)
    except OSError:
        return None
    if len(header) < 20 or not header.startswith(ELF):
        return None
    key = (header[4], int.from_bytes(header[18:20], "big" if header[5] == 2 else "little"))
    return MACHINES.get(key, f"machine {key[1]} of ELF")
