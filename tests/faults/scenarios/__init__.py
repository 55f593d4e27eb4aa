"""What is run while calls fail: short programs that check their own results, by subject.

A scenario leaves nothing behind, and may run any number of times.  It gets what has to be there
before from `prepared`, which runs without faults.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

SUBJECTS = (
    "contexts",
    "buffers",
    "pinned",
    "files",
    "batches",
    "exchange",
    "pickles",
    "arrays",
    "tensors",
    "fronts",
    "streams",
    "processes",
    "caches",
    "transfers",
    "peers",
    "numbas",
)


@dataclass(frozen=True)
class Scenario:
    name: str
    run: Callable[[], None]
    prepare: Callable[[], None]
    #: Another library's error for a failed call, as a regular expression with `{code}`.
    others: str | None
    #: Whether it is for the caller to set the current context afterwards.
    changes_context: bool
    #: The kinds that it releases by calls that raise: if one does, the object is lost.
    releases: dict[str, int]
    #: How much of a kind each run leaves alive, because it has to.
    keeps: dict[str, int]


_FOUND: dict[str, Scenario] = {}


def scenario(prepare=lambda: None, others=None, changes_context=False, releases=None, keeps=None):
    """Registers a function under the name of its module and its own."""

    def register(run):
        name = f"{run.__module__.rpartition('.')[2]}.{run.__name__}"
        _FOUND[name] = Scenario(
            name, run, prepare, others, changes_context, releases or {}, keeps or {}
        )
        return run

    return register


def every():
    """All scenarios by their names; importing them must not load the driver."""
    for subject in SUBJECTS:
        import_module(f"{__name__}.{subject}")
    return dict(_FOUND)
