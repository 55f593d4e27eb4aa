"""The modules of the extension use each other in one direction, which `lib.rs` states."""

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "crates/python/src"

pytestmark = [
    pytest.mark.independent,
    pytest.mark.skipif(not SOURCE.exists(), reason="needs a checkout"),
]


def stated_order():
    text = (SOURCE / "lib.rs").read_text()
    return re.findall(r"\w+", re.search(r"in this order: (.*?)\.\n", text, re.DOTALL)[1])


def test_modules_use_only_those_before_them():
    order = stated_order()
    modules, upward = set(), []
    for path in sorted(SOURCE.rglob("*.rs")):
        module = path.relative_to(SOURCE).parts[0].removesuffix(".rs")
        if module == "lib":
            continue
        modules.add(module)
        used = set(re.findall(r"^[^/\n]*\bcrate::(\w+)", path.read_text(), re.MULTILINE))
        upward += [
            f"{path.name} uses {name}" for name in used - {*order[: order.index(module) + 1]}
        ]
    assert (upward, sorted(order)) == ([], sorted(modules))
