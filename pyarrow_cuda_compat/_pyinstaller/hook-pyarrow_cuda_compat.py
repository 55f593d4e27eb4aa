"""Files that PyInstaller cannot see: modules that are imported by name, and libraries.

The examples stay out: they are replayed by a separate Python, which a frozen program does not have.
"""

from PyInstaller import isolated  # type: ignore[import-untyped,unused-ignore]
from PyInstaller.utils.hooks import (  # type: ignore[import-untyped,unused-ignore]
    collect_submodules,
    copy_metadata,
)

PACKAGE = "pyarrow_cuda_compat"
UNUSED = ("__main__", "_pyinstaller", "_start.build_bridge", "conformance")


def libraries() -> list[str]:
    """The bridge for the installed pyarrow, and the simulator; runs in a process of its own."""
    from pathlib import Path

    from pyarrow_cuda_compat._load import BRIDGE

    return [BRIDGE, str(Path(BRIDGE).with_name("libcuda_sim.so"))]


def is_used(module: str) -> bool:
    inner = module.partition(".")[2]
    return not any(inner == name or inner.startswith(f"{name}.") for name in UNUSED)


binaries = [(path, f"{PACKAGE}/lib") for path in isolated.call(libraries)]
datas = copy_metadata("pyarrow-cuda-compat")
# Of packages whose libraries are not installed, nothing can be used.
hiddenimports = collect_submodules(PACKAGE, filter=is_used, on_error="ignore")
# The extension's.
hiddenimports += ["atexit", "builtins", "io", "math", "operator", "weakref"]
hiddenimports += ["numpy", "numpy.lib.format", "pyarrow.ipc", "pyarrow.lib"]
# The other side of what the package exchanges with other libraries.  A program that uses one
# imports it, and so has it.
excludedimports = [
    "cupy",
    "dask",
    "dask_cuda",
    "distributed",
    "kvikio",
    "numba",
    "numba_cuda",
    "numba_cuda_mlir",
    "nvtx",
    "rmm",
]
