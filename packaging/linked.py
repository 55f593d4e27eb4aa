"""Which crates are linked into the libraries of the wheel."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: The crates that become libraries.
EXTENSION = "pyarrow-cuda-compat-native"
LIBRARIES = (EXTENSION, "cuda-sim")


@dataclass(frozen=True)
class Crate:
    name: str
    version: str
    license: str  # an SPDX expression
    source: Path  # the folder
    checksum: str | None  # SHA-256 of the published crate; of the project's own none
    needs: tuple[tuple[str, str], ...]  # names and versions

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.version


def crates() -> list[Crate]:
    """Those that are linked for the target, without what only builds them, by name."""
    metadata = ask("metadata", "--format-version", "1", "--filter-platform", target())
    graph = json.loads(metadata)
    nodes = {node["id"]: node for node in graph["resolve"]["nodes"]}
    packages = {package["id"]: package for package in graph["packages"]}
    keys = {number: key_of(package) for number, package in packages.items()}
    linked, checksums = linked_keys(), published()
    found = []
    for number, package in packages.items():
        if keys[number] in linked:
            needs = {keys[other["pkg"]] for other in nodes[number]["deps"] if is_normal(other)}
            found.append(
                Crate(
                    name=package["name"],
                    version=package["version"],
                    license=package["license"].replace("/", " OR "),
                    source=Path(package["manifest_path"]).parent,
                    checksum=checksums.get(keys[number]),
                    needs=tuple(sorted(needs & linked)),
                )
            )
    return sorted(found, key=lambda crate: crate.key)


def linked_keys() -> set[tuple[str, str]]:
    """Name and version of each, with the features of the wheel's libraries and of nothing else."""
    chosen = [word for name in LIBRARIES for word in ("--package", name)]
    kinds = ["--edges", "normal,no-proc-macro", "--target", target()]
    lines = ask("tree", *chosen, *kinds, "--prefix", "none", "--format", "{p}").splitlines()
    words = (line.split() for line in lines if line)
    return {(name, version.removeprefix("v")) for name, version, *_ in words}


def key_of(package: dict[str, Any]) -> tuple[str, str]:
    return package["name"], package["version"]


def is_normal(dependency: dict[str, Any]) -> bool:
    return any(kind["kind"] is None for kind in dependency["dep_kinds"])


def published() -> dict[tuple[str, str], str]:
    """The checksums in the lock file."""
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    return {key_of(package): package["checksum"] for package in locked if "checksum" in package}


def target() -> str:
    return os.environ.get("CARGO_BUILD_TARGET") or rustc("host")


def rustc(field: str) -> str:
    """What `rustc -vV` says."""
    told = subprocess.run(["rustc", "-vV"], cwd=ROOT, check=True, capture_output=True, text=True)
    (value,) = (
        line.partition(": ")[2] for line in told.stdout.splitlines() if line.startswith(field)
    )
    return value


def ask(*arguments: str) -> str:
    command = ["cargo", *arguments, "--quiet"]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
