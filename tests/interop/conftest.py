"""Numba itself, where it can be used."""

import importlib

import pytest

from pyarrow_cuda_compat.conformance import replay
from support.libraries.numba_itself import PACKAGE, REQUIRED


@pytest.fixture(scope="module")
def numba_cuda():
    lacking = None if REQUIRED else replay.lacking(f"# needs: {PACKAGE}")
    if lacking:
        pytest.skip(lacking)
    return importlib.import_module(PACKAGE)


@pytest.fixture
def numba_driver(numba_cuda):
    """The module with Numba's classes."""
    return importlib.import_module(type(numba_cuda.current_context()).__module__)


@pytest.fixture(scope="module")
def increment(numba_cuda):
    lacking = None if REQUIRED else replay.lacking("# needs: numba kernels")
    if lacking:
        pytest.skip(lacking)

    @numba_cuda.jit
    def increment(values):
        place = numba_cuda.grid(1)
        if place < values.size:
            values[place] += 1

    return increment
