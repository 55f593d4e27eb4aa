"""The releases of pyarrow that are supported: what is written is what the wheel has bridges for."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pyarrow_cuda_compat._runtime import bridges

ROOT = Path(__file__).parents[2]
OLDEST, *_, NEWEST = [major for major, _ in bridges.releases()]

pytestmark = pytest.mark.independent


def test_pip_installs_one_of_them():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (pyarrow,) = (
        each.specifier
        for each in map(Requirement, project["dependencies"])
        if each.name == "pyarrow"
    )
    assert str(OLDEST) in pyarrow
    assert f"{NEWEST}.9.9" in pyarrow
    assert f"{OLDEST - 1}.9.9" not in pyarrow
    assert str(NEWEST + 1) not in pyarrow


@pytest.mark.parametrize("page", ["README.md", "docs/installing.md"])
def test_pages_say_which(page):
    assert f"| pyarrow | {OLDEST} to {NEWEST}" in (ROOT / page).read_text()
