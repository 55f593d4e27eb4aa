"""Every public name says what it does, names its parameters and shows an example that runs.

The docstring of a name from another library names the original, and lists the differences only.
"""

import ast
import doctest
import gc
import importlib.util
import inspect
import re

import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat import memory
from support.docstrings import check_paragraph, names_the_original
from support.stubs import STUBS

# Users do not call the constructors of these: functions make such objects, or raise them.
MADE_BY_OTHERS = {"CudaBuffer", "HostBuffer", "IpcMemHandle", "OutOfMemoryError"}
# Their constructors are too low to have a signature: the classes extend pyarrow's.
WITHOUT_SIGNATURE = {"BufferReader": ["obj"], "BufferWriter": ["buffer"]}
HAS_NUMBA = importlib.util.find_spec("numba_cuda") or importlib.util.find_spec("numba")


def _members(cls):
    """The names that a class of ours adds to pyarrow's, wherever in its bases they stand.

    Slots are described as parameters of the class.
    """
    modules = ("pyarrow._cuda", "pyarrow_cuda_compat")
    ours = [base for base in cls.__mro__ if base.__module__.startswith(modules)]
    found = {name: value for base in ours for name, value in vars(base).items()}
    return sorted(
        name
        for name, value in found.items()
        if not name.startswith("_") and not inspect.ismemberdescriptor(value)
    )


def _documented():
    yield "pyarrow_cuda_compat", pyarrow_cuda_compat
    yield "memory", memory
    things = {name: getattr(pyarrow_cuda_compat, name) for name in pyarrow_cuda_compat.__all__}
    things["SmartArray"] = pyarrow_cuda_compat.SmartArray
    things |= {f"memory.{name}": getattr(memory, name) for name in memory.__all__}
    for name, thing in things.items():
        yield name, thing
        if inspect.isclass(thing):
            for member in _members(thing):
                yield f"{name}.{member}", getattr(thing, member)


DOCUMENTED = dict(_documented())
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


def _marked(names):
    for name in names:
        # Shared with other processes, the memory stays until this one ends.
        is_exporting = re.search(r"\bexport_for_ipc\(", inspect.getdoc(DOCUMENTED[name]) or "")
        marks = [pytest.mark.leaks] if is_exporting else []
        if "numba" in name:
            # What Numba warns of is its own affair.
            marks += [pytest.mark.hardware, pytest.mark.filterwarnings("default")]
        yield pytest.param(name, marks=marks)


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
        assert parameter.type, f"{parameter.name} has no type"
        assert parameter.desc, f"{parameter.name} has no description"
    if inspect.isroutine(thing) and not doc["Returns"] and not doc["Yields"]:
        assert _returns_nothing(name, thing)


#: The lines that the examples assume, as docs/reference.md says.
ASSUMED = """
import numpy as np
import pyarrow as pa
from pyarrow import cuda
from pyarrow_cuda_compat import *
from pyarrow_cuda_compat import SmartArray, memory, tracing
ctx = cuda.Context(0)
"""


@pytest.mark.parametrize("name", list(_marked(WITH_EXAMPLES)))
def test_an_example_runs(name):
    if "numba" in name and not HAS_NUMBA:
        pytest.skip("needs Numba")
    text = inspect.getdoc(DOCUMENTED[name])
    assumed = {}
    exec(ASSUMED, assumed)
    example = doctest.DocTestParser().get_doctest(text, assumed, name, name, 0)
    assert example.examples, f"{name} has no example"
    gc.collect()  # what earlier tests left may not go while an example counts bytes
    report = []
    outcome = doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert outcome.failed == 0, "".join(report)


# In a process of their own: they choose things for all of it.
@pytest.mark.parametrize(
    "name",
    [
        "numba.memory_manager",
        "dask.Plugin",
        "dask.transfers",
    ],
)
def test_an_example_of_another_module_runs(run_python, name):
    module, name = name.split(".")
    package = {"dask": "distributed", "numba": "numba.cuda"}[module]
    try:
        importlib.import_module(package)
    except Exception as error:  # they raise all kinds of errors when they lack something
        pytest.skip(f"needs {package} ({error})")
    code = f"""
import doctest, sys
from pyarrow_cuda_compat import {module}
[example] = doctest.DocTestFinder(recurse=False).find({module}.{name}, {name!r}, globs={{}})
sys.exit(doctest.DocTestRunner().run(example).failed)
"""
    status, out, err = run_python(code)
    assert status == 0, f"{out}{err}"
