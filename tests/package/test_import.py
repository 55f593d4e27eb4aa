"""How the package comes in: by its own name, as pyarrow.cuda, or not at all."""

import shutil
from pathlib import Path

import pytest

import pyarrow_cuda_compat

#: Loads the extension without its package, which would load the right bridge at once.
START = """
import importlib.util
import sys
import types
package = types.ModuleType("pyarrow_cuda_compat")
package.__path__ = importlib.util.find_spec("pyarrow_cuda_compat").submodule_search_locations
sys.modules["pyarrow_cuda_compat"] = package
from pyarrow_cuda_compat import _native
for path in ("/nowhere/bridge.so", sys.argv[1], package.__path__[0] + "/lib/libcuda_sim.so"):
    try: _native._start(path)
    except ImportError as error: print(error)
"""


def test_a_bridge_that_cannot_be_loaded(run_python):
    code, out, err = run_python(START, __file__)
    assert (code, err) == (0, "")
    missing, not_a_library, without_entry = out.splitlines()
    assert "/nowhere/bridge.so: cannot open shared object file: No such file" in missing
    assert f"{__file__}: invalid ELF header" in not_a_library
    assert "libcuda_sim.so: undefined symbol: arrow_cuda_bridge" in without_entry
    for line in (missing, not_a_library, without_entry):
        assert "; reinstall pyarrow-cuda-compat, and pyarrow from PyPI" in line


IMPORT = "from pyarrow import cuda; print(cuda.__name__)"
ATTEMPT = "try: {}\nexcept ImportError as error: print(error)\n"


def test_a_checkout_hides_the_installed_package_only_from_a_python_that_looks_there(
    tmp_path, interpreter
):
    # A checkout has the package without its compiled parts.
    source = shutil.copytree(
        Path(pyarrow_cuda_compat.__file__).parent,
        tmp_path / "pyarrow_cuda_compat",
        ignore=shutil.ignore_patterns("*.so"),
    )
    done = interpreter("-P", "-c", IMPORT, cwd=tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == ("pyarrow.cuda\n", "", 0)
    done = interpreter("-c", IMPORT, cwd=tmp_path, PYTHONSAFEPATH=None)
    assert done.returncode == 1
    assert f"ImportError: pyarrow_cuda_compat in {source} has no compiled extension" in done.stderr
    assert "start Python in another folder or with -P (PYTHONSAFEPATH=1), or" in done.stderr


@pytest.mark.parametrize(
    "imports", ["import pyarrow", "from pyarrow import cuda", "import pyarrow_cuda_compat"]
)
def test_an_import_never_loads_the_driver(imports, run_python):
    code = f"""
{imports}
print([line for line in open("/proc/self/maps") if "libcuda" in line])
"""
    assert run_python(code) == (0, "[]\n", "")


def test_a_missing_driver_is_named_at_the_first_call(run_python):
    """A handle needs none."""
    code = """
import pyarrow as pa
from pyarrow import cuda
handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes(8)))
assert handle.serialize().to_pybytes() == bytes(8)
for call in (cuda.Context, cuda.Context.get_num_devices, lambda: cuda.new_host_buffer(4)):
    try: call()
    except OSError as error: print("libno.so" in str(error), "PYARROW_CUDA_DRIVER" in str(error))
"""
    found = run_python(code, PYARROW_CUDA_DRIVER="/nowhere/libno.so")
    assert found == (0, "True True\n" * 3, "")


@pytest.mark.parametrize("module", ["pyarrow", "pyarrow_cuda_compat", "pyarrow.cuda"])
def test_starting_python_imports_nothing(module, run_python):
    code = f"import sys; print({module!r} in sys.modules, 'numpy' in sys.modules)"
    assert run_python(code) == (0, "False False\n", "")


def test_pyarrow_itself_finds_it(run_python):
    """pyarrow's own device paths import pyarrow.cuda without the user's help."""
    code = """
import pyarrow as pa, pyarrow_cuda_compat as cuda
ctx = cuda.Context(0)
array = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
there = pa.Array._import_from_c_device_capsule(*array.__arrow_c_device_array__())
print(there.device_type.name, there.copy_to(pa.default_cpu_memory_manager()).to_pylist())
"""
    assert run_python(code) == (0, "CUDA [1, 2, 3]\n", "")


def test_the_hook_can_be_turned_off(run_python):
    attempt = ATTEMPT.format("from pyarrow import cuda")
    code = f"""
import sys
{attempt}
assert "pyarrow_cuda_compat" not in sys.modules
import pyarrow_cuda_compat as cuda
assert cuda.Context(0).buffer_from_data(b"abc").to_pybytes() == b"abc"
{attempt}
"""
    status, out, err = run_python(code, PYARROW_CUDA_HOOK="0")
    assert (status, err, out.count("_cuda")) == (0, "", 2)


SAME_CLASS = """
from pyarrow import cuda
import pyarrow_cuda_compat as ours
print(cuda.Context is ours.Context)
"""
REPORTED = "PYARROW_CUDA_HOOK must be 0 or 1, not 'off'; pyarrow.cuda uses pyarrow_cuda_compat\n"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"PYARROW_CUDA_HOOK": ""}, ""),
        ({"PYARROW_CUDA_HOOK": "1"}, ""),
        ({"PYARROW_CUDA_HOOK": "off"}, REPORTED),
        # An old name without a value is nothing.
        ({"PYARROW_CUDA_COMPAT_HOOK": ""}, ""),
        # Variables of others.
        ({"PYARROW_CUDA_ANY": "1", "PYARROW_OTHER": "1"}, ""),
    ],
)
def test_the_hook_is_on_by_default(run_python, variables, said):
    assert run_python(SAME_CLASS, **variables) == (0, "True\n", said)


