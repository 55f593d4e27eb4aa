"""Supplies ``pyarrow._cuda`` to a pyarrow that was built without it.

``pyarrow.cuda`` imports its names from that module, and so do pyarrow's own device paths.  A
file ``pyarrow_cuda_compat.pth`` beside the package, and from Python 3.15 on
``pyarrow_cuda_compat.start`` in its place, installs the finder below when the interpreter starts,
so that users need not change their code.  Where Python does not read these files, the import of
the package installs it.  With ``PYARROW_CUDA_HOOK=0`` the finder is not installed.

This module runs at every start of Python, so it imports only modules that are loaded already.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

MODULE = "pyarrow._cuda"
VARIABLE = "PYARROW_CUDA_HOOK"
PREFIX = "PYARROW_CUDA_"
# The package's variables, of which most are read by the crates.
NAMES = {
    PREFIX + ending
    for ending in (
        "CACHE",
        "COMPUTE_ENGINE",
        "COPY_PINNED",
        "COPY_THREADS",
        "DRIVER",
        "HOOK",
        "PINNED_CACHE",
        "ZERO",
    )
}
# The names that variables had once, and what they are called now.
RENAMED = {"PYARROW_CUDA_COMPAT_HOOK": VARIABLE}

_complained = False


class Finder:
    """Finds one module.  It is last in ``sys.meta_path``, so Python finds a genuine one first."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != MODULE:
            return None
        # Python holds a lock here that imports of other threads need, so this must not import
        # anything, not even the class of specifications.  This module's own is of that class.
        make: type[ModuleSpec] = type(__spec__)
        # The type requires `load_module`, which Python itself no longer calls.
        return make(name, Loader(), origin="pyarrow_cuda_compat")  # type: ignore[arg-type]


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


def check_names() -> None:
    """Refuses variables by names that they never or no longer have; the package begins with this.

    A name that resembles none of them belongs to somebody else.

    Raises
    ------
    ImportError
        If one is set.  Who has set it expects that it changes something.
    """
    import os

    for name, value in os.environ.items():
        if value and name.startswith(PREFIX) and name not in NAMES and name not in RENAMED:
            from difflib import get_close_matches  # takes milliseconds

            endings = [known.removeprefix(PREFIX) for known in sorted(NAMES)]
            for ending in get_close_matches(name.removeprefix(PREFIX), endings, 1):
                raise ImportError(
                    f"there is no environment variable {name}: did you mean {PREFIX}{ending}? "
                    f"unset {name}, or call it so"
                )
    for old, new in RENAMED.items():
        if os.environ.get(old):
            raise ImportError(f"the environment variable {old} is called {new} now: set that one")


def is_enabled() -> bool:
    """Whether the package may change pyarrow: unless the environment variable is 0.

    A value other than 0, 1 and nothing counts as 1.  The first call reports it on standard error.
    """
    import os

    global _complained
    value = os.environ.get(VARIABLE, "")
    if value.strip() not in ("", "0", "1") and not _complained and sys.stderr is not None:
        _complained = True
        text = f"{VARIABLE} must be 0 or 1, not '{value}'; pyarrow.cuda uses pyarrow_cuda_compat"
        print(text, file=sys.stderr)
    return value.strip() != "0"


def install() -> None:
    """Appends the finder to ``sys.meta_path``, once, if the environment variable allows it."""
    if is_enabled() and Finder not in sys.meta_path:
        sys.meta_path.append(Finder)
