"""What the wheel says of itself: licences, bill of materials, where to find what."""

import json
import re
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

pytestmark = pytest.mark.independent

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
#: Crates that are linked into the extension in any case.
LINKED = {"libc", "numpy", "pyo3", "pyo3-ffi"}


@pytest.fixture(scope="module")
def wheel():
    return distribution("pyarrow-cuda-compat")


@pytest.fixture(scope="module")
def bill(wheel):
    (path,) = (path for path in wheel.files if path.match("*.dist-info/sboms/pyarrow-*.json"))
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def licenses(wheel):
    (path,) = (path for path in wheel.files if path.name == "THIRD-PARTY-LICENSES.txt")
    assert path.parent.name == "licenses"
    return path.read_text()


def names(bill):
    return {component["name"] for component in bill["components"]}


def test_the_bill_lists_what_is_linked(bill, wheel):
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    package = bill["metadata"]["component"]
    assert (package["name"], package["version"]) == ("pyarrow-cuda-compat", wheel.version)
    assert names(bill) >= LINKED | {"arrow-cuda-driver", "cuda-sim", "rust"}
    # Crates that only build them, or are for other systems.
    assert not names(bill) & {"autocfg", "proptest", "pyo3-build-config", "syn", "windows-link"}


def test_each_part_of_the_bill_is_complete(bill):
    references = [component["bom-ref"] for component in bill["components"]]
    assert len(set(references)) == len(references)
    for component in bill["components"]:
        assert component["licenses"][0]["expression"]
        assert component["version"] in component["purl"]
    package = bill["metadata"]["component"]["bom-ref"]
    for dependency in bill["dependencies"]:
        assert {*dependency["dependsOn"]} <= {*references}
    assert {each["ref"] for each in bill["dependencies"]} | {references[0]} == {
        package,
        *references,
    }


def test_the_bill_does_not_say_where_it_was_made(bill):
    text = json.dumps(bill)
    assert "path+file" not in text
    assert "timestamp" not in text


def test_the_licences_are_those_of_the_bill(bill, licenses):
    foreign = {c["name"]: c for c in bill["components"] if "hashes" in c}
    assert foreign.keys() >= LINKED
    table, *rest = licenses.split("\n" + "=" * 80 + "\n")
    listed = dict(re.findall(r"^([\w-]+) +(\d\S*) +", table, re.MULTILINE))
    assert listed == {name: c["version"] for name, c in foreign.items()}
    owners = {name.split()[0] for names in rest[::2] for name in names.split(", ")}
    assert owners == foreign.keys()
    for text in rest[1::2]:
        assert len(text) > 100
    assert licenses.count("Permission is hereby granted, free of charge") > 5


def test_the_metadata(wheel):
    metadata = wheel.metadata
    assert {"LICENSE", "THIRD-PARTY-LICENSES.txt"} <= {*metadata.get_all("License-File")}
    urls = dict(each.split(", ", 1) for each in metadata.get_all("Project-URL"))
    assert urls.keys() >= {"Changelog", "Documentation", "Issues", "Repository"}
    assert metadata.get_all("Classifier") == PYPROJECT["project"]["classifiers"]
    assert PYPROJECT["project"]["classifiers"] == sorted(PYPROJECT["project"]["classifiers"])
