# Every member in the reference exists, with a description; the parameters and their defaults.
# shows: cuda_buffer, class
#   CudaBuffer: all methods and attributes of the reference exist, each with its docstring
# shows: cuda_buffer, copy_from_device
#   CudaBuffer.copy_from_device: default 0
# shows: cuda_buffer, copy_from_host
#   CudaBuffer.copy_from_host: default 0
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host: default 0
# shows: cuda_buffer, slice
#   CudaBuffer.slice: default 0
import inspect

import pyarrow as pa
from pyarrow import cuda

# Every member in the reference exists, with a description.
METHODS = ["copy_from_device", "copy_from_host", "copy_to_host", "equals", "export_for_ipc"]
METHODS += ["from_buffer", "from_numba", "hex", "slice", "to_numba", "to_pybytes"]
ATTRIBUTES = ["address", "context", "is_cpu", "is_mutable", "parent", "size"]
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
[name for name in ATTRIBUTES if name != "parent" and not getattr(cuda.CudaBuffer, name).__doc__]
# Static ones need no buffer; and what Arrow's buffers have, this one has.
cuda.CudaBuffer.from_buffer(buf).to_pybytes(), buf.from_buffer(buf).to_pybytes()
[name for name in dir(pa.Buffer) if not hasattr(buf, name)]


# The parameters of the methods, and their defaults.
def parameters(method):
    found = inspect.signature(method).parameters.values()
    return [
        name if default is inspect._empty else (name, default)
        for name, default in ((each.name, each.default) for each in found)
    ]


METHODS = [name for name in vars(cuda.CudaBuffer) if name[0] != "_" and name != "context"]
for name in sorted(METHODS):
    print(name, parameters(getattr(cuda.CudaBuffer, name)))
# Parameters that upstream lacks are keyword-only.
for name in ("copy_from_device", "copy_from_host", "copy_to_host", "fill"):
    found = inspect.signature(getattr(cuda.CudaBuffer, name)).parameters.values()
    print([each.name for each in found if each.kind is each.KEYWORD_ONLY])
# Too many, unknown, missing.
buf = cuda.Context(0).buffer_from_data(b"0123456789")
buf.copy_from_host(b"ab", 8, 1), buf.copy_to_host(8, 1, None, None, False).to_pybytes()
buf.slice(8, 1).to_pybytes()
for call in (
    lambda: buf.to_pybytes(1),
    lambda: buf.slice(1, 2, 3),
    lambda: buf.slice(start=1),
    lambda: buf.copy_from_host(),
    lambda: buf.copy_from_device(buf, size=3),
    lambda: buf.equals(),
):
    try:
        call()
    except TypeError:
        print("refused", end=" ")
