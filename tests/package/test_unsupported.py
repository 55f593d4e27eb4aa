"""Where the extension does not load: one line says what is supported and what to do."""

import json
import re
import shutil
import sys
from pathlib import Path

import pyarrow
import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat._start import bridges

PACKAGE = Path(pyarrow_cuda_compat.__file__).parent
(EXTENSION,) = PACKAGE.glob("_native*.so")
TRY = """
import sys
sys.{attribute} = {value!r}
try: import pyarrow_cuda_compat
except ImportError as error: print(error, type(error.__cause__).__name__, sep="\\n")
"""
#: In an ELF file: where the class is, and where the machine.
CLASS, MACHINE = 4, 18


@pytest.fixture
def folder(tmp_path):
    """A folder with the package, but for the extension."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=ignored)
    return tmp_path / PACKAGE.name


@pytest.fixture
def refused(folder, run_python):
    """What the import says: the text, and the type of its cause."""

    def refused(attribute="nothing", value=None):
        code = TRY.format(attribute=attribute, value=value)
        status, out, error = run_python(code, PYTHONPATH=str(folder.parent))
        assert (status, error) == (0, "")
        return out.splitlines()

    return refused


def hash_of(name):
    """ELF's hash of a version."""
    total = 0
    for byte in name:
        total = (total << 4) + byte
        total = (total ^ (total & 0xF0000000) >> 24) & 0x0FFFFFFF
    return total.to_bytes(4, "little")


def test_an_older_glibc(folder, refused):
    old, new = re.search(rb"GLIBC_2\.\d\d(?=\0)", EXTENSION.read_bytes())[0], b"GLIBC_2.99"
    content = EXTENSION.read_bytes().replace(old + b"\0", new + b"\0")
    (folder / EXTENSION.name).write_bytes(content.replace(hash_of(old), hash_of(new)))
    text, cause = refused()
    assert text.startswith("this pyarrow_cuda_compat needs glibc 2.99 or later, but this system")
    assert re.search(r"glibc \d\.\d+; use a later system, or build the package", text)
    assert cause == "ImportError"


@pytest.fixture
def install(folder):
    """Installs the extension, with some of its bytes changed."""

    def install(changes):
        content = bytearray(EXTENSION.read_bytes())
        for place, byte in changes.items():
            content[place] = byte
        (folder / EXTENSION.name).write_bytes(content)

    return install


HERE = EXTENSION.read_bytes()[MACHINE]
OTHERS = {
    "aarch64" if HERE == 62 else "x86-64": {MACHINE: 183 if HERE == 62 else 62},
    "machine 99 of ELF": {MACHINE: 99},
    # To a Python of 32 bits, all of the extension looks as one of another class does here.
    "32-bit x86": {CLASS: 1, MACHINE: 3},
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_machine(install, refused, name):
    install(OTHERS[name])
    text, cause = refused()
    assert text.startswith(f"this pyarrow_cuda_compat is for Linux on {name}, but this Python is")
    assert text.endswith(f"; install it again with `{sys.executable} -m pip`")
    assert cause == "ImportError"


@pytest.mark.parametrize("executable", [None, "", "/dev/null"])
def test_a_program_that_is_no_python(folder, install, refused, executable):
    """Nobody knows then what it is for, and so the error stays."""
    install(OTHERS["machine 99 of ELF"])
    text, cause = refused(attribute="executable", value=executable)
    assert text.startswith(f"{folder / EXTENSION.name}: cannot open shared object file")
    assert cause == "NoneType"


def test_an_older_python(refused):
    text, cause = refused(attribute="version_info", value=(3, 10, 13, "final", 0))
    assert text == (
        "pyarrow_cuda_compat supports Python 3.11 and later, but this is Python 3.10.13; "
        "install it into an environment of a later Python"
    )
    assert cause == "NoneType"


def test_a_python_without_the_gil(folder, refused):
    """It does not look for extensions by the name that ours has."""
    shutil.copyfile(EXTENSION, folder / "_native.cpython-399-none.so")
    text, cause = refused(attribute="abiflags", value="t")
    assert text.startswith("pyarrow_cuda_compat supports Python with the GIL, but this is")
    assert cause == "ModuleNotFoundError"


def test_an_archive(folder, run_python):
    shutil.copyfile(EXTENSION, folder / EXTENSION.name)
    archive = shutil.make_archive(str(folder.parent / "packed"), "zip", folder.parent, folder.name)
    code = TRY.format(attribute="nothing", value=None)
    status, out, error = run_python(code, PYTHONPATH=archive)
    assert (status, error) == (0, "")
    assert out.startswith(f"pyarrow_cuda_compat is in an archive, {archive}/pyarrow_cuda_compat, ")
    assert "from folders only; install it into a folder" in out


def test_another_failure_stays_as_it_is(folder, refused):
    (folder / EXTENSION.name).write_bytes(bytes(1000))
    text, cause = refused()
    assert text.endswith(": invalid ELF header")
    assert cause == "NoneType"


def test_info_says_what_is_missing_or_damaged(folder, command):
    def facts():
        done = command("info", "--json", PYTHONPATH=str(folder.parent))
        assert (done.returncode, done.stderr) == (1, "")
        return json.loads(done.stdout)

    for part in ("pyarrow", "driver"):
        assert "has no compiled extension" in facts()[part]["error"]
    shutil.copyfile(EXTENSION, folder / EXTENSION.name)
    bridge = Path(bridges.path_for(pyarrow)).name
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib" / bridge).write_bytes(b"")
    error = facts()["pyarrow"]["error"]
    assert f"{bridge}' could not be loaded" in error
    assert "reinstall pyarrow-cuda-compat" in error
