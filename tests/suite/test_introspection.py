"""What Python can tell of the classes and functions: signatures, where they are, their help."""

import inspect
import pickle
import pydoc

import pyarrow as pa
import pytest
from pyarrow import cuda

import pyarrow_cuda_compat
from support import upstream

MODULE = "pyarrow._cuda"
PUBLIC = [getattr(pyarrow_cuda_compat, name) for name in pyarrow_cuda_compat.__all__]
# Without exceptions, whose signature Python itself does not know.
CLASSES = [
    member
    for member in PUBLIC
    if isinstance(member, type) and not issubclass(member, BaseException)
]
# Each method with its class: those that are defined here, not pyarrow's.
METHODS = [
    (owner, name)
    for owner in CLASSES
    for name in vars(owner)
    if not name.startswith("_") and callable(getattr(owner, name))
]


def by_name(value):
    return value.__name__ if hasattr(value, "__name__") else str(value)


def described(signature, added=()):
    """Names and defaults, as upstream's members have them; without what is added to those."""
    assert all(signature.parameters[name].kind == inspect.Parameter.KEYWORD_ONLY for name in added)
    return {
        name: ... if parameter.default is parameter.empty else parameter.default
        for name, parameter in signature.parameters.items()
        if name != "self" and name not in added
    }


def found(dotted):
    value = pyarrow_cuda_compat
    for name in dotted.split("."):
        value = (
            inspect.getattr_static(value, name) if isinstance(value, type) else vars(value)[name]
        )
    return value


@pytest.mark.parametrize("member", upstream.MEMBERS.values(), ids=lambda member: member.name)
def test_a_signature_is_upstreams(member):
    value = found(member.name)
    if member.is_attribute:
        assert inspect.isgetsetdescriptor(value)
    else:
        value = value.__func__ if isinstance(value, staticmethod) else value
        added = upstream.ADDED_PARAMETERS.get(member.name, ())
        assert described(inspect.signature(value), added) == member.parameters


@pytest.mark.parametrize(("owner", "name"), METHODS, ids=by_name)
def test_a_method_is_its_classs_own(owner, name):
    method = vars(owner)[name]
    assert getattr(owner, name).__qualname__ == f"{owner.__name__}.{name}"
    assert getattr(method, "__objclass__", owner) is owner
    assert inspect.signature(getattr(owner, name))
    assert inspect.getdoc(getattr(owner, name))


def test_the_methods_are_found():
    names = {f"{owner.__name__}.{name}" for owner, name in METHODS}
    assert {"Context.new_buffer", "CudaBuffer.slice", "CudaBuffer.from_buffer"} <= names
    assert {"HostBuffer.slice", "BufferReader.read_buffer", "BufferWriter.writeat"} <= names


@pytest.mark.parametrize("name", ["context", "__getitem__"])
def test_members_that_are_no_methods(cuda, name):
    assert vars(cuda.CudaBuffer)[name].__objclass__ is cuda.CudaBuffer


@pytest.mark.parametrize("member", PUBLIC, ids=by_name)
def test_a_name_is_where_it_says(member):
    is_upstreams = hasattr(cuda, member.__name__)
    assert member.__module__.startswith(MODULE if is_upstreams else "pyarrow_cuda_compat")
    assert member.__qualname__ == member.__name__
    assert pickle.loads(pickle.dumps(member)) is member


@pytest.mark.parametrize("owner", CLASSES, ids=by_name)
def test_no_two_classes_of_one_name(owner):
    names = [ancestor.__qualname__ for ancestor in owner.__mro__]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("owner", CLASSES, ids=by_name)
def test_help(owner):
    text = pydoc.plain(pydoc.render_doc(owner))
    own, *_ = text.split("inherited from")
    for name in (name for class_, name in METHODS if class_ is owner):
        assert f" |  {name}(" in own
    assert "\n--\n" not in text
    signature = str(inspect.signature(owner))
    assert signature == "()" or f" |  {owner.__name__}{signature}\n" in text


def test_methods_refuse_objects_of_other_classes(cuda):
    host = pa.py_buffer(b"host")
    for name in ("slice", "copy_to_host", "to_pybytes"):
        with pytest.raises(TypeError, match=f"descriptor '{name}' for '{MODULE}.CudaBuffer'"):
            getattr(cuda.CudaBuffer, name)(host)
    with pytest.raises(TypeError, match=f"descriptor 'context' for '{MODULE}.CudaBuffer'"):
        vars(cuda.CudaBuffer)["context"].__get__(host)
