"""The C++ bridges: one for each release of libarrow, chosen by the pyarrow that is imported."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

FOLDER = os.path.join(os.path.dirname(__file__), "lib")  # noqa: PTH118, PTH120
# As `name_for` of the sources' build.py names them: 2100 for Arrow 21.0.
_NAME = re.compile(r"libarrow_bridge_(\d+)(\d\d)\.so")


def release_of(pyarrow: ModuleType) -> tuple[int, int]:
    """Major and minor version of its libarrow: a bridge fits those, and any patch."""
    version = pyarrow.cpp_version_info
    return version.major, version.minor


def path_for(release: tuple[int, int]) -> str:
    """Where the bridge for a release of libarrow lies, or would lie."""
    major, minor = release
    return os.path.join(FOLDER, f"libarrow_bridge_{major}{minor:02}.so")  # noqa: PTH118


def releases() -> list[tuple[int, int]]:
    """The releases that there are bridges for, oldest first."""
    found = map(_NAME.fullmatch, os.listdir(FOLDER))  # noqa: PTH208
    return sorted((int(each[1]), int(each[2])) for each in found if each)


def supported() -> str:
    """Those releases in words, such as ``21 to 26``."""
    majors = [major for major, _ in releases()]
    return f"{majors[0]} to {majors[-1]}" if majors else "none"


def refusal(pyarrow: ModuleType) -> str:
    """Why a pyarrow cannot be used, and what to do."""
    there = releases()
    text = (
        f"pyarrow_cuda_compat supports pyarrow {supported()}, but pyarrow {pyarrow.__version__} "
        "is installed: install one of those"
    )
    if there and release_of(pyarrow) > there[0]:
        text += ", or run `python -m pyarrow_cuda_compat build-bridge`, which needs g++"
    return text
