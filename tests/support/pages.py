"""Runs the snippets on a page of the documentation."""

import re
import sys
from pathlib import Path

from pyarrow_cuda_compat.conformance import replay

SNIPPET = re.compile(
    r"^(?:<!-- needs: (?P<needs>[^\n]+) -->\n)?```python\n(?P<code>.*?)^```",
    flags=re.DOTALL | re.MULTILINE,
)


def play(page, needs=None):
    """Runs the snippets of a page that need nothing, or these things."""
    text = page.read_text()
    namespace = {"__name__": "__main__" if needs else page.stem}
    for found in SNIPPET.finditer(text):
        if found["needs"] not in (None, needs):
            continue
        # Line numbers in a traceback are the page's.
        lines_before = text.count("\n", 0, found.start("code"))
        exec(compile("\n" * lines_before + found["code"], str(page), "exec"), namespace)
    # Functions of the page may be referred to by what Python cannot see through: a buffer's owner.
    namespace.clear()


def main(page, needs):
    """Plays a page where its needs are met; exits with `replay.SKIPPED` elsewhere."""
    lacking = replay.lacking(f"# needs: {needs}")
    if lacking:
        print("needs", lacking, end="")
        sys.exit(replay.SKIPPED)
    play(Path(page), needs)
