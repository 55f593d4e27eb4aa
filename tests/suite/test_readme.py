"""What the README shows does run."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text()
SNIPPETS = re.findall(r"^```python\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_there_are_snippets():
    assert len(SNIPPETS) >= 2


@pytest.mark.leaks  # one of them exports memory
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_snippet_runs(snippet):
    exec(compile(snippet, "README.md", "exec"), {"__name__": "readme"})
