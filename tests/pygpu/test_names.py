"""The public names: those of the original, documented here or there, with examples that run."""

import doctest
import inspect

import numpy as np
import pytest

import pyarrow_cuda_compat.pygpu as gpuarray
from support.docstrings import check_paragraph, names_the_original

# Values, whose names say all.
VALUES = {
    "SUPPORTED_DTYPES",
    "cuda_enabled",
    "major_version",
    "minor_version",
    "release_version",
    "use_hip",
}


def members(thing):
    """The public members of a class, also of the bases that it has here."""
    for base in thing.__mro__:
        if base.__module__.startswith("pyarrow_cuda_compat"):
            yield from ((name, each) for name, each in vars(base).items() if name[0] != "_")


def documented():
    found = {}
    for name in gpuarray.__all__:
        thing = getattr(gpuarray, name)
        if name in VALUES or inspect.ismodule(thing):
            continue
        found[name] = thing
        if inspect.isclass(thing) and not issubclass(thing, int):
            # The ten classes of a kind share their members.
            known = {id(each) for each in found.values()}
            own = {f"{name}.{short}": each for short, each in members(thing)}
            found |= {name: each for name, each in own.items() if id(each) not in known}
    return found


DOCUMENTED = documented()
WITH_EXAMPLES = [
    name for name, thing in DOCUMENTED.items() if not names_the_original(inspect.getdoc(thing))
]


def test_the_names_are_those_of_the_original():
    kinds = ("DeviceArray", "DeviceAllocator", "HostAllocator", "PagelockedAllocator")
    for kind in (*kinds, "pointer_wrapper"):
        for dtype in gpuarray.SUPPORTED_DTYPES:
            assert f"{kind}_{dtype}" in DOCUMENTED
    assert set(gpuarray.gpuarray.__all__) <= set(gpuarray.__all__)
    assert set(gpuarray.backend.__all__) <= set(gpuarray.__all__)
    assert len(set(gpuarray.__all__)) == len(gpuarray.__all__)
    assert (gpuarray.major_version, gpuarray.minor_version, gpuarray.release_version) == (0, 2, 1)
    assert gpuarray.cuda_enabled
    assert not gpuarray.use_hip


@pytest.mark.independent
@pytest.mark.parametrize("name", list(DOCUMENTED))
def test_a_name_is_documented(name):
    docscrape = pytest.importorskip("numpydoc.docscrape")
    thing = DOCUMENTED[name]
    text = inspect.getdoc(thing)
    doc = docscrape.NumpyDocString(text)
    assert " ".join(doc["Summary"]).endswith(".")
    if names_the_original(text):
        check_paragraph(text)
        return
    assert doc["Examples"]
    if isinstance(thing, property):
        return
    described = [each for parameter in doc["Parameters"] for each in parameter.name.split(", ")]
    taken = {
        name: each.kind
        for name, each in inspect.signature(thing).parameters.items()
        if name not in ("self", "args", "kwargs")
    }
    stars = {inspect.Parameter.VAR_POSITIONAL: "*"}
    assert described == [stars.get(kind, "") + name for name, kind in taken.items()]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_an_example_runs(name):
    text = inspect.getdoc(DOCUMENTED[name])
    example = doctest.DocTestParser().get_doctest(
        text, {"np": np, "gpuarray": gpuarray}, name, name, 0
    )
    assert example.examples
    report = []
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert outcome.failed == 0, "".join(report)
