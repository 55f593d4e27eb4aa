"""The public names: those of the original."""

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat.conformance.examples import documented

DOCUMENTED = documented("pyarrow_cuda_compat.pygpu")


def test_the_names_are_those_of_the_original():
    kinds = ("DeviceArray", "DeviceAllocator", "HostAllocator", "PagelockedAllocator")
    for kind in (*kinds, "pointer_wrapper"):
        for dtype in gpuarray.SUPPORTED_DTYPES:
            assert f"{kind}_{dtype}" in DOCUMENTED
    assert set(gpuarray.gpuarray.__all__) <= set(gpuarray.__all__)
    assert set(gpuarray.backend.__all__) <= set(gpuarray.__all__)
    assert len(set(gpuarray.__all__)) == len(gpuarray.__all__)
    assert (gpuarray.major_version, gpuarray.minor_version, gpuarray.release_version) == (0, 2, 1)
    assert gpuarray.cuda_enabled
    assert not gpuarray.use_hip
