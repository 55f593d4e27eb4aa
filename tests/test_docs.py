"""The snippets on the pages of the documentation run, page by page, one after another."""

import gc
import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parent.parent / "docs").glob("*.md"))
SNIPPET = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


def _with_snippets():
    return [page for page in PAGES if SNIPPET.search(page.read_text())]


def test_there_are_pages_with_snippets():
    assert {"guide", "index"} <= {page.stem for page in _with_snippets()}


@pytest.mark.leaks  # one of them exports memory
@pytest.mark.parametrize("page", _with_snippets(), ids=lambda page: page.stem)
def test_a_page_runs(page):
    gc.collect()  # what earlier tests left may not go while a page counts bytes
    text = page.read_text()
    namespace = {"__name__": page.stem}
    for found in SNIPPET.finditer(text):
        # Line numbers in a traceback are the page's.
        lines_before = text.count("\n", 0, found.start(1))
        exec(compile("\n" * lines_before + found[1], str(page), "exec"), namespace)
