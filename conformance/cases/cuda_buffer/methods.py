# What the reference lists is there, with a description.
import pyarrow as pa
from pyarrow import cuda

METHODS = (
    "copy_from_device",
    "copy_from_host",
    "copy_to_host",
    "equals",
    "export_for_ipc",
    "from_buffer",
    "from_numba",
    "hex",
    "slice",
    "to_numba",
    "to_pybytes",
)
ATTRIBUTES = ("address", "context", "is_cpu", "is_mutable", "parent", "size")
[name for name in METHODS if not callable(getattr(cuda.CudaBuffer, name, None))]
buf = cuda.Context(0).buffer_from_data(b"0123456789")
[name for name in ATTRIBUTES if not hasattr(buf, name) or callable(getattr(buf, name))]
[name for name in METHODS if not getattr(cuda.CudaBuffer, name).__doc__]
[name for name in ATTRIBUTES[:4] if not getattr(cuda.CudaBuffer, name).__doc__]
bool(cuda.CudaBuffer.__doc__)

# Static ones need no buffer; and what Arrow's buffers have, this one has.
cuda.CudaBuffer.from_buffer(buf).to_pybytes()
buf.from_buffer(buf).to_pybytes()
[name for name in dir(pa.Buffer) if not hasattr(buf, name)]
