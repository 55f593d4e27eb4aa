"""Checks that every crate of Cargo.lock that is built here allows the oldest supported Rust."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGETS = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]


def metadata() -> dict[str, Any]:
    command = ["cargo", "metadata", "--format-version=1", "--locked", "--all-features"]
    command += [f"--filter-platform={target}" for target in TARGETS]
    result: dict[str, Any] = json.loads(subprocess.check_output(command, cwd=ROOT))
    return result


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def main() -> None:
    told = metadata()
    ours = set(told["workspace_members"])
    crates = {crate["id"]: crate for crate in told["packages"]}
    (oldest,) = {crates[crate]["rust_version"] for crate in ours}
    # Crates that no supported platform builds are not among them.
    others = [crates[node["id"]] for node in told["resolve"]["nodes"] if node["id"] not in ours]
    newer = [
        f"{crate['name']} {crate['version']} needs Rust {crate['rust_version']}"
        for crate in others
        if crate["rust_version"] and number(crate["rust_version"])[:2] > number(oldest)[:2]
    ]
    if newer or not others:
        sys.exit("\n".join([f"Cargo.toml promises Rust {oldest}, but", *newer]))
    print(f"{len(others)} crates allow Rust {oldest}")


if __name__ == "__main__":
    main()
