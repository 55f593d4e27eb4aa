"""The build backend: maturin's, after what the wheel carries beside the extension.

* the C++ bridge, once for each release in `pyarrow-versions.txt`, built against the headers and
  libarrow in pyarrow's own wheel, and its sources, for pyarrows that are newer than the wheel;
* `libcuda_sim.so`: the simulated driver;
* typing stubs, and the cases of the conformance suite, which lie elsewhere in the repository.

Three settings, as in ``pip wheel . --config-settings=glibc=2.28``:

``glibc``
    The oldest glibc that the wheel has to run with; without it, the wheel is for systems like this
    one.
``pyarrow``
    With ``installed``, the bridge is built only for the pyarrow in the environment of the build,
    whose headers it takes: nothing is fetched.
``profile``
    The profile of cargo's; ``release`` if not given.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import editable
import licenses
import maturin
import sbom
import source
import toolchain

ROOT = Path(__file__).resolve().parent.parent
PYARROWS = (ROOT / "packaging" / "pyarrow-versions.txt").read_text().split()
# A Python that each of those has a wheel for, as the one that builds may not be; headers and
# libarrow are the same in all.
WITH_WHEELS = "3.12"

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PACKAGE = ROOT / "pyarrow_cuda_compat"
LIBRARIES = PACKAGE / "lib"
# Beside the package: what lies in it would be one of its modules to type checkers.
BESIDE = ROOT / "packaging" / "data" / "purelib"

# Copies: from the repository to the place from which maturin takes them into the wheel.
COPIES = {
    ROOT / "conformance" / "cases": BESIDE / "_pyarrow_cuda_compat_conformance" / "cases",
    ROOT / "stubs" / "pyarrow_cuda_compat" / "_native.pyi": PACKAGE / "_native.pyi",
    ROOT / "crates" / "arrow-bridge" / "cpp": BESIDE / "_pyarrow_cuda_compat_bridge",
    # A .pth file puts the folder above on the path of modules, where type checkers look for it.
    ROOT / "stubs" / "pyarrow": BESIDE / "_pyarrow_cuda_compat_stubs" / "pyarrow-stubs",
    # pip removes a folder only if a file lies in it, not only folders.
    ROOT / "conformance" / "README.md": BESIDE / "_pyarrow_cuda_compat_conformance" / "README.md",
    ROOT / "stubs" / "README.md": BESIDE / "_pyarrow_cuda_compat_stubs" / "README.md",
}

# Zig has the symbols of every glibc, so what it links asks for no newer ones.
ZIG = ["cargo-zigbuild==0.24.0", "ziglang==0.17.1"]

Settings = dict[str, str] | None


def check_tools() -> None:
    """Ends the process with one line where a compiler is missing, or too old."""
    toolchain.check_rust()
    try:
        load_bridge_builder().check_compiler()
    except RuntimeError as error:
        sys.exit(f"{toolchain.NEEDED} a C++20 compiler: {error}")


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    toolchain.check_rust()
    requires: list[str] = maturin.get_requires_for_build_sdist(config_settings)
    return requires


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    check_tools()
    requires: list[str] = maturin.get_requires_for_build_wheel(config_settings)
    return requires + (ZIG if "glibc" in (config_settings or {}) else [])


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    check_tools()
    requires: list[str] = maturin.get_requires_for_build_editable(config_settings)
    return requires


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    sdist: str = maturin.build_sdist(sdist_directory, config_settings)
    source.lock(Path(sdist_directory, sdist))
    return sdist


def with_licenses(prepare: Callable[..., str]) -> Callable[..., str]:
    """The metadata name the files, so they have to be there."""

    def prepared_metadata(metadata_directory: str, config_settings: Settings = None) -> str:
        check_tools()  # with `--no-build-isolation`, pip asks for no requirements before
        licenses.write()
        try:
            return prepare(metadata_directory, config_settings)
        finally:
            licenses.remove()

    return prepared_metadata


prepare_metadata_for_build_editable = with_licenses(maturin.prepare_metadata_for_build_editable)
prepare_metadata_for_build_wheel = with_licenses(maturin.prepare_metadata_for_build_wheel)


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    with prepared(config_settings) as settings:
        wheel: str = maturin.build_wheel(wheel_directory, settings, metadata_directory)
    return wheel


def build_editable(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    with prepared(config_settings) as settings, editable.path_to(ROOT, BESIDE):
        wheel: str = maturin.build_editable(wheel_directory, settings, metadata_directory)
    return wheel


@contextmanager
def prepared(config_settings: Settings) -> Iterator[dict[str, str]]:
    """What goes beside the extension lies there meanwhile; yields the settings for maturin."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("pyarrow-cuda-compat does not support free-threaded Python: use one with the GIL")
    settings = dict(config_settings or {})
    glibc, pyarrow = settings.pop("glibc", ""), settings.pop("pyarrow", "")
    profile = settings.pop("profile", "release")
    if pyarrow not in ("", "installed"):
        sys.exit(f"the setting 'pyarrow' is 'installed' or not given, not '{pyarrow}'")
    build_libraries(glibc, profile, only_installed=pyarrow == "installed")
    copy_files()
    licenses.write()
    sbom.write()
    settings["build-args"] = f"--profile {profile}"
    if glibc:
        settings["build-args"] += f" --zig --compatibility manylinux_{glibc.replace('.', '_')}"
    try:
        yield settings
    finally:
        remove_copies()  # else tools would find old ones instead of what was edited since


