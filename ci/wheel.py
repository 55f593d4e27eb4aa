"""Builds the wheel into dist/, unless all that goes into it is unchanged since the last time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
STAMP = DIST / "wheel.stamp"
FILES = ["Cargo.toml", "Cargo.lock", "LICENSE", "README.md", "pyproject.toml"]
FOLDERS = [".cargo", "crates", "packaging", "pyarrow_cuda_compat", "stubs"]
FOLDERS += ["conformance/cases", "conformance/snapshots"]
# Tests are no part of the wheel; the build puts its libraries into the package.
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
        # Settings of pytest, ruff and mypy change nothing in the wheel.
        settings = tomllib.loads(content.decode())
        settings["tool"] = settings["tool"]["maturin"]
        return json.dumps(settings, sort_keys=True).encode()
    return content


def digest_of_inputs() -> str:
    total = hashlib.sha256()
    for tool in TOOLS:
        total.update(subprocess.run(tool, check=True, capture_output=True).stdout)
    for name in ("RUSTFLAGS", "CXXFLAGS"):
        total.update(f"{name}={os.environ.get(name, '')}\n".encode())
    for path in inputs():
        content = content_of(path)
        total.update(f"\n{path.relative_to(ROOT)} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def stamp(inputs_digest: str) -> str:
    """What the wheel was made of, and the wheel itself, which another build may have replaced."""
    wheels = sorted(DIST.glob("*.whl"))
    lines = [f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in wheels]
    return "\n".join([inputs_digest, *lines, ""])


def build() -> None:
    """Leaves one wheel in dist/: that of another version would be installed as well."""
    fresh = DIST / "new"
    shutil.rmtree(fresh, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, ".", "--no-deps", "--wheel-dir", str(fresh)], cwd=ROOT, check=True)
    (wheel,) = fresh.glob("*.whl")
    for old in DIST.glob("*.whl"):
        old.unlink()
    wheel.replace(DIST / wheel.name)
    fresh.rmdir()


def main() -> None:
    DIST.mkdir(exist_ok=True)
    with (DIST / "wheel.lock").open("w") as lock:
        # Two scripts at a time would build into the same folder.
        fcntl.flock(lock, fcntl.LOCK_EX)
        bring_up_to_date()


def bring_up_to_date() -> None:
    # Taken before the build: what is edited meanwhile is built the next time.
    digest = digest_of_inputs()
    if STAMP.exists() and STAMP.read_text() == stamp(digest):
        print("up to date:", *(path.name for path in DIST.glob("*.whl")))
        return
    try:
        build()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    STAMP.write_text(stamp(digest))
    print("built:", *(path.name for path in DIST.glob("*.whl")))


if __name__ == "__main__":
    main()
