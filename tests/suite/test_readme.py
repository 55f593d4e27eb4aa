"""The README's links work on PyPI's page, too; test_docs.py runs its snippets."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROSE = re.sub(r"^```.*?^```", "", README, flags=re.DOTALL | re.MULTILINE)
# Names of links, with their targets below the text.
NAME = r"^\[(.+)\]: (\S+)$"
NAMED = dict(re.findall(NAME, PROSE, flags=re.MULTILINE))
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]


def test_each_link_is_absolute():
    targets = [*re.findall(r"\]\((.*?)\)", PROSE), *NAMED.values()]
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []


def test_each_name_of_a_link_has_a_target():
    used = re.findall(r"\[([^]\n]+)\](?![(:])", PROSE)
    assert set(used) == set(NAMED)


@pytest.mark.skipif(not (ROOT / "Cargo.toml").exists(), reason="needs a checkout")
def test_each_link_into_the_repository_leads_to_a_file():
    files = [target.partition("#")[0] for target in NAMED.values() if REPOSITORY in target]
    assert files
    for file in files:
        assert (ROOT / file.removeprefix(f"{REPOSITORY}/blob/main/")).is_file(), file


@pytest.mark.skipif(not (ROOT / "Cargo.toml").exists(), reason="needs a checkout")
@pytest.mark.parametrize("crate", sorted((ROOT / "crates").glob("*/README.md")), ids=str)
def test_each_link_of_a_crate_leads_to_a_file_and_in_the_reference_to_an_item(crate):
    named = dict(re.findall(r"^\[(.+)\]: (\S+)$", crate.read_text(), flags=re.MULTILINE))
    for name, target in named.items():
        assert (crate.parent / target.partition("#")[0]).is_file(), target
        assert f"//! [{name}]: " in (crate.parent / "src" / "lib.rs").read_text()
