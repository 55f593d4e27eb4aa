"""Builds the wheel into dist/, unless the one there was built from the same files.

By default the wheel is for the tests of a checkout: cargo builds the extension with its profile
`dev`, and the wheel has one bridge, for the pyarrow of the Python that runs this program.  That
Python needs maturin, too.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.metadata
import json
import os
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
STAMP = DIST / "wheel.stamp"
ALL = "all bridges"
FILES = ["Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "pyproject.toml"]
FOLDERS = [".cargo", "conformance/cases", "crates", "packaging", "pyarrow_cuda_compat", "stubs"]
# The wheel contains no tests; the build puts its libraries into the package.
IGNORED_FOLDERS = {"tests", "benches", "examples", "probe", "lib", "__pycache__"}
IGNORED_SUFFIXES = {".so", ".pyc", ".md"}
TOOLS = [["rustc", "-vV"], [*shlex.split(os.environ.get("CXX", "g++")), "--version"]]


def inputs() -> Iterator[Path]:
    for name in FILES:
        yield ROOT / name
    for name in FOLDERS:
        for folder, inner, files in os.walk(ROOT / name):
            inner[:] = sorted(set(inner) - IGNORED_FOLDERS)
            for file in sorted(files):
                if Path(file).suffix not in IGNORED_SUFFIXES:
                    yield Path(folder, file)


def content_of(path: Path) -> bytes:
    content = path.read_bytes()
    if path == ROOT / "pyproject.toml":
        # Settings of pytest, ruff and mypy do not change the wheel.
        settings = tomllib.loads(content.decode())
        settings["tool"] = settings["tool"]["maturin"]
        return json.dumps(settings, sort_keys=True).encode()
    return content


def digest_of_inputs(profile: str) -> str:
    total = hashlib.sha256(f"{profile}\n".encode())
    for tool in TOOLS:
        total.update(subprocess.run(tool, check=True, capture_output=True).stdout)
    for name in ("RUSTFLAGS", "CXXFLAGS"):
        total.update(f"{name}={os.environ.get(name, '')}\n".encode())
    for path in inputs():
        content = content_of(path)
        total.update(f"\n{path.relative_to(ROOT)} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def stamp(inputs_digest: str, bridges: str) -> str:
    """The inputs of the wheel, and the wheel itself, which another build may have replaced."""
    wheels = sorted(DIST.glob("*.whl"))
    lines = [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in wheels]
    return "\n".join([inputs_digest, bridges, *lines, ""])


def build(profile: str, bridges: str) -> None:
    """Leaves one wheel in dist/: pip would install a second one, too."""
    fresh = Path(tempfile.mkdtemp(prefix="new-", dir=DIST))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    command += ["--no-build-isolation", "--no-deps", "--wheel-dir", str(fresh)]
    command += ["--config-settings", f"profile={profile}"]
    if bridges != ALL:
        command += ["--config-settings", "pyarrow=installed"]
    # The backend calls maturin by its name.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run([*command, "."], cwd=ROOT, check=True, env={**os.environ, "PATH": path})
    (wheel,) = fresh.glob("*.whl")
    for old in DIST.glob("*.whl"):
        old.unlink()
    wheel.replace(DIST / wheel.name)
    fresh.rmdir()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", action="store_true", help="optimised, as users get it")
    parser.add_argument("--all-bridges", action="store_true", help="for all supported pyarrows")
    arguments = parser.parse_args()
    DIST.mkdir(exist_ok=True)
    with (DIST / "wheel.lock").open("w") as lock:
        # Two scripts at a time would build into the same folder.
        fcntl.flock(lock, fcntl.LOCK_EX)
        bring_up_to_date(
            "release" if arguments.release else "dev",
            ALL if arguments.all_bridges else importlib.metadata.version("pyarrow"),
        )


def bring_up_to_date(profile: str, bridges: str) -> None:
    # Before the build: an edit during it is for the next one.
    digest = digest_of_inputs(profile)
    # A wheel with all bridges has the one that is wanted.
    if STAMP.exists() and STAMP.read_text() in (stamp(digest, bridges), stamp(digest, ALL)):
        print("up to date:", *(path.name for path in DIST.glob("*.whl")))
        return
    try:
        build(profile, bridges)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    STAMP.write_text(stamp(digest, bridges))
    print("built:", *(path.name for path in DIST.glob("*.whl")))


if __name__ == "__main__":
    main()
