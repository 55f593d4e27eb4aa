"""Mutates the product one line at a time, and counts the mutations that the tests catch.

    python ci/mutants.py [--count N] [--json FILE] [PATH_PATTERN...]
    python ci/mutants.py --repeat FILE          the mutations of an earlier run, found by their text

A mutation of the Python package patches the installed file, and runs the tests of its folder; one
of a crate runs `cargo test` of that crate.  Each file is restored afterwards.  `--repeat` compares
two versions of the tests: it looks for each line in all files, because files move.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatch
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: A mutation replaces the first match of one of these in a line.
CHANGES = {
    ".py": {
        r" == ": " != ",
        r" != ": " == ",
        r" < ": " <= ",
        r" > ": " >= ",
        r" <= ": " < ",
        r" >= ": " > ",
        r" and ": " or ",
        r" or ": " and ",
        r"\bif not ": "if ",
        r" is None": " is not None",
        r" is not None": " is None",
        r"\bTrue\b": "False",
        r"\bFalse\b": "True",
        r" \+ ": " - ",
    },
    ".rs": {
        r" == ": " != ",
        r" != ": " == ",
        r" < ": " <= ",
        r" > ": " >= ",
        r" <= ": " < ",
        r" >= ": " > ",
        r" && ": " || ",
        r" \|\| ": " && ",
        r"\bif !": "if ",
        r"\btrue\b": "false",
        r"\bfalse\b": "true",
        r" \+ ": " - ",
    },
}
#: The tests that a folder of the package has; the first that fits.
TESTS = {
    "dask/*": ["tests/interop"],
    "memory/*": ["tests/arrays", "tests/memory", "tests/interop"],
    "smart_array/*": ["tests/arrays", "tests/interop"],
    "pygpu/*": ["tests/pygpu"],
    "_layouts.py": ["tests/arrays", "tests/interop", "tests/pygpu"],
    "_methods/arrow.py": ["tests/arrays", "tests/interop"],
    "_methods/ipc.py": ["tests/arrays", "tests/interop"],
    "_cudf/*": ["tests/compute"],
    "*guards/*": ["tests/guards", "tests/devices"],
    "_patches/*": ["tests/devices", "tests/batches", "tests/memory", "tests/interop"],
    "_methods/files.py": ["tests/files"],
    "_methods/kvikio.py": ["tests/files"],
    "conformance/*": ["tests/suite"],
    "*": ["tests/package", "tests/memory", "tests/interop", "tests/interpreter"],
}
TIME_LIMIT = 900


@dataclass(frozen=True)
class Mutation:
    #: Below the package's folder, or below the repository.
    path: str
    line: str
    mutated: str

    def __str__(self) -> str:
        return f"{self.path}: {self.line.strip()}  ->  {self.mutated.strip()}"


def package() -> Path:
    found = find_spec("pyarrow_cuda_compat")
    if found is None or found.origin is None:
        sys.exit("pyarrow_cuda_compat is not installed in this Python")
    return Path(found.origin).parent


def sources() -> Iterator[tuple[str, Path]]:
    """The names of all files that are mutated, and where they are."""
    for path in sorted(package().rglob("*.py")):
        yield path.relative_to(package()).as_posix(), path
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        if path.stem not in ("tests", "models"):
            yield path.relative_to(ROOT).as_posix(), path


def code_lines(path: Path) -> list[str]:
    """The lines without texts over several lines, comments, and Rust's modules of tests."""
    source = path.read_text()
    lines = source.splitlines()
    if path.suffix == ".rs":
        end = next((i for i, line in enumerate(lines) if "#[cfg(test)]" in line), len(lines))
        return [line for line in lines[:end] if not line.lstrip().startswith(("//", "#", "*"))]
    texts = {
        number
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno
        for number in range(node.lineno, node.end_lineno + 1)
    }
    return [
        line
        for number, line in enumerate(lines, 1)
        if number not in texts and not line.lstrip().startswith(("#", "import ", "from "))
    ]


def mutations(patterns: list[str]) -> Iterator[Mutation]:
    for name, path in sources():
        if patterns and not any(fnmatch(name, pattern) for pattern in patterns):
            continue
        lines = code_lines(path)
        for line in lines:
            if lines.count(line) > 1 or "TYPE_CHECKING" in line:
                continue
            for pattern, replacement in CHANGES[path.suffix].items():
                mutated = re.sub(pattern, replacement, line, count=1)
                if mutated != line:
                    yield Mutation(name, line, mutated)
                    break


def place_of(mutation: Mutation) -> tuple[str, Path] | None:
    """The file that has the line: the mutation's own, or the only other one."""
    suffix = Path(mutation.path).suffix
    having = {
        name: path
        for name, path in sources()
        if path.suffix == suffix and mutation.line in path.read_text().splitlines()
    }
    if mutation.path not in having and len(having) != 1:
        return None
    name = mutation.path if mutation.path in having else next(iter(having))
    return name, having[name]


def tests_of(name: str) -> list[str]:
    if name.endswith(".rs"):
        manifest = (ROOT / "/".join(name.split("/")[:2]) / "Cargo.toml").read_text()
        crate = re.search(r'^name = "(.+)"', manifest, re.M)
        assert crate, manifest
        return ["cargo", "test", "--quiet", "--locked", "--all-features", "-p", crate[1]]
    folders = next(tests for pattern, tests in TESTS.items() if fnmatch(name, pattern))
    return [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "--timeout", "120",
            "-p", "no:cacheprovider", *folders]  # fmt: skip


@cache
def has_sound_tests(command: tuple[str, ...]) -> bool:
    """Whether the tests pass without a mutation: else they would seem to catch each one."""
    return run(command) == 0


def run(command: tuple[str, ...]) -> int:
    # Python would take a compiled file of the same second and size for that of the new source.
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, timeout=TIME_LIMIT
    ).returncode


def is_caught(name: str, path: Path, mutation: Mutation) -> bool:
    command = tuple(tests_of(name))
    if not has_sound_tests(command):
        sys.exit(f"without a mutation, this fails: {shlex.join(command)}")
    before = path.read_text()
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
        compiled.unlink()
    path.write_text(before.replace(mutation.line + "\n", mutation.mutated + "\n", 1))
    try:
        return run(command) != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        path.write_text(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", help="of paths, such as 'crates/context/*'")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--repeat", type=Path, help="the --json of an earlier run")
    parser.add_argument("--json", type=Path, help="a file for the mutations and their results")
    options = parser.parse_args()
    if options.repeat:
        chosen = [Mutation(**each["mutation"]) for each in json.loads(options.repeat.read_text())]
    else:
        found = [*mutations(options.patterns)]
        chosen = random.Random(1).sample(found, min(options.count, len(found)))
    results = []
    for mutation in chosen:
        place, start = place_of(mutation), time.monotonic()
        result = (
            "gone" if place is None else "caught" if is_caught(*place, mutation) else "SURVIVED"
        )
        print(f"{result:8} {time.monotonic() - start:5.0f} s  {mutation}", flush=True)
        results.append({"mutation": asdict(mutation), "result": result})
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))
    count = {name: sum(each["result"] == name for each in results) for name in ("caught", "gone")}
    print(f"{count['caught']} of {len(results) - count['gone']} caught, {count['gone']} gone")


if __name__ == "__main__":
    main()