def build_libraries(
    glibc: str = "", profile: str = "release", *, only_installed: bool = False
) -> None:
    """Builds what has changed since the last time, and nothing else."""
    LIBRARIES.mkdir(exist_ok=True)
    built = [build_simulator(glibc, profile)]
    generate_header()
    bridge = load_bridge_builder()
    for pyarrow in [installed_pyarrow()] if only_installed else map(fetch_pyarrow, PYARROWS):
        out = TARGET / "bridge" / bridge.name_for(pyarrow)
        out.parent.mkdir(parents=True, exist_ok=True)
        bridge.build(pyarrow, out, TARGET / "bridge" / "objects")
        built.append(out)
    for library in built:
        place(library)
    for stale in set(LIBRARIES.iterdir()) - {LIBRARIES / library.name for library in built}:
        stale.unlink()


def build_simulator(glibc: str, profile: str) -> Path:
    options = ["--profile", profile, "--package", "cuda-sim", "--locked"]
    # cargo's folder for its profile `dev` has another name.
    folder = "debug" if profile == "dev" else profile
    if not glibc:
        subprocess.run(["cargo", "build", *options], cwd=ROOT, check=True)
        return TARGET / folder / "libcuda_sim.so"
    target = f"{platform.machine()}-unknown-linux-gnu"
    subprocess.run(
        ["cargo", "zigbuild", *options, "--target", f"{target}.{glibc}"], cwd=ROOT, check=True
    )
    return TARGET / target / folder / "libcuda_sim.so"


def generate_header() -> None:
    """Rust's side of the border, for the C++ files."""
    command = ["cargo", "run", "--quiet", "--locked", "-p", "arrow-cuda-bridge"]
    subprocess.run([*command, "--example", "header"], cwd=ROOT, check=True)


def copy_files() -> None:
    remove_copies()
    for origin, target in COPIES.items():
        if origin.is_dir():
            shutil.copytree(origin, target, ignore=shutil.ignore_patterns("__pycache__"))
        elif origin.is_file():
            shutil.copyfile(origin, target)


def remove_copies() -> None:
    for target in COPIES.values():
        if target.is_dir():
            shutil.rmtree(target)
        target.unlink(missing_ok=True)
    licenses.remove()
    sbom.remove()


def place(library: Path) -> None:
    """Copies a library into the package, unless it is there already."""
    there = LIBRARIES / library.name
    if not there.exists() or there.read_bytes() != library.read_bytes():
        shutil.copyfile(library, there)


def load_bridge_builder() -> ModuleType:
    path = ROOT / "crates" / "arrow-bridge" / "cpp" / "build.py"
    loader = SourceFileLoader("build_bridge", str(path))
    module = ModuleType(loader.name)
    module.__file__ = str(path)
    loader.exec_module(module)
    return module


def installed_pyarrow() -> Path:
    """The package's folder; what builds the wheel must see it (``--no-build-isolation``)."""
    found = find_spec("pyarrow")
    if found is None or found.origin is None:
        sys.exit("no pyarrow is installed where the wheel is built (pip's --no-build-isolation)")
    return Path(found.origin).parent


def fetch_pyarrow(version: str) -> Path:
    """The headers and libarrow of a pyarrow release, fetched once."""
    unpacked = TARGET / "pyarrow" / version
    if (unpacked / "pyarrow" / "include").is_dir():
        return unpacked / "pyarrow"
    download = TARGET / "pyarrow" / f"{version}.download"
    shutil.rmtree(download, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
         "--python-version", WITH_WHEELS, "--dest", str(download), f"pyarrow=={version}"],
        check=True,
    )  # fmt: skip
    (wheel,) = download.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        wanted = [
            name
            for name in archive.namelist()
            if name.startswith(("pyarrow/include/", "pyarrow/libarrow.so."))
        ]
        archive.extractall(download, wanted)
    wheel.unlink()
    shutil.rmtree(unpacked, ignore_errors=True)
    download.rename(unpacked)
    return unpacked / "pyarrow"


if __name__ == "__main__":
    build_libraries()
