"""``python -m pyarrow_cuda_compat info``: the facts, and the text without a driver or a device."""

import json
import platform
import subprocess
import sys
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

import pyarrow as pa
import pytest

import pyarrow_cuda_compat.__main__
from pyarrow_cuda_compat import show_config
from pyarrow_cuda_compat._start import bridges
from pyarrow_cuda_compat._tools import info


@pytest.fixture(scope="module")
def run(command):
    return partial(command, "info")


@pytest.fixture
def fails(run):
    """What it prints where the package cannot be used."""

    def fails(**env):
        done = run(**env)
        assert (done.returncode, done.stderr) == (1, "")
        return done.stdout

    return fails


def test_the_facts(contexts, is_simulator, run):
    done = run("--json")
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["version"] == pyarrow_cuda_compat.__version__
    assert facts["python"] == platform.python_version()
    assert facts["pyarrow"]["version"] == pa.__version__
    assert facts["pyarrow"]["hook"] is True
    assert facts["pyarrow"]["pyarrow.cuda"] == "this package's"
    assert facts["pyarrow"]["bridge"] == Path(bridges.path_for(pa)).name
    assert facts["driver"]["simulated"] == is_simulator
    assert "CUDA " in facts["driver"]["version"]
    assert Path(facts["driver"]["path"]).name.startswith("libcuda")
    assert len(facts["devices"]) == len(contexts)
    for number, (device, context) in enumerate(zip(facts["devices"], contexts, strict=True)):
        assert device["number"] == number
        assert device["name"] in repr(context.device)
        assert 0 < device["free_memory"] <= device["total_memory"]
        assert float(device["compute_capability"]) >= 3.5


def test_the_text_says_the_same(run):
    done = run()
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(run("--json").stdout)
    for fact in (
        *(facts["version"], facts["driver"]["path"], *facts["packages"]),
        *(facts["pyarrow"][name] for name in ("version", "bridge")),
        *(device[name] for device in facts["devices"] for name in ("name", "compute_capability")),
    ):
        assert fact in done.stdout
    assert "None" not in done.stdout
    assert not any(line != line.rstrip() for line in done.stdout.splitlines())


def test_nothing_else_is_imported(run_python):
    code = """if True:
        import sys
        from pyarrow_cuda_compat._tools import info
        facts = info.collect()
        found = {"numba", "cupy", "torch", "jax", "cudf", "pandas"} & set(sys.modules)
        assert not found, found
        assert facts["packages"]["numpy"]
    """
    assert run_python(code) == (0, "", "")


def test_variables_of_the_environment(run):
    facts = json.loads(run("--json", CUDA_VISIBLE_DEVICES_X="0", PYARROW_CUDA_ANY="1").stdout)
    assert facts["environment"]["PYARROW_CUDA_ANY"] == "1"
    assert "HOME" not in facts["environment"]
    assert "PYARROW_CUDA_ANY " in run(PYARROW_CUDA_ANY="1").stdout


def test_the_hook_is_off(run):
    facts = json.loads(run("--json", PYARROW_CUDA_HOOK="0").stdout)
    assert facts["pyarrow"]["hook"] is False
    assert facts["pyarrow"]["pyarrow.cuda"] == "none"


def test_python_did_not_read_the_file_that_installs_the_hook(interpreter):
    """As in a folder of ``pip install --target``; importing the package is no start of Python."""
    done = interpreter(
        *("-S", "-m", "pyarrow_cuda_compat", "info", "--json"),
        PYTHONPATH=str(Path(pa.__file__).parents[1]),
    )
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)["pyarrow"]
    assert facts["hook"] is False
    assert facts["pyarrow.cuda"] == "this package's, once pyarrow_cuda_compat is imported"


def test_no_driver(run, fails):
    said = fails(PYARROW_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert "/nowhere/libcuda.so.1" in said
    assert "PYARROW_CUDA_DRIVER=sim" in said
    assert json.loads(run("--json", PYARROW_CUDA_DRIVER="/nowhere").stdout)["devices"] == []


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("code", "advice"), [(34, "stubs"), (100, "CUDA_VISIBLE_DEVICES"), (803, "restart the machine")]
)
def test_a_driver_that_cannot_be_used(code, advice, fails):
    said = fails(CUDA_SIM_FAULT=f"cuInit:1={code}")
    assert f"Cuda error {code} in function 'cuInit'" in said
    assert advice in said


@pytest.mark.simulator
def test_a_device_without_a_context_is_listed(run):
    done = run("--json", CUDA_SIM_FAULT="cuDevicePrimaryCtxRetain:1=2", CUDA_SIM_DEVICES="2")
    first, second = json.loads(done.stdout)["devices"]
    assert "cuDevicePrimaryCtxRetain" in first["error"]
    assert "total_memory" in first
    assert "free_memory" in second
    assert done.returncode == 0


VERSIONS = f"{min(bridges.releases())[0]} to {max(bridges.releases())[0]}"


@pytest.mark.parametrize(("major", "buildable"), [(20, False), (99, True)])
def test_another_pyarrow(tmp_path, run_python, major, buildable, fails):
    (tmp_path / "pyarrow").mkdir()
    (tmp_path / "pyarrow" / "__init__.py").write_text(
        f"class cpp_version_info: major, minor = {major}, 0\n__version__ = '{major}.0.0'\n"
    )
    environment = {"PYTHONPATH": str(tmp_path)}
    _, _, stderr = run_python("import pyarrow_cuda_compat", **environment)
    for text in (fails(**environment), stderr.splitlines()[-1]):
        assert f"supports pyarrow {VERSIONS}, but pyarrow {major}.0.0 is installed" in text
        assert ("build-bridge" in text) == buildable