@pytest.mark.parametrize("value", ["0", "1", "off"])
@pytest.mark.parametrize("statement", ["from pyarrow import cuda", "import pyarrow_cuda_compat"])
def test_a_variable_by_its_old_name_is_refused(run_python, statement, value):
    """What it was set for would not happen."""
    code = f"import pyarrow\n{ATTEMPT.format(statement)}"
    expected = "the environment variable PYARROW_CUDA_COMPAT_HOOK is called PYARROW_CUDA_HOOK now"
    found = run_python(code, PYARROW_CUDA_COMPAT_HOOK=value)
    assert found == (0, f"{expected}: set that one\n", "")


MISSPELT = {
    "PYARROW_CUDA_PINED_CACHE": "PYARROW_CUDA_PINNED_CACHE",
    "PYARROW_CUDA_THREADS": "PYARROW_CUDA_COPY_THREADS",
    "PYARROW_CUDA_ENGINE": "PYARROW_CUDA_COMPUTE_ENGINE",
    "PYARROW_CUDA_CACHE_LIMIT": "PYARROW_CUDA_CACHE",
}


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_variable_is_refused(run_python, name):
    text = f"there is no environment variable {name}: did you mean {MISSPELT[name]}? unset {name}, "
    found = run_python(ATTEMPT.format("from pyarrow import cuda"), **{name: "0"})
    assert found == (0, text + "or call it so\n", "")
    assert run_python(SAME_CLASS, **{name: ""}) == (0, "True\n", "")


def test_a_genuine_module_is_never_shadowed(tmp_path, run_python):
    (tmp_path / "_cuda.py").write_text("genuine = True\n")
    code = """
import sys
import pyarrow
pyarrow.__path__.append(sys.argv[1])
import pyarrow._cuda
print(pyarrow._cuda.genuine, pyarrow._cuda.__file__.startswith(sys.argv[1]))
import pyarrow_cuda_compat
print(hasattr(pyarrow._cuda, "Context"), pyarrow_cuda_compat.Context(0).device_number)
"""
    assert run_python(code, tmp_path) == (0, "True True\nFalse 0\n", "")


