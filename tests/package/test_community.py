"""What GitHub shows to those who report and contribute."""

from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
GITHUB = ROOT / ".github"

pytestmark = [
    pytest.mark.independent,
    pytest.mark.skipif(not GITHUB.is_dir(), reason="needs the repository"),
]

FORMS = ["bug", "feature"]
FILES = [*GITHUB.rglob("*.yml"), *GITHUB.rglob("*.yaml"), ROOT / ".pre-commit-config.yaml"]


def load(path):
    return yaml.safe_load(path.read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_parses(path):
    assert isinstance(load(path), dict)


@pytest.mark.parametrize("name", FORMS)
def test_a_form(name):
    """GitHub ignores a form that is not as it wants it."""
    form = load(GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml")
    assert form.keys() == {"name", "description", "labels", "body"}
    parts = form["body"]
    identifiers = [part["id"] for part in parts if part["type"] != "markdown"]
    assert len({*identifiers}) == len(identifiers) > 1
    for part in parts:
        assert part["type"] in {"markdown", "textarea", "dropdown"}
        needed = "value" if part["type"] == "markdown" else "label"
        assert part["attributes"][needed].strip()


def test_a_bug_report_asks_for_what_info_prints():
    parts = load(GITHUB / "ISSUE_TEMPLATE" / "bug.yml")["body"]
    (asked,) = (part for part in parts if part.get("id") == "info")
    assert "python -m pyarrow_cuda_compat info --json" in asked["attributes"]["description"]
    assert asked["validations"]["required"] is True
    assert asked["attributes"]["render"] == "json"


def test_newer_versions_are_looked_for_where_versions_are():
    updates = load(GITHUB / "dependabot.yml")["updates"]
    folders = {each["package-ecosystem"]: each for each in updates}
    assert folders.keys() == {"cargo", "github-actions", "pip"}
    for folder in folders["cargo"]["directories"]:
        assert (ROOT / folder.lstrip("/") / "Cargo.toml").is_file()
    pip = folders["pip"]
    where = ROOT / pip["directory"].lstrip("/")
    assert [*where.glob("requirements*.txt")]
    assert all((where / name).is_file() for name in pip["exclude-paths"])
    pinned = "".join(path.read_text() for path in where.glob("requirements*.txt"))
    assert all(f"{each['dependency-name']}==" in pinned for each in pip["ignore"])


def test_hooks_before_a_commit_fetch_nothing():
    (repository,) = load(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    for hook in repository["hooks"]:
        assert hook["language"] == "system"
        program, *_ = hook["entry"].split()
        assert program == "cargo" or (ROOT / program).is_file()
