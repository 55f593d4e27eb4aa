"""Device memory as frames that stay on the device: Dask's serializers of the family ``cuda``.

UCX takes frames with the CUDA array interface, and receives them into memory that RMM or Numba
allocates.  Other transports do not ask for this family.
"""

from typing import Any

import pyarrow as pa
from distributed.protocol.cuda import cuda_deserialize, cuda_serialize

from .. import _native
from .._data import lies_on_host
from ._pickler import PartsPickler, PartsUnpickler


def _serialize(value: Any) -> tuple[dict[str, Any], list[Any]]:
    pickler = PartsPickler()
    if not (isinstance(value, pa.RecordBatch | pa.Table) and lies_on_host(value)):
        pickler.dump(value)
    if not pickler.parts:
        # It has no device memory; `distributed` goes on to the next family.
        raise NotImplementedError
    frames = pickler.frames()
    return pickler.header(frames), frames


def _deserialize(header: dict[str, Any], frames: list[Any]) -> Any:
    return PartsUnpickler(header, frames).load()


def register() -> None:
    """Once is enough."""
    for kind in (_native.CudaBuffer, _native.DeviceArray, pa.RecordBatch, pa.Table):
        cuda_serialize.register(kind, _serialize)
        cuda_deserialize.register(kind, _deserialize)
