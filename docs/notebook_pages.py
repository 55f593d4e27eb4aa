"""Makes a page of a notebook: its words, and the code of its cells, which a test runs."""

from __future__ import annotations

import json
from pathlib import Path


def page_of(notebook: Path) -> str:
    cells = json.loads(notebook.read_text())["cells"]
    texts = [("".join(cell["source"]), cell["cell_type"] == "code") for cell in cells]
    return "\n\n".join(f"```python\n{text}\n```" if is_code else text for text, is_code in texts)
