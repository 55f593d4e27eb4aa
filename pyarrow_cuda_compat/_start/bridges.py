"""The C++ bridges: one for each release of libarrow, chosen by the pyarrow that is imported."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import re

from . import extension

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

FOLDER = os.path.join(extension.FOLDER, "lib")  # noqa: PTH118
# As `name_for` of the sources' build.py names them: 2100 for Arrow 21.0.
_NAME = re.compile(r"libarrow_bridge_(\d+)(\d\d)\.so")


def place_of(pyarrow: ModuleType) -> str:
    """Where Python found it: a folder, or a file that somebody has called the same."""
    return str(next(iter(getattr(pyarrow, "__path__", [])), pyarrow.__file__))


def release_of(pyarrow: ModuleType) -> tuple[int, int]:
    """Major and minor version of its libarrow: a bridge fits those, and any patch."""
    version = getattr(pyarrow, "cpp_version_info", None)
    if version is None:
        raise ImportError(
            f"{place_of(pyarrow)} is not pyarrow, or not all of it: reinstall pyarrow"
        )
    return version.major, version.minor


def path_for(pyarrow: ModuleType) -> str:
    """Where the bridge for a pyarrow lies, or would lie."""
    major, minor = release_of(pyarrow)
    # Development versions of one release differ, and their libarrows have one name.
    build = f"_{pyarrow.__version__}" if ".dev" in pyarrow.__version__ else ""
    return os.path.join(FOLDER, f"libarrow_bridge_{major}{minor:02}{build}.so")  # noqa: PTH118


def releases() -> list[tuple[int, int]]:
    """The releases that there are bridges for, oldest first."""
    names = os.listdir(FOLDER) if os.path.isdir(FOLDER) else []  # noqa: PTH112, PTH208
    found = map(_NAME.fullmatch, names)
    return sorted((int(each[1]), int(each[2])) for each in found if each)


def supported() -> str:
    """Those releases in words, such as ``21 to 26``."""
    majors = [major for major, _ in releases()]
    return f"{majors[0]} to {majors[-1]}" if majors else "none"


def refusal(pyarrow: ModuleType) -> str:
    """Why a pyarrow cannot be used, and what to do."""
    there = releases()
    if not there:
        return f"pyarrow_cuda_compat's compiled libraries are not in {FOLDER}: reinstall it"
    text = (
        f"pyarrow_cuda_compat supports pyarrow {supported()}, but pyarrow {pyarrow.__version__} "
        "is installed: install one of those"
    )
    if release_of(pyarrow) > there[0]:
        text += ", or run `python -m pyarrow_cuda_compat build-bridge`, which needs g++"
    return text