@pytest.mark.parametrize("times", [1, 3])
def test_importing_again_installs_one_finder(times, run_python):
    code = f"""
import sys, importlib
import _pyarrow_cuda_compat_hook as hook
for _ in range({times}):
    import pyarrow_cuda_compat
    hook.install()
from pyarrow import cuda
importlib.reload(cuda)
print(sum(finder is hook.Finder for finder in sys.meta_path), sys.meta_path[-1] is hook.Finder)
"""
    assert run_python(code) == (0, "1 True\n", "")


def test_what_the_package_imports_is_private(run_python):
    """A thread that imports one while another imports the package would see it half made."""
    code = """
import sys
import pyarrow_cuda_compat
modules = [name for name in sys.modules if name.startswith("pyarrow_cuda_compat.")]
print(len(modules) > 5, [name for name in modules if not name.startswith("pyarrow_cuda_compat._")])
"""
    assert run_python(code) == (0, "True []\n", "")


FOLLOWED = """
import sys, threading
from pathlib import Path
import pyarrow_cuda_compat
from pyarrow_cuda_compat._start import import_hooks
sys.path.insert(0, sys.argv[1])
package, follower = Path(sys.argv[1], "followed.py"), Path(sys.argv[1], "follower.py")
follower.write_text("import followed; print('follows', followed.is_complete)")
"""


def test_the_list_of_finders_stays_while_others_may_walk_along_it(run_python, tmp_path):
    code = """
package.write_text("import sys; during = list(sys.meta_path); is_complete = True")
import_hooks.follow("followed", "follower")
before = list(sys.meta_path)
import followed
print(before == followed.during == sys.meta_path)
"""
    assert run_python(FOLLOWED + code, tmp_path) == (0, "follows True\nTrue\n", "")


def test_a_package_that_another_thread_still_imports_is_waited_for(run_python, tmp_path):
    code = """
begun, may_end = threading.Event(), threading.Event()
sys.begun, sys.may_end = begun, may_end
package.write_text("import sys; sys.begun.set(); sys.may_end.wait(); is_complete = True")
thread = threading.Thread(target=__import__, args=("followed",))
thread.start()
begun.wait()
threading.Timer(0.1, may_end.set).start()
import_hooks.follow("followed", "follower")
thread.join()
"""
    assert run_python(FOLLOWED + code, tmp_path) == (0, "follows True\n", "")


#: Imported at their first use.
LAZY = {"SmartArray", "cupy", "dask", "memory", "numba", "pygpu", "rmm"}


def test_dir_lists_public_names_and_nothing_else(run_python):
    print_names = "print(*(name for name in dir(cuda) if not name.startswith('__')))"
    for imports in ("", "import pyarrow_cuda_compat.memory, pyarrow_cuda_compat.conformance"):
        code = f"{imports}\nimport pyarrow_cuda_compat as cuda\n{print_names}"
        returned, out, err = run_python(code)
        assert (returned, err) == (0, "")
        assert out.split() == sorted({*pyarrow_cuda_compat.__all__, *LAZY})


def test_what_dir_lists_is_there(run_python):
    pytest.importorskip("distributed")
    code = "import pyarrow_cuda_compat as cuda\nfor name in dir(cuda): getattr(cuda, name)"
    assert run_python(code) == (0, "", "")


def test_without_dask(run_python):
    code = """
import sys
import pyarrow_cuda_compat
sys.modules["distributed"] = None
assert not hasattr(pyarrow_cuda_compat, "dask")
try: pyarrow_cuda_compat.dask
except AttributeError as error: print(error)
try: import pyarrow_cuda_compat.dask
except ImportError as error: print(error)
"""
    advice = "this needs Dask: pip install distributed"
    attribute = f"module 'pyarrow_cuda_compat' has no attribute 'dask': {advice}"
    assert run_python(code) == (0, f"{attribute}\n{advice}\n", "")
