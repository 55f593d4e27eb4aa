"""Packages the crates as they are published, and uses them as a stranger does.

For each crate: a crate outside the workspace, whose program is the first Rust example of the
README, runs the README's commands, those blocks that begin with `cargo add`.  If they turn the
feature `cust` or `cudarc` on, the program is the example of that feature, if there is one.  The
packages lie in a vendored registry beside the other crates of Cargo.lock, so cargo takes them for
crates from crates.io.  There is no toolkit, and nothing of the workspace's settings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BLOCK = re.compile(r"^```(\w+)(?:,no_run)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SOURCES = """\
[source.crates-io]
replace-with = "packaged"

[source.packaged]
directory = "{folder}"
"""
PROGRAM = """\
fn main() -> Result<(), Box<dyn std::error::Error>> {{
{example}
    Ok(())
}}
"""


def cargo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["cargo", *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")
    return result


def published() -> list[dict[str, Any]]:
    """The crates of the workspace that may be published."""
    told = cargo("metadata", "--format-version=1", "--no-deps", "--locked").stdout
    return [crate for crate in json.loads(told)["packages"] if crate["publish"] != []]


def package(crates: list[dict[str, Any]]) -> None:
    selected = [f"--package={crate['name']}" for crate in crates]
    # The rest builds each of them.
    told = cargo("package", "--locked", "--allow-dirty", "--no-verify", *selected).stderr
    if "warning:" in told:
        sys.exit(told)


def registry(folder: Path, crates: list[dict[str, Any]]) -> None:
    """Makes a folder of all crates that the workspace uses, and of the packages."""
    cargo("vendor", "--quiet", "--locked", "--versioned-dirs", str(folder))
    for crate in crates:
        name = f"{crate['name']}-{crate['version']}"
        archive = TARGET / "package" / f"{name}.crate"
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
        missing = {"LICENSE", "README.md"} - {path.name for path in (folder / name).iterdir()}
        if missing:
            sys.exit(f"{name} lacks {', '.join(sorted(missing))}")
        checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
        facts = {"files": {}, "package": checksum}
        (folder / name / ".cargo-checksum.json").write_text(json.dumps(facts))


def program(commands: str, examples: list[str]) -> str:
    features = [f'feature = "{name}"' for name in re.findall(r"\b(?:cust|cudarc)\b", commands)]
    fitting = [text for text in examples if any(feature in text for feature in features)]
    # As docs.rs shows it.
    example = re.sub(r"^# .*\n", "", (fitting or examples)[0], flags=re.MULTILINE)
    return PROGRAM.format(example=example)


def use(crate: dict[str, Any], outside: Path) -> None:
    """Does what the README of a package says."""
    name, version = crate["name"], crate["version"]
    blocks = BLOCK.findall((outside / "registry" / f"{name}-{version}" / "README.md").read_text())
    commands = [text for kind, text in blocks if kind == "sh" and text.startswith("cargo add ")]
    examples = [text for kind, text in blocks if kind == "rust"]
    if not commands or not examples:
        sys.exit(f"{name}: the README has no example, or does not say how to run it")
    environment = {key: value for key, value in os.environ.items() if "CUDA" not in key}
    environment.pop("CARGO_TARGET_DIR", None)  # it is below, where the commands look
    environment["RUSTFLAGS"] = "-Dwarnings"
    built = TARGET / "outside"
    built.mkdir(parents=True, exist_ok=True)
    for old in built.glob("debug/deps/libcuda_sim*.so"):
        old.unlink()  # an earlier version's has another name
    for number, text in enumerate(commands):
        print(f"--- {name}\n{text}", flush=True)
        project = outside / f"{name}-{number}"
        (project / "src").mkdir(parents=True)
        (project / "target").symlink_to(built)
        (project / "src" / "main.rs").write_text(program(text, examples))
        manifest = f'[package]\nname = "{project.name}"\nedition = "2024"\n'
        (project / "Cargo.toml").write_text(manifest)
        ran = subprocess.run(["bash", "-euc", text], cwd=project, env=environment)
        if ran.returncode:
            sys.exit(f"{name}: what its README says does not work")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="crates; by default all")
    names = parser.parse_args().names
    crates = published()
    package(crates)
    with tempfile.TemporaryDirectory() as temporary:
        outside = Path(temporary)
        registry(outside / "registry", crates)
        (outside / ".cargo").mkdir()
        sources = SOURCES.format(folder=outside / "registry")
        (outside / ".cargo" / "config.toml").write_text(sources)
        for crate in crates:
            if not names or crate["name"] in names:
                use(crate, outside)


if __name__ == "__main__":
    main()
