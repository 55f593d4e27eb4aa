"""A pyarrow that was built with CUDA."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ..space import Host
from .arrow import ArrowLike
from .base import Call, Missing, imported


class Upstream(ArrowLike):
    title = "pyarrow"

    def __init__(self) -> None:
        cuda = imported("pyarrow.cuda")
        # Where pyarrow has none of its own, this package gives its names to it.
        if cuda.Context is imported("pyarrow_cuda_compat").Context:
            raise Missing("this pyarrow was built without CUDA")
        super().__init__(cuda)

    def versions(self) -> dict[str, str]:
        return {"pyarrow": pa.__version__}

    def equal_host(self, device: Any, host: Host) -> Call:
        wanted = pa.py_buffer(host.array)
        return lambda: device.copy_to_host().equals(wanted)
