"""What a build says of compilers that are missing or too old: one line, before it builds."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOOK = """
import sys, types
sys.modules["maturin"] = types.SimpleNamespace(
    prepare_metadata_for_build_editable=None,
    prepare_metadata_for_build_wheel=None,
    get_requires_for_build_sdist=lambda settings: [],
    get_requires_for_build_wheel=lambda settings: [],
    get_requires_for_build_editable=lambda settings: [],
)
sys.path.insert(0, "packaging")
import backend
print(getattr(backend, sys.argv[1])())
"""
MANIFEST = ROOT / "Cargo.toml"
if not MANIFEST.exists():
    pytest.skip("needs a checkout", allow_module_level=True)
OLDEST = tomllib.loads(MANIFEST.read_text())["workspace"]["package"]["rust-version"]
NEEDS = "building pyarrow-cuda-compat needs"
GOOD = {"cargo": f"cargo {OLDEST}.0 (873a06493)", "rustc": f"rustc {OLDEST}.0", "g++": ""}
CXX = "install g++, or set CXX to another compiler of C++20"

pytestmark = pytest.mark.independent


@pytest.fixture
def ask(tmp_path):
    """Calls a hook of the backend where only these programs are, which print these texts."""

    def ask(programs, hook="get_requires_for_build_wheel"):
        for name, text in programs.items():
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\n{text if 'exit' in text else f'echo {text!r}'}\n")
            program.chmod(0o755)
        command = [sys.executable, "-c", HOOK, hook]
        env = {name: value for name, value in os.environ.items() if name != "CXX"}
        env["PATH"] = str(tmp_path)
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    return ask


@pytest.mark.parametrize("kind", ["wheel", "editable", "sdist"])
def test_nothing_is_said_of_good_ones(ask, kind):
    assert ask(GOOD, f"get_requires_for_build_{kind}") == (0, "[]\n")


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        (
            {"rustc": None, "cargo": None},
            f"{NEEDS} Rust {OLDEST} or later, but there is no cargo: "
            "install it with rustup (https://rustup.rs)",
        ),
        (
            {"cargo": "cargo 1.63.0"},
            f"{NEEDS} Rust {OLDEST} or later, but cargo is 1.63: "
            "run `rustup update`, or install rustup (https://rustup.rs)",
        ),
        (
            {"rustc": "rustc 1.100.0", "cargo": "echo 'no default is configured' >&2; exit 1"},
            f"{NEEDS} Rust {OLDEST} or later, but `cargo --version` fails: "
            "no default is configured",
        ),
        (
            {"g++": None},
            f"{NEEDS} a C++20 compiler: cannot run g++: No such file or directory; {CXX}",
        ),
        (
            {"g++": '[ "$1" = --version ] || exit 1'},
            f"{NEEDS} a C++20 compiler: g++ does not compile C++20: {CXX}",
        ),
    ],
)
def test_one_line_names_the_fault_and_the_remedy(ask, programs, said):
    programs = {name: text for name, text in (GOOD | programs).items() if text is not None}
    assert ask(programs) == (1, f"{said}\n")


def test_a_source_archive_needs_no_cxx(ask):
    programs = {name: text for name, text in GOOD.items() if name != "g++"}
    assert ask(programs, "get_requires_for_build_sdist") == (0, "[]\n")


def test_newer_ones_are_compared_by_number(ask):
    newer = {"cargo": "cargo 1.100.0", "rustc": "rustc 2.0.0-nightly"}
    assert ask(GOOD | newer) == (0, "[]\n")
