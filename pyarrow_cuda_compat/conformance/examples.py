"""Docstring examples of public names: a case for each module and class.

    python -m pyarrow_cuda_compat.conformance.examples NAME SECONDS

runs the examples of one case, such as ``examples/Context``, and prints the failures.
A docstring states the results of its examples, so nothing is printed where they are right.
"""

from __future__ import annotations

import doctest
import faulthandler
import gc
import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter

from . import replay

PACKAGE = "pyarrow_cuda_compat"
#: The modules that a program imports by their names.
MODULES = ["memory", "pygpu"]
#: Modules for another library, and what their examples need.  Such a case also runs the examples of
#: members that name the library, such as `Context.from_numba`.
LIBRARIES = {
    "cupy": "gpu, cupy",
    "dask": "distributed",
    "numba": "numba.cuda",
    "rmm": "gpu, rmm",
}
#: The examples assume these lines, as docs/reference.md says.
ASSUMED = """
import numpy as np
import pyarrow as pa
from pyarrow import cuda
from pyarrow_cuda_compat import *
from pyarrow_cuda_compat import SmartArray, memory, tracing
ctx = cuda.Context(0)
"""
ASSUMED_BY_PYGPU = """
import numpy as np
import pyarrow_cuda_compat.pygpu as gpuarray
"""


@dataclass(frozen=True)
class Examples:
    """The examples of a module or class, named after it."""

    name: str

    @property
    def title(self) -> str:
        return f"The docstring examples of {self.name.partition('/')[2]}."

    @property
    def command(self) -> list[str]:
        return ["-m", f"{PACKAGE}.conformance.examples", self.name]

    def expected(self) -> str:
        """Nothing is printed of examples that give what their docstrings say."""
        return ""


def find(prefixes: list[str]) -> list[Examples]:
    """The cases whose names begin with one of the prefixes; all, without any."""
    # A package that cannot be loaded has no names; the command says why.  Cases import NumPy.
    names = getattr(import_module(PACKAGE), "__all__", [])
    found = {case_of(name) for name in names}
    found |= {f"examples/{name}" for name in [*MODULES, *LIBRARIES, "SmartArray"] if names}
    return [
        Examples(name) for name in sorted(found) if not prefixes or name.startswith(tuple(prefixes))
    ]


def documented(module: str) -> dict[str, object]:
    """The public names of a module with what they name, and the members of its classes."""
    package = import_module(module)
    exported = {name: getattr(package, name) for name in package.__all__}
    if module == PACKAGE:
        exported["SmartArray"] = package.SmartArray
    found: dict[str, object] = {module.rpartition(".")[2]: package}
    known: set[int] = set()
    for name, thing in exported.items():
        if inspect.isclass(thing):
            found[name] = thing
            # Classes that differ in a type only share their members.
            own = {short: each for short, each in members(thing) if id(each) not in known}
            known.update(map(id, own.values()))
            found |= {f"{name}.{short}": getattr(thing, short) for short in sorted(own)}
        elif inspect.isroutine(thing):
            found[name] = thing
    return found | (added_to_pyarrow() if module == PACKAGE else {})


def added_to_pyarrow() -> dict[str, object]:
    """What the package adds to pyarrow's classes, by its name there."""
    import pyarrow.dataset  # whose import adds methods

    described = import_module(f"{PACKAGE}._patches.patching").DESCRIBED
    return {f"pyarrow.{name}": attrgetter(name)(pyarrow) for name in sorted(described)}


def members(cls: type) -> Iterator[tuple[str, object]]:
    """What a class of this package adds to those of others, wherever in its bases it stands.

    A class describes its slots among its parameters; the members of enumerations are values.
    """
    if issubclass(cls, int):
        return
    for base in cls.__mro__:
        if base.__module__.startswith(("pyarrow._cuda", PACKAGE)):
            for name, value in vars(base).items():
                if not name.startswith("_") and not inspect.ismemberdescriptor(value):
                    yield name, value


def case_of(name: str) -> str:
    """The case that runs the examples of a public name."""
    owner, _, member = name.partition(".")
    for library in LIBRARIES:
        if library in member:
            return f"examples/{library}"
    return f"examples/{owner if owner[0].isupper() else PACKAGE}"


def tests(case: str) -> Iterator[doctest.DocTest]:
    """The examples of a case, each docstring's by itself."""
    place = case.partition("/")[2]
    names = {name: each for name, each in documented(PACKAGE).items() if case_of(name) == case}
    if place in MODULES or place in LIBRARIES:
        names |= documented(f"{PACKAGE}.{place}")
    for name, thing in names.items():
        assumed: dict[str, object] = {}
        exec(ASSUMED_BY_PYGPU if place == "pygpu" else ASSUMED, assumed)
        text = inspect.getdoc(thing) or ""
        yield doctest.DocTestParser().get_doctest(text, assumed, name, None, 0)


def main() -> int:
    """Runs the case of the first argument, for at most as many seconds as the second says."""
    case, seconds = sys.argv[1:]
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    needs = LIBRARIES.get(case.partition("/")[2])
    if missing := replay.lacking(f"# needs: {needs}" if needs else ""):
        print(f"{replay.LACKING}{missing}")
        return replay.SKIPPED
    found = [test for test in tests(case) if test.examples]
    if not found:
        print("there is no example")  # as where Python leaves docstrings out
    for test in found:
        gc.collect()  # what the one before left may not go while an example counts bytes
        doctest.DocTestRunner(verbose=False).run(test)
    return 0


if __name__ == "__main__":
    sys.exit(main())
