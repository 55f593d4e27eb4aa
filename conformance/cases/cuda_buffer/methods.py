# Every member in the reference exists, with a description.
# shows: cuda_buffer, class
#   CudaBuffer: all methods and attributes of the reference exist, each with its docstring
import inspect

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


def beginning(thing):
    """The first line of a description."""
    return inspect.getdoc(thing).splitlines()[0]


beginning(cuda.CudaBuffer)
for name in METHODS:
    print(f"{name}: {beginning(getattr(cuda.CudaBuffer, name))}")

# Some attributes are those of all Arrow buffers.
beginning(cuda.CudaBuffer.context)
[
    name
    for name in ("address", "is_cpu", "is_mutable", "size")
    if not getattr(pa.Buffer, name).__doc__
]

# Static ones need no buffer; and what Arrow's buffers have, this one has.
cuda.CudaBuffer.from_buffer(buf).to_pybytes()
buf.from_buffer(buf).to_pybytes()
[name for name in dir(pa.Buffer) if not hasattr(buf, name)]
