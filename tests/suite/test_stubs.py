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
    *("show_config", "tracing"),
}


def test_pyarrow_cuda_has_the_same_names():
    tree = ast.parse((FOLDER / "pyarrow" / "cuda.pyi").read_text())
    names = [alias.asname for statement in tree.body for alias in statement.names]
    assert sorted(names) == [name for name in dir(cuda) if not name.startswith("_")]
    ours = {name for name in pyarrow_cuda_compat.__all__ if name not in IN_PYTHON}
    assert {name for name in STUBS if "." not in name} == ours


@pytest.mark.parametrize(
    "owner",
    [pa.Buffer, pa.Device, pa.MemoryManager, pa.MemoryPool, pa.NativeFile, pa.ResizableBuffer],
)
def test_a_class_of_pyarrow_has_all_its_members(owner):
    tree = ast.parse((FOLDER / "pyarrow" / "lib.pyi").read_text())
    (stated,) = (node for node in tree.body if getattr(node, "name", "") == owner.__name__)
    names = {node.name for node in stated.body if isinstance(node, ast.FunctionDef)}
    assert {name for name in names if not name.startswith("_")} == {
        name for name in {*dir(owner)} - {*dir(owner.__base__)} if not name.startswith("_")
    }


def test_the_kinds_of_devices():
    tree = ast.parse((FOLDER / "pyarrow" / "lib.pyi").read_text())
    (stated,) = (node for node in tree.body if getattr(node, "name", "") == "DeviceAllocationType")
    names = [target.id for node in stated.body for target in node.targets]
    assert names == [kind.name for kind in pa.DeviceAllocationType]
