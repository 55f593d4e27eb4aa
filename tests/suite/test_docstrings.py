"""Every public name says what it does, names its parameters and shows an example that runs.

The docstring of a name from another library names the original, and lists the differences only.
"""

import ast
import inspect

import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat.conformance import examples, outcome
from pyarrow_cuda_compat.conformance.examples import documented
from support.docstrings import check_paragraph, names_the_original
from support.stubs import STUBS

# Users do not call the constructors of these: functions make such objects, or raise them.
MADE_BY_OTHERS = {"CudaBuffer", "HostBuffer", "IpcMemHandle", "OutOfMemoryError"}
# Their constructors are too low to have a signature: the classes extend pyarrow's.
WITHOUT_SIGNATURE = {"BufferReader": ["obj"], "BufferWriter": ["buffer"]}


DOCUMENTED = documented("pyarrow_cuda_compat") | {
    f"{module}.{name}": thing
    for module in ("memory", "pygpu")
    for name, thing in documented(f"pyarrow_cuda_compat.{module}").items()
}
WITH_EXAMPLES = [
    name
    for name, thing in DOCUMENTED.items()
    if not names_the_original(inspect.getdoc(thing) or "")
]


def _parameters(thing):
    """The names of what a function or a constructor takes."""
    if inspect.isdatadescriptor(thing) or inspect.ismodule(thing):
        return []
    if inspect.isclass(thing) and thing.__name__ in WITHOUT_SIGNATURE:
        return WITHOUT_SIGNATURE[thing.__name__]
    return [
        {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + name
        for name, parameter in inspect.signature(thing).parameters.items()
        if name not in ("self", "cls", "args", "kwargs") and not name.startswith("_")
    ]


def _returns_nothing(name, thing):
    """As the stubs say, or the annotations of what is written in Python."""
    if name in STUBS:
        stated = {ast.unparse(each.returns) for each in STUBS[name]}
    else:
        stated = {str(inspect.signature(thing).return_annotation)}
    return stated <= {"None", "Never", "collections.abc.Iterator[None]"}


def test_the_walk_finds_classes_and_members():
    expected = {"Context.new_buffer", "CudaBuffer.copy_to_host", "DeviceArray.shape"}
    assert expected | set(pyarrow_cuda_compat.__all__) <= DOCUMENTED.keys()
    assert expected | set(pyarrow_cuda_compat.__all__) <= set(WITH_EXAMPLES)


@pytest.mark.independent
@pytest.mark.parametrize("name", list(DOCUMENTED))
def test_a_name_is_documented(name):
    thing = DOCUMENTED[name]
    text = inspect.getdoc(thing)
    assert text, f"{name} has no docstring"
    # A machine with a GPU may lack it; there the examples count.
    docscrape = pytest.importorskip("numpydoc.docscrape")
    doc = docscrape.NumpyDocString(text)  # warns of sections that it does not know
    assert " ".join(doc["Summary"]).endswith("."), "a sentence comes first"
    if names_the_original(text):
        check_paragraph(text)
        return
    assert ">>> " in text, f"{name} has no example"
    assert doc["Examples"], f"{name} has no Examples section"
    if name in MADE_BY_OTHERS:
        return
    documented = [each for parameter in doc["Parameters"] for each in parameter.name.split(", ")]
    assert documented == _parameters(thing)
    for parameter in doc["Parameters"]:
        assert parameter.type or name.startswith("pygpu."), f"{parameter.name} has no type"
        assert parameter.desc, f"{parameter.name} has no description"
    if inspect.isroutine(thing) and not doc["Returns"] and not doc["Yields"]:
        assert _returns_nothing(name, thing)


@pytest.mark.subprocesses
def test_a_case_without_examples_fails(monkeypatch):
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    result = outcome.run(examples.Examples("examples/SmartArray"), 120)
    assert result.transcript == "there is no example\n"
    assert result.status == "failed"
