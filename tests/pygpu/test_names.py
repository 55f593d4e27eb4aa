"""The public names: those of the original, documented here or there, with examples."""

import inspect

import pytest

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat.conformance.examples import documented
from support.docstrings import check_paragraph, names_the_original

DOCUMENTED = documented("pyarrow_cuda_compat.pygpu")


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
    assert ">>> " in text
    if isinstance(thing, property) or inspect.ismodule(thing):
        return
    described = [each for parameter in doc["Parameters"] for each in parameter.name.split(", ")]
    taken = {
        name: each.kind
        for name, each in inspect.signature(thing).parameters.items()
        if name not in ("self", "args", "kwargs")
    }
    stars = {inspect.Parameter.VAR_POSITIONAL: "*"}
    assert described == [stars.get(kind, "") + name for name, kind in taken.items()]
