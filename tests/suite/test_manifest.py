"""Each public name has an example or a case, and each case calls what its head lists."""

import doctest
import inspect
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat.conformance.examples import documented
from support import case_scripts, upstream
from support.stubs import STUBS

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "conformance"
CASES = {
    f"{path.parent.name}/{path.stem}": path.read_text() for path in SUITE.glob("cases/*/*.pycon")
}
ITEMS = [
    item | {"case": name} for name, session in CASES.items() for item in case_scripts.shown(session)
]
DIFFERENCES = tomllib.loads((SUITE / "differences.toml").read_text())

COVERED = {item["name"] for item in ITEMS}
COVERED_PARAMETERS = {(item["name"], item["parameter"]) for item in ITEMS if item["parameter"]}


def label(item):
    return f"{item['name']}: {item['parameter'] or item['what']}"


PUBLIC = STUBS.keys() | set(pyarrow_cuda_compat.__all__)


@pytest.mark.parametrize("member", upstream.MEMBERS.values(), ids=lambda member: member.name)
def test_each_member_of_upstream_has_a_case(member):
    assert member.name in COVERED
    for parameter in member.parameters:
        assert (member.name, parameter) in COVERED_PARAMETERS


def test_each_public_name_has_an_example_or_a_case():
    things = documented("pyarrow_cuda_compat")
    shown = {name for name, thing in things.items() if ">>> " in (inspect.getdoc(thing) or "")}
    assert PUBLIC - shown - COVERED == set()


def test_the_stubs_are_found():
    assert {"Context.new_buffer", "CudaBuffer.size", "read_message"} <= STUBS.keys()


def test_the_page_has_each_item():
    """The crate `conformance`, which makes the page, reads the same heads."""
    page = (ROOT / "docs" / "conformance.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| `([^`]+)`.*\| `(\w+/\w+)` \|", page, re.MULTILINE)
    assert Counter(rows) == Counter((item["name"], item["case"]) for item in ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=label)
def test_an_item_is_shown(item):
    script = doctest.script_from_examples(CASES[item["case"]])
    text = case_scripts.without_comments(script)
    *_, owner, name = ["", *item["name"].split(".")]
    # Python calls double-underscored names itself.
    if re.fullmatch(r"[a-z][a-z_]*", name):
        assert re.search(rf"\b{name}\b", text), f"{name} is not in {item['case']}"
    for kind in {owner, name} & set(case_scripts.FACTORIES):
        words = "|".join({kind} | case_scripts.FACTORIES[kind])
        assert re.search(rf"\b({words})\b", text), f"{item['case']} has no {kind}"
    if item["parameter"]:
        # Where the script does not tell whose method it calls, it may be the right one.
        known = owner in case_scripts.FACTORIES
        assert any(
            (called, keyword) == (name, item["parameter"]) and (not known or kind in (owner, None))
            for kind, called, keyword in case_scripts.calls(script)
        ), f"{item['case']} does not pass {item['parameter']} to {item['name']}"


def test_each_case_begins_with_its_title():
    assert [name for name, session in CASES.items() if not re.match(r"# \S", session)] == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_case_shows_an_item(name):
    assert any(entry.get("case") == name for entry in [*ITEMS, *DIFFERENCES.values()])


@pytest.mark.parametrize("difference", DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_difference_is_shown(difference):
    if "case" in difference:
        assert difference["case"] in CASES
        return
    path, _, name = difference["test"].partition("::")
    assert re.search(rf"^def {re.escape(name)}\(", (ROOT / path).read_text(), re.MULTILINE)
