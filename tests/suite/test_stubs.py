"""The stubs have all public names, and are installed.

`test_typing.py` compares them with what there is, and `test_introspection.py` that with
upstream's source.
"""

import ast
import runpy
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import cuda

import pyarrow_cuda_compat
from support import upstream
from support.stubs import FOLDER, STUBS


@pytest.mark.parametrize("name", sorted(STUBS))
def test_a_name_exists_and_is_upstreams_or_inherited(name):
    owner, _, member = name.partition(".")
    value = getattr(pyarrow_cuda_compat, owner)
    if member:
        assert hasattr(value, member)
        bases = [base for base in value.__mro__ if base.__module__ == "pyarrow.lib"]
        is_upstreams = name in upstream.MEMBERS or any(hasattr(base, member) for base in bases)
        assert is_upstreams or name in upstream.ADDED_MEMBERS or not hasattr(cuda, owner)


@pytest.mark.leaks
def test_what_users_write_runs():
    path = Path(__file__).with_name("typing") / "user_code.py"
    runpy.run_path(str(path), run_name="__main__")


def test_the_wheel_carries_them():
    package = Path(pyarrow_cuda_compat.__file__).parent
    beside = package.with_name("_pyarrow_cuda_compat_stubs") / "pyarrow-stubs"
    carried = {path.name: path.read_text() for path in [package / "_native.pyi", *beside.iterdir()]}
    assert carried == {path.name: path.read_text() for path in FOLDER.glob("*/*")}
    assert (package / "py.typed").is_file()


IN_PYTHON = {
    *("IpcArrayHandle", "describe", "is_available", "set_compute_engine", "set_tracing"),
    *("memory_report", "record_allocations", "show_config", "tracing"),
}


def test_pyarrow_cuda_has_the_same_names():
    tree = ast.parse((FOLDER / "pyarrow" / "cuda.pyi").read_text())
    names = [alias.asname for statement in tree.body for alias in statement.names]
    assert sorted(names) == [name for name in dir(cuda) if not name.startswith("_")]
    ours = {name for name in pyarrow_cuda_compat.__all__ if name not in IN_PYTHON}
    assert {name for name in STUBS if "." not in name} == ours


PYARROW = FOLDER / "pyarrow" / "__init__.pyi"
CLASSES = {
    node.name: node
    for node in ast.walk(ast.parse(PYARROW.read_text()))
    if isinstance(node, ast.ClassDef)
}
NEWEST = [pa.Array, pa.ChunkedArray, pa.RecordBatch, pa.RecordBatchReader, pa.Table]
IS_NEWEST = hasattr(pa.Array, "from_dlpack")


def public_members(name):
    """Of a class in the stubs, and of those that it extends there."""
    stated = CLASSES.get(name)
    if stated is None:
        return set()
    own = {node.name for node in stated.body if isinstance(node, ast.FunctionDef)}
    bases = [public_members(base.id) for base in stated.bases]
    return {each for each in own.union(*bases) if not each.startswith("_")}


@pytest.mark.parametrize(
    "owner",
    [
        *(pa.Buffer, pa.Device, pa.MemoryManager, pa.MemoryPool, pa.NativeFile, pa.ResizableBuffer),
        *(pytest.param(each, marks=pytest.mark.independent) for each in NEWEST),
    ],
)
def test_a_class_of_pyarrow_has_all_its_members(owner):
    if owner in NEWEST and not IS_NEWEST:
        pytest.skip("the stubs have the members of the newest pyarrow")
    there = {name for name in dir(owner) if not name.startswith("_")}
    assert public_members(owner.__name__) == there


def test_pyarrow_ships_no_types():
    """Once it does, these stubs hide them."""
    assert not [*Path(pa.__file__).parent.rglob("*.pyi")]


def test_the_kinds_of_devices():
    body = CLASSES["DeviceAllocationType"].body
    names = [target.id for node in body for target in node.targets]
    assert names == [kind.name for kind in pa.DeviceAllocationType]
