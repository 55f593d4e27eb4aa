"""The manifest of the conformance suite has no holes, and does not name what is not there."""

import ast
import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import pyarrow_cuda_compat
from support import case_scripts, upstream

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "conformance"
CASES = {f"{path.parent.name}/{path.stem}": path.read_text() for path in SUITE.glob("cases/*/*.py")}
DOCUMENTS = {path.stem: tomllib.loads(path.read_text()) for path in SUITE.glob("manifest/*.toml")}
ITEMS = [item for document in DOCUMENTS.values() for item in document["item"]]
# What the documents have, by file and section: kept by hand.
DOCUMENTED = tomllib.loads(Path(__file__).with_name("documented.toml").read_text())
DIFFERENCES = tomllib.loads((SUITE / "differences.toml").read_text())["difference"]
STUBS = list((ROOT / "stubs" / "pyarrow_cuda_compat").glob("*.pyi"))

COVERED = {item["name"] for item in ITEMS if "case" in item}
COVERED_PARAMETERS = {(item["name"], item["parameter"]) for item in ITEMS if "parameter" in item}


def label(item):
    return f"{item['name']}: {item.get('parameter', item['what'])}"


def stubbed():
    """The public names of the stubs, those of classes dotted."""
    for path in STUBS:
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_"):
                yield statement.name
                yield from (f"{statement.name}.{name}" for name in defined(statement.body))
            elif isinstance(statement, ast.FunctionDef):
                yield from defined([statement])


def defined(body):
    for statement in body:
        if isinstance(statement, ast.AnnAssign):
            name = statement.target.id
        elif isinstance(statement, ast.FunctionDef):
            name = statement.name
        else:
            continue
        if not name.startswith("_"):
            yield name


PUBLIC = set(stubbed()) | set(pyarrow_cuda_compat.__all__)


@pytest.mark.parametrize("member", upstream.MEMBERS.values(), ids=lambda member: member.name)
def test_each_member_of_upstream_has_a_case(member):
    assert member.name in COVERED
    for parameter in member.parameters:
        assert (member.name, parameter) in COVERED_PARAMETERS


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_each_public_name_has_a_case(name):
    assert name in COVERED


def test_the_stubs_are_found():
    assert {"Context.new_buffer", "CudaBuffer.size", "read_message"} <= set(stubbed())


@pytest.mark.parametrize("document", sorted(DOCUMENTED | DOCUMENTS))
def test_no_documented_item_is_missing(document):
    """Who adds a row counts it in documented.toml as well; who deletes one has to say so there."""
    assert document in DOCUMENTS, f"conformance/manifest/{document}.toml is gone"
    assert document in DOCUMENTED, f"documented.toml does not know {document}"
    listed = Counter(item["section"] for item in DOCUMENTS[document]["item"])
    documented = DOCUMENTED[document]
    wrong = [
        f"{document}, section {section!r}: {listed[section]} rows for {documented.get(section, 0)}"
        for section in sorted(listed | documented)
        if listed[section] != documented.get(section, 0)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("item", ITEMS, ids=label)
def test_an_item_is_shown(item):
    assert sum(key in item for key in ("case", "planned", "left_out")) == 1
    if "left_out" in item:
        return
    if "planned" in item:
        name = item["name"].removeprefix("pyarrow.cuda.")
        assert name not in upstream.MEMBERS
        assert name not in PUBLIC, f"{name} is there, and needs a case"
        return
    script = CASES[item["case"]]
    text = case_scripts.without_comments(script)
    *_, owner, name = ["", *item["name"].split(".")]
    # What is double-underscored is where Python calls it.
    if re.fullmatch(r"[a-z][a-z_]*", name):
        assert re.search(rf"\b{name}\b", text), f"{name} is not in {item['case']}"
    for kind in {owner, name} & set(case_scripts.FACTORIES):
        words = "|".join({kind} | case_scripts.FACTORIES[kind])
        assert re.search(rf"\b({words})\b", text), f"{item['case']} has no {kind}"
    if "parameter" in item:
        # Where the script does not tell whose method it calls, it may be the right one.
        known = owner in case_scripts.FACTORIES
        assert any(
            (called, keyword) == (name, item["parameter"]) and (not known or kind in (owner, None))
            for kind, called, keyword in case_scripts.calls(script)
        ), f"{item['case']} does not pass {item['parameter']} to {item['name']}"


def test_whose_method_a_script_calls():
    script = """
host = cuda.new_host_buffer(8)
part = host.slice(offset=1)
cuda.Context(0).new_buffer(8).slice(length=2)
for buf in parts: buf.slice(start=0)
"""
    calls = set(case_scripts.calls(script))
    assert calls == {
        ("HostBuffer", "slice", "offset"),
        ("CudaBuffer", "slice", "length"),
        (None, "slice", "start"),
    }


def test_each_case_begins_with_its_title():
    assert [name for name, script in CASES.items() if not re.match(r"# \S", script)] == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_case_is_listed(name):
    assert any(entry.get("case") == name for entry in [*ITEMS, *DIFFERENCES])


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference["topic"])
def test_a_difference_is_shown(difference):
    if "case" in difference:
        assert difference["case"] in CASES
        return
    path, _, name = difference["test"].partition("::")
    assert re.search(rf"^def {re.escape(name)}\(", (ROOT / path).read_text(), re.MULTILINE)
