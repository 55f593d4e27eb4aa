"""Programs written for other libraries run with one line changed, beside the originals."""

import importlib.util
import shutil
import subprocess
import types
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
MEMORY = "from pyarrow_cuda_compat import memory as cuda"
PYGPU = "import pyarrow_cuda_compat.pygpu as gpuarray"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Makes a library of a program's C++, for the host by g++ or for a device by nvcc."""
    compilers = {"g++": ["-x", "c++", "-shared", "-fPIC"], "nvcc": ["-shared", "-Xcompiler=-fPIC"]}

    def make(name, compiler):
        found = shutil.which(compiler) or shutil.which(compiler, path="/usr/local/cuda/bin")
        if not found:
            pytest.skip(f"needs {compiler}")
        library = tmp_path_factory.mktemp(compiler) / f"{name}.so"
        command = [found, *compilers[compiler], "-O1", "-o", library, HERE / f"{name}.cu"]
        subprocess.run(command, check=True)
        return library

    return make


def program(name, ours, line):
    """A program with its import of this package replaced."""
    package = line.split()[1]
    if importlib.util.find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"needs {package}")
    source = (HERE / f"{name}.py").read_text()
    assert source.count(ours) == 1
    module = types.ModuleType(name)
    exec(compile(source.replace(ours, line), name, "exec"), vars(module))
    return module


@pytest.mark.hardware
@pytest.mark.filterwarnings("ignore::Warning")  # Numba warns of small grids, among others
@pytest.mark.parametrize("line", [MEMORY, "from numba import cuda"])
def test_a_stencil_written_for_numba(line):
    pytest.importorskip("numba.cuda")
    heat = program("heat", MEMORY, line)
    before, after, middle, corner = heat.spread()
    expected = heat.on_the_host(before, 50, 0.2)
    np.testing.assert_allclose(after, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(middle, after[:, after.shape[1] // 2])
    assert corner == 100


@pytest.mark.hardware
@pytest.mark.parametrize("line", [PYGPU, "import pycuda.gpuarray as gpuarray"])
def test_a_reduction_written_for_pycuda(compiled, line):
    reduction = program("reduction", PYGPU, line)
    numbers = np.random.default_rng(7).standard_normal(100_000)
    total = reduction.total(reduction.load(compiled("reduction", "nvcc")), numbers)
    np.testing.assert_allclose(total, numbers.sum(), rtol=1e-9)


def check_transform(result, signal):
    expected = np.fft.fft(signal)
    assert result.dtype == np.complex64
    assert np.abs(result - expected).max() < 1e-5 * np.abs(expected).max()


def signal_of(size):
    numbers = np.random.default_rng(7).standard_normal((2, size), dtype=np.float32)
    return numbers[0] + 1j * numbers[1]


@pytest.mark.hardware
@pytest.mark.parametrize("line", [PYGPU, "import PybindGPU as gpuarray"])
def test_a_transform_written_for_pygpu(compiled, line):
    transform = program("transform", PYGPU, line)
    stage, signal = transform.load(compiled("transform", "nvcc")), signal_of(1 << 16)
    result, milliseconds = transform.transform(stage, signal)
    check_transform(result, signal)
    assert milliseconds > 0


def test_a_transform_on_the_host(compiled):
    """In page-locked memory, where a function for the host reaches the device's side, too."""
    transform = program("transform", PYGPU, PYGPU)
    stage, signal = transform.load(compiled("transform", "g++")), signal_of(1 << 10)
    result, _ = transform.transform(stage, signal, transform.page_locked)
    check_transform(result, signal)
