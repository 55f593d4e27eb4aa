"""The metadata, the pages and the texts name the same releases of pyarrow and other libraries."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pyarrow_cuda_compat._cudf import engine

ROOT = Path(__file__).parents[2]
RELEASES = (ROOT / "packaging" / "pyarrow-versions.txt").read_text().split()
OLDEST, NEWEST = (int(RELEASES[place].split(".")[0]) for place in (0, -1))

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]

pytestmark = pytest.mark.independent


def test_pip_installs_one_of_them():
    (pyarrow,) = (
        each.specifier
        for each in map(Requirement, PROJECT["dependencies"])
        if each.name == "pyarrow"
    )
    assert str(OLDEST) in pyarrow
    assert f"{NEWEST}.9.9" in pyarrow
    assert f"{OLDEST - 1}.9.9" not in pyarrow
    assert str(NEWEST + 1) not in pyarrow


@pytest.mark.parametrize("page", ["README.md", "docs/installing.md"])
def test_pages_say_which(page):
    assert f"| pyarrow | {OLDEST} to {NEWEST}" in (ROOT / page).read_text()


def test_the_page_lists_the_extras():
    page = (ROOT / "docs" / "installing.md").read_text()
    rows = re.findall(r"^\| `([\w-]+)` \| (.*?) \|", page, re.MULTILINE)
    listed = {extra: re.findall(r"`(.*?)`", installs) for extra, installs in rows}
    assert listed == {extra: [] if "all" in extra else EXTRAS[extra] for extra in EXTRAS}


@pytest.mark.parametrize(("one", "other"), [("cu12", "cu13"), ("cu13", "cu12")])
def test_all_extras_for_one_cuda(one, other):
    (combined,) = map(Requirement, EXTRAS[f"all-{one}"])
    wanted = {extra for extra in EXTRAS if not extra.startswith("all-") and other not in extra}
    assert (combined.name, combined.extras) == (PROJECT["name"], wanted)


def test_the_advice_and_the_pages_name_the_releases_of_the_extras():
    texts = [engine._INSTALL, *(path.read_text() for path in (ROOT / "docs").glob("*.md"))]
    named = set(re.findall(r"pylibcudf-cu1[23]>=[\d.,<]+", "\n".join(texts)))
    assert named == {*EXTRAS["cudf-cu12"], *EXTRAS["cudf-cu13"]}
    assert "pyarrow-cuda-compat[" not in "".join(texts)  # not on PyPI
    (accepted,) = map(Requirement, EXTRAS["cudf-cu13"])
    for release in (engine.OLDEST, engine.NEWEST):
        assert "{}.{}".format(*release) in accepted.specifier
    year, month = engine.NEWEST
    assert f"{year}.{month + 1}" not in accepted.specifier
