"""The snippets on the pages of the documentation run, page by page, one after another.

A hidden comment above a snippet names the library or GPU that it needs:
``<!-- needs: gpu, cupy -->``, in the words of the conformance suite.  Those with the same needs run
together with what needs nothing, in a process of their own.
"""

import gc
import re
from pathlib import Path

import _pyarrow_cuda_compat_hook
import pytest

from pyarrow_cuda_compat.conformance import replay
from support.pages import SNIPPET, play

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _with_snippets():
    return [page for page in PAGES if SNIPPET.search(page.read_text())]


def _with_needs():
    for page in PAGES:
        found = (each["needs"] for each in SNIPPET.finditer(page.read_text()))
        for needs in dict.fromkeys(each for each in found if each):
            marks = [pytest.mark.hardware] if "gpu" in needs.split(", ") else []
            yield pytest.param(page, needs, marks=marks, id=f"{page.stem}: {needs}")


def test_there_are_pages_with_snippets():
    assert {"guide", "index", "interop"} <= {page.stem for page in _with_snippets()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_snippet_is_found(page):
    """None is left out because of how it is written."""
    text = page.read_text()
    assert len(re.findall("^```.*python", text, re.MULTILINE)) == len(SNIPPET.findall(text))
    needs = [each["needs"] for each in SNIPPET.finditer(text)]
    assert text.count("<!-- needs") == len([each for each in needs if each])


def test_the_page_on_variables_has_all_of_them():
    page = (ROOT / "docs/environment.md").read_text()
    rows = re.findall(r"^\| `(PYARROW_CUDA_\w+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(_pyarrow_cuda_compat_hook.NAMES)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("parquet", "from_a_file"),
        ("multiple gpus", "several_gpus"),
        ("jupyter", "notebook"),
        ("dataloader", "training"),
    ],
)
def test_a_title_has_the_words_that_people_search(words, name):
    """The search of the documentation puts pages first whose titles have the words."""
    titles = {page.stem: page.read_text().partition("\n")[0].lower() for page in PAGES[1:]}
    found = [page for page, title in titles.items() if all(it in title for it in words.split())]
    assert found == [name]


@pytest.mark.leaks  # one of them exports memory
@pytest.mark.parametrize("page", _with_snippets(), ids=lambda page: page.stem)
def test_a_page_runs(page):
    gc.collect()  # what earlier tests left may not go while a page counts bytes
    play(page)


@pytest.mark.parametrize(("page", "needs"), list(_with_needs()))
def test_snippets_with_needs_run(run_python, page, needs):
    code = "import sys; from support import pages; pages.main(*sys.argv[1:])"
    # JAX would take most of the device's memory, which other tests need too.
    env = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "PYARROW_CUDA_COMPUTE_ENGINE": ""}
    status, out, err = run_python(code, page, needs, **env)
    if status == replay.SKIPPED:
        pytest.skip(out)
    assert status == 0, f"{out}{err}"
