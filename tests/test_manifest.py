"""The manifest of the conformance suite has no holes, and does not name what is not there."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import upstream

import pyarrow_cuda_compat

ROOT = Path(__file__).parent.parent
SUITE = ROOT / "conformance"
CASES = {f"{path.parent.name}/{path.stem}": path.read_text() for path in SUITE.glob("cases/*/*.py")}
DOCUMENTS = {path.stem: tomllib.loads(path.read_text()) for path in SUITE.glob("manifest/*.toml")}
ITEMS = [item for document in DOCUMENTS.values() for item in document["item"]]
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


def calls(source):
    """Each call in a script, and in scripts that it holds as strings: function and keywords."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            function = getattr(node.func, "attr", getattr(node.func, "id", None))
            yield from ((function, keyword.arg) for keyword in node.keywords)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "(" in node.value:
            try:
                yield from calls(node.value)
            except SyntaxError:
                continue


@pytest.mark.parametrize("member", upstream.MEMBERS.values(), ids=lambda member: member.name)
def test_each_member_of_upstream_has_a_case(member):
    assert member.name in COVERED
    for parameter in member.parameters:
        assert (member.name, parameter) in COVERED_PARAMETERS


@pytest.mark.parametrize("name", sorted(set(stubbed()) | set(pyarrow_cuda_compat.__all__)))
def test_each_public_name_has_a_case(name):
    assert name in COVERED


def test_the_stubs_are_found():
    assert {"Context.new_buffer", "CudaBuffer.size", "read_message"} <= set(stubbed())


@pytest.mark.parametrize("item", ITEMS, ids=label)
def test_an_item_is_shown(item):
    if "planned" in item:
        assert "case" not in item
        assert item["name"] not in upstream.MEMBERS
        return
    script = CASES[item["case"]]
    name = item["name"].split(".")[-1]
    # A class is there where its objects are, and what is double-underscored where Python calls it.
    if re.fullmatch(r"[a-z][a-z_]*", name):
        assert re.search(rf"\b{name}\b", script), f"{name} is not in {item['case']}"
    if "parameter" in item:
        assert (name, item["parameter"]) in set(calls(script))


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