def test_no_pyarrow(tmp_path, fails):
    (tmp_path / "pyarrow.py").write_text("raise ModuleNotFoundError('no pyarrow here')\n")
    said = fails(PYTHONPATH=str(tmp_path))
    assert "no pyarrow here" in said
    assert f"install pyarrow {VERSIONS}" in said


@pytest.mark.parametrize("name", ["pyarrow/__init__.py", "pyarrow.py"])
def test_what_is_not_pyarrow(tmp_path, run_python, name, fails):
    """What an interrupted uninstallation leaves, or a program of that name."""
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).touch()
    place = tmp_path / name.removesuffix("/__init__.py")
    said = f"{place} is not pyarrow, or not all of it: reinstall pyarrow"
    assert said in fails(PYTHONPATH=str(tmp_path))
    _, _, stderr = run_python("import pyarrow_cuda_compat", PYTHONPATH=str(tmp_path))
    assert stderr.splitlines()[-1] == f"ImportError: {said}"


def test_usable():
    good, broken = {"number": 1}, {"number": 0, "error": "broken"}
    assert not info.usable({"devices": [], "pyarrow": {}})
    assert not info.usable({"devices": [broken], "pyarrow": {}})
    assert not info.usable({"devices": [good], "pyarrow": {"error": "too old"}})
    assert info.usable({"devices": [broken, good], "pyarrow": {}})


def test_a_pipe_that_is_closed(run):
    command = f"{sys.executable} -m pyarrow_cuda_compat info | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_show_config_prints_the_same_without_what_needs_a_context(capsys):
    facts = show_config(mode="dicts")
    assert show_config() is None
    assert capsys.readouterr().out == info.render(facts) + "\n"
    assert facts == info.collect(free_memory=False)
    assert all("free_memory" not in device for device in facts["devices"])
    assert json.loads(json.dumps(facts)) == facts


def test_show_config_makes_no_context(run_python):
    code = """if True:
        import ctypes
        from pyarrow_cuda_compat import show_config
        from support.driver import the_driver
        show_config()
        active, flags = ctypes.c_int(), ctypes.c_uint()
        for number in range(len(show_config("dicts")["devices"])):
            the_driver().call(
                "cuDevicePrimaryCtxGetState", number, ctypes.byref(flags), ctypes.byref(active)
            )
            assert not active.value
    """
    assert run_python(code)[::2] == (0, "")


def test_the_short_form(contexts, run, is_simulator):
    done = run("--short")
    assert (done.returncode, done.stderr) == (0, "")
    first, *devices = done.stdout.splitlines()
    assert first.startswith(f"pyarrow-cuda-compat {pyarrow_cuda_compat.__version__}, pyarrow ")
    assert first.endswith(" (simulated)") == is_simulator
    assert len(devices) == len(contexts)
    for number, (line, context) in enumerate(zip(devices, contexts, strict=True)):
        name, _, memory = line.removeprefix(f"device {number}: ").rpartition(", ")
        assert name in repr(context.device)
        assert memory.endswith(" GiB free")


def test_the_short_form_without_a_driver(run):
    done = run("--short", PYARROW_CUDA_DRIVER="/nowhere/libcuda.so")
    assert (done.returncode, done.stderr) == (1, "")
    first, problem = done.stdout.splitlines()
    assert first.endswith(", no driver")
    assert problem.startswith("error: ")


def test_the_version(command):
    done = command("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"pyarrow-cuda-compat {pyarrow_cuda_compat.__version__}\n"


def test_no_command_lists_the_commands(command):
    done = command()
    assert (done.returncode, done.stdout) == (2, "")
    assert "print the driver, the devices and the installed versions" in done.stderr


def test_the_console_script(contexts):
    script = entry_points(group="console_scripts")["pyarrow-cuda"]
    assert script.load() is pyarrow_cuda_compat.__main__.main


def test_a_console_script_reports_what_is_wrong(run_python):
    code = """if True:
        import sys
        sys.argv, sys.modules["pyarrow"] = ["/bin/pyarrow-cuda", "info", "--short"], None
        from pyarrow_cuda_compat.__main__ import main
        print(main())
    """
    status, out, err = run_python(code)
    assert (status, err) == (0, "")
    assert "error: " in out
    assert out.endswith("\n1\n")


def test_is_available(run_python):
    assert pyarrow_cuda_compat.is_available() is True
    code = "import pyarrow_cuda_compat; print(pyarrow_cuda_compat.is_available())"
    assert run_python(code, PYARROW_CUDA_DRIVER="/nowhere/libcuda.so") == (0, "False\n", "")


def test_is_available_makes_no_context(run_python):
    code = """if True:
        import ctypes
        import pyarrow_cuda_compat
        from support.driver import the_driver
        assert pyarrow_cuda_compat.is_available()
        active, flags = ctypes.c_int(), ctypes.c_uint()
        the_driver().call(
            "cuDevicePrimaryCtxGetState", 0, ctypes.byref(flags), ctypes.byref(active)
        )
        assert not active.value
    """
    assert run_python(code) == (0, "", "")
