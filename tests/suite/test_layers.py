"""Modules and folders use each other in one direction: in each crate, and in the Python package."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path

import pytest

from .rust_modules import uses as rust_uses

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "crates"
PACKAGE = ROOT / "pyarrow_cuda_compat"

pytestmark = [
    pytest.mark.independent,
    pytest.mark.skipif(not (CRATES / "python").exists(), reason="needs a checkout"),
]


def python_uses():
    """For each module of the package, by its path, the modules that it uses."""
    names = {
        path: path.relative_to(PACKAGE).with_suffix("").parts for path in PACKAGE.rglob("*.py")
    }
    modules = {name[:-1] if name[-1] == "__init__" else name: path for path, name in names.items()}
    return {
        name: used_by(path, names[path], modules) - {name, ()} for name, path in modules.items()
    }


def used_by(path, place, modules):
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = place[: len(place) - node.level]
            base += tuple(node.module.split(".")) if node.module else ()
            names = [(*base, alias.name) for alias in node.names]
            found |= {name if name in modules else base for name in names}
    return found & {*modules}


def circle_in(uses):
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def between_folders(uses):
    """For each folder, which of its files and folders use which others of them."""
    found = {}
    for module, used in uses.items():
        for other in used:
            same = sum(1 for _ in takewhile(is_same, zip(module, other, strict=False)))
            if same < min(len(module), len(other)):
                folder = found.setdefault(module[:same], {})
                folder.setdefault(module[same], set()).add(other[same])
    return found


def is_same(pair):
    return pair[0] == pair[1]


CRATE_NAMES = sorted(path.parent.name for path in CRATES.glob("*/src")) if CRATES.exists() else []


@pytest.mark.parametrize("part", [*CRATE_NAMES, "the package"])
def test_neither_modules_nor_folders_use_each_other_in_a_circle(part):
    uses = python_uses() if part == "the package" else rust_uses(CRATES / part / "src")
    assert len(uses) > 1
    assert circle_in(uses) is None
    for folder, inner in between_folders(uses).items():
        assert circle_in(inner) is None, f"in the folder {'/'.join(folder) or part}"


def stated_order(crate):
    if crate == "cuda-sim":
        return re.findall(
            r"^\| `(\w+)/` \|", (CRATES / crate / "README.md").read_text(), re.MULTILINE
        )
    text = (CRATES / crate / "src/lib.rs").read_text()
    return re.findall(r"\w+", re.search(r"in this order: (.*?)\.\n", text, re.DOTALL)[1])


@pytest.mark.parametrize("crate", ["python", "cuda-sim"])
def test_modules_use_only_those_before_them(crate):
    order, source = stated_order(crate), CRATES / crate / "src"
    modules, upward = set(), []
    for path in sorted(source.rglob("*.rs")):
        module = path.relative_to(source).parts[0].removesuffix(".rs")
        if module == "lib":
            continue
        modules.add(module)
        used = set(re.findall(r"^[^/\n]*\bcrate::(\w+)", path.read_text(), re.MULTILINE))
        upward += [
            f"{path.name} uses {name}" for name in used - {*order[: order.index(module) + 1]}
        ]
    assert (upward, sorted(order)) == ([], sorted(modules))


def test_parts_of_the_package_use_only_those_above_them():
    table = (
        (ROOT / "ARCHITECTURE.md")
        .read_text()
        .partition("| part | what it is |")[2]
        .partition("\n\n")[0]
    )
    rows = [re.findall(r"`pyarrow_cuda_compat/(\w+)", row) for row in table.splitlines()]
    level = {part: number for number, row in enumerate(rows) for part in row}
    parts = {name[0] for name in python_uses() if name} - {"__init__", "__main__", "_pyinstaller"}
    assert {*level} == parts
    upward = [
        (module, other)
        for module, used in python_uses().items()
        for other in used
        if module and module[0] in level and level[module[0]] < level[other[0]]
    ]
    assert upward == []


def test_modules_of_cudf_use_only_those_above_them():
    text = ast.get_docstring(ast.parse((PACKAGE / "_cudf/__init__.py").read_text()))
    order = re.findall(r"^`(\w+)` ", text, re.MULTILINE)
    inner = between_folders(python_uses())[("_cudf",)]
    assert {*inner, *(name for used in inner.values() for name in used)} <= {*order}
    upward = [
        (name, it)
        for name, used in inner.items()
        for it in used
        if order.index(it) > order.index(name)
    ]
    assert upward == []
