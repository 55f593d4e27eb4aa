"""Data beyond 2^31 bytes and rows, which CuPy makes on the device."""

import gc

import pytest

from pyarrow_cuda_compat import empty_cache, set_compute_engine


@pytest.fixture(scope="session")
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture(autouse=True)
def memory(cupy):
    """Given back after each test, so that the next one finds all of the device's."""
    cupy.cuda.Device().use()  # kernels in memory of its pool need a current context
    yield
    gc.collect()
    cupy.get_default_memory_pool().free_all_blocks()
    empty_cache()


@pytest.fixture(scope="session")
def libcudf():
    """Computes, as it does for users; not in the other tests."""
    pytest.importorskip("pylibcudf")
    set_compute_engine("cudf")
    yield
    set_compute_engine(None)
