"""Whether the compilers are there and new enough; otherwise one line, before anything is built."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = "building pyarrow-cuda-compat needs"
RUSTUP = "install it with rustup (https://rustup.rs)"
UPDATE = "run `rustup update`, or install rustup (https://rustup.rs)"


@cache
def check_rust() -> None:
    """Ends the process with what to install if Rust is missing or too old."""
    oldest = oldest_rust()
    for program in ("cargo", "rustc"):
        if shutil.which(program) is None:
            sys.exit(f"{NEEDED} Rust {oldest} or later, but there is no {program}: {RUSTUP}")
        done = subprocess.run([program, "--version"], cwd=ROOT, capture_output=True, text=True)
        found = re.match(rf"{program} (\d+\.\d+)", done.stdout)
        if found is None:
            said = " ".join((done.stderr or done.stdout).split())
            sys.exit(f"{NEEDED} Rust {oldest} or later, but `{program} --version` fails: {said}")
        if number(found[1]) < number(oldest):
            sys.exit(f"{NEEDED} Rust {oldest} or later, but {program} is {found[1]}: {UPDATE}")


def oldest_rust() -> str:
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    version: str = package["rust-version"]
    return version


def number(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
