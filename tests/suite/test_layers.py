"""The modules of a crate use each other in one direction, which `lib.rs` or the README states."""

import re
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"

pytestmark = [
    pytest.mark.independent,
    pytest.mark.skipif(not (CRATES / "python").exists(), reason="needs a checkout"),
]


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
