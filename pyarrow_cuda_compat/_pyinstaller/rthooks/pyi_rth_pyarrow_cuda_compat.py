"""Does at the start of a frozen program what the .pth and .start files do elsewhere."""

import _pyarrow_cuda_compat_hook  # type: ignore[import-untyped,unused-ignore]

_pyarrow_cuda_compat_hook.install()
