"""``python -m pyarrow_cuda_compat build-bridge``: the bridge for a pyarrow newer than the wheel.

pyarrow's wheel holds libarrow and its headers, and ours the bridge's sources, so all that it takes
is a compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import _pyarrow_cuda_compat_hook as beside  # type: ignore[import-untyped,unused-ignore]

from . import bridges

# Not always beside the package: an editable install leaves that in the checkout, and some systems
# have a folder for compiled packages and one for others.
SOURCES = Path(beside.__file__).resolve().with_name("_pyarrow_cuda_compat_bridge")


def build(*, force: bool = False) -> Path:
    """Compiles the bridge for the installed pyarrow into the package's folder.

    Parameters
    ----------
    force : bool, default False
        Whether to replace a bridge that is there.

    Returns
    -------
    Path
        The library.

    Raises
    ------
    FileExistsError
        If the bridge is there and `force` is not set.
    RuntimeError
        If the compiler, which ``CXX`` names (``g++``), is missing or fails, or the pyarrow has no
        headers.
    OSError
        If the package's folder is not writable.
    """
    import pyarrow

    library = Path(bridges.path_for(pyarrow))
    if library.exists() and not force:
        raise FileExistsError(
            f"the bridge for pyarrow {pyarrow.__version__} is there already: {library}; "
            "--force compiles it anew and replaces it"
        )
    print(
        f"build-bridge: compiling the C++ part for pyarrow {pyarrow.__version__}; "
        "this takes one to three minutes",
        flush=True,
    )
    with tempfile.TemporaryDirectory(prefix="pyarrow-cuda-compat-") as folder:
        built = Path(folder, library.name)
        compile_to(built, Path(pyarrow.__file__).parent)
        # Beside its place first: another process may be about to load it.
        partial = library.with_suffix(f".{os.getpid()}.partial")
        try:
            shutil.copyfile(built, partial)
            partial.replace(library)
        finally:
            partial.unlink(missing_ok=True)
    record(library)
    return library


def compile_to(out: Path, pyarrow: Path) -> None:
    command = [sys.executable, str(SOURCES / "build.py"), "--pyarrow", str(pyarrow)]
    command += ["--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())


def record(library: Path) -> None:
    """Adds the library to the list of installed files, so that pip uninstalls it, too."""
    try:
        installed = distribution("pyarrow-cuda-compat")
    except PackageNotFoundError:
        return  # a folder of its own, which pip knows nothing of
    files = {Path(str(installed.locate_file(each))): each for each in installed.files or ()}
    lists = [path for path in files if path.name == "RECORD"]
    root = Path(str(installed.locate_file("")))
    if library in files or not lists or not library.is_relative_to(root):
        return
    with lists[0].open("a", encoding="utf-8") as file:
        file.write(f"{library.relative_to(root)},,\n")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--force", action="store_true", help="replace the one that is there for this pyarrow"
    )


def main(arguments: Namespace) -> int:
    """Returns the exit status."""
    try:
        library = build(force=arguments.force)
    except (RuntimeError, OSError, ImportError) as error:
        print(f"build-bridge: {error}", file=sys.stderr)
        return 1
    print(f"built: {library}")
    return 0
