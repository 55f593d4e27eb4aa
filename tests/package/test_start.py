"""How Python finds the finder when it starts, and what works where it does not."""

import json
import os
import pkgutil
import re
import site
import sys
from pathlib import Path

import _pyarrow_cuda_compat_hook as hook
import pytest

SITE = Path(hook.__file__).parent
PTH, START = (SITE / f"pyarrow_cuda_compat.{suffix}" for suffix in ("pth", "start"))
#: What PEP 829 calls an entry point: a module, and in it something to be called.
ENTRY_POINT = re.compile(r"(\w+(?:\.\w+)*):(\w+(?:\.\w+)*)")
#: The one form of import lines that the PEP asks for beside a `.start` file.
IMPORT = re.compile(r"import (\S+); (\S+)\.(\w+)\(\)")

STATE = """
import sys
print([getattr(finder, "__name__", "") for finder in sys.meta_path].count("Finder"))
print([path for path in sys.path if "pyarrow_cuda_compat" in path])
print({"pyarrow", "pyarrow_cuda_compat"} & {*sys.modules})
from pyarrow import cuda
print(cuda.Context(0).device_number)
"""
#: As the PEP says, site adds the paths first, then calls the functions of the `.start` file.
AS_PYTHON_3_15 = """
import json, pkgutil, sys
path, folders, names = json.loads(sys.argv[1])
sys.path = path
sys.path += folders
for name in names:
    pkgutil.resolve_name(name)()
"""


@pytest.fixture
def python(interpreter):
    def python(*arguments, **env):
        """What a fresh interpreter prints."""
        done = interpreter(*arguments, **env)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return python


def meant(path):
    """The lines of a file of either kind that mean something."""
    lines = map(str.strip, path.read_text("utf-8-sig").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def is_import(line):
    return line.startswith(("import ", "import\t"))


def test_the_start_file_is_what_the_pep_says():
    assert START.stem == PTH.stem  # so that Python 3.15 ignores the other one's import lines
    for line in meant(START):
        assert ENTRY_POINT.fullmatch(line), line
        assert callable(pkgutil.resolve_name(line))


def test_both_files_call_the_same():
    """Else it would depend on the version of Python what happens when it starts."""
    called = []
    for line in filter(is_import, meant(PTH)):
        imported, module, function = IMPORT.fullmatch(line).groups()
        assert imported == module
        called.append(f"{module}:{function}")
    assert called == meant(START)


def test_the_start_file_leads_to_the_same_state(python):
    folders = [str(SITE / line) for line in meant(PTH) if not is_import(line)]
    assert all(map(os.path.isdir, folders))
    path = [path for path in sys.path if path not in folders]
    expected = python("-c", STATE)
    assert expected.startswith("1\n[")
    argument = json.dumps([path, folders, meant(START)])
    assert python("-S", "-c", AS_PYTHON_3_15 + STATE, argument) == expected


@pytest.mark.skipif(
    str(SITE) not in site.getsitepackages(), reason="the package is in a folder of PYTHONPATH"
)
def test_an_isolated_python_has_it(python):
    code = "from pyarrow import cuda; print(cuda.Context(0).device_number)"
    assert python("-I", "-c", code) == "0\n"


def test_without_site_the_package_comes_first(python):
    """As where `pip install --target` has put it: Python reads no file beside it, then."""
    code = """
try: from pyarrow import cuda
except ImportError as error: print(error)
import pyarrow_cuda_compat
from pyarrow import cuda
print(cuda.Context is pyarrow_cuda_compat.Context)
"""
    found = python("-S", "-c", code, PYTHONPATH=str(SITE))
    assert found == "No module named 'pyarrow._cuda'\nTrue\n"


def test_a_folder_that_site_is_told_of_has_it(python):
    code = f"""
import site
site.addsitedir({str(SITE)!r})
from pyarrow import cuda
print(cuda.Context(0).device_number)
"""
    assert python("-S", "-c", code) == "0\n"
