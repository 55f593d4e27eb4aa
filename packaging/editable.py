"""What an editable install adds to the wheel: the way to the checkout.

`pip install -e .` takes the Python files from the checkout, where the compiled ones are built, too.
The files beside the package are installed as usual: the hook, the stubs, the conformance cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# maturin's own file of this kind has the package's name, as the one with the hook has, and is
# replaced by it.
NAME = "__editable__.pyarrow_cuda_compat.pth"


@contextmanager
def path_to(checkout: Path, beside: Path) -> Iterator[None]:
    """Puts a file with the checkout's path beside what is installed beside the package."""
    path = beside / NAME
    path.write_text(f"{checkout}\n")
    try:
        yield
    finally:
        path.unlink()
