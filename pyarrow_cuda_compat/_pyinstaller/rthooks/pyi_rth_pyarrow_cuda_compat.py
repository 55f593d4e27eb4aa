"""What the .pth and .start files do elsewhere, when a frozen program starts."""

import _pyarrow_cuda_compat_hook  # type: ignore[import-untyped,unused-ignore]

_pyarrow_cuda_compat_hook.install()
