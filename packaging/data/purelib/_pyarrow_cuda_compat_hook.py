"""Supplies ``pyarrow._cuda`` where pyarrow itself has none.

``pyarrow.cuda`` takes its names from that module, and so do pyarrow's own device paths.  A
file ``pyarrow_cuda_compat.pth`` beside the package installs the finder below when the
interpreter starts, so that no user code changes.  Set ``PYARROW_CUDA_COMPAT_HOOK=0`` to keep
it out.

Runs at every start of Python: it imports nothing that is not loaded already.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

MODULE = "pyarrow._cuda"
VARIABLE = "PYARROW_CUDA_COMPAT_HOOK"


class Finder:
    """Finds one module.  Last in ``sys.meta_path``, so a genuine one is found before."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        from importlib.util import spec_from_loader

        loader = Loader()
        # The type wants `load_module`, which Python itself no longer does.
        return spec_from_loader(name, loader, origin="pyarrow_cuda_compat")  # type: ignore[arg-type]


class Loader:
    """Fills the module with this package's names."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None  # an ordinary one

    def exec_module(self, module: ModuleType) -> None:
        import pyarrow_cuda_compat as package

        module.__doc__ = package.__doc__
        names = vars(package)["__all__"]
        module.__dict__["__all__"] = names
        for name in names:
            setattr(module, name, getattr(package, name))


def install() -> None:
    """Appends the finder to ``sys.meta_path``, once, unless the user does not want it."""
    import os

    if os.environ.get(VARIABLE) != "0" and Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
