# The parameters of the methods, and their defaults.
import inspect

from pyarrow import cuda


def parameters(method):
    found = inspect.signature(method).parameters.values()
    return [
        name if default is inspect._empty else (name, default)
        for name, default in ((each.name, each.default) for each in found)
    ]


parameters(cuda.CudaBuffer.copy_from_device)
parameters(cuda.CudaBuffer.copy_from_host)
parameters(cuda.CudaBuffer.copy_to_host)
parameters(cuda.CudaBuffer.equals)
parameters(cuda.CudaBuffer.export_for_ipc)
parameters(cuda.CudaBuffer.from_buffer)
parameters(cuda.CudaBuffer.hex)
parameters(cuda.CudaBuffer.slice)
parameters(cuda.CudaBuffer.to_pybytes)
# What upstream does not have is passed by its name only.
copies = (
    cuda.CudaBuffer.copy_from_device,
    cuda.CudaBuffer.copy_from_host,
    cuda.CudaBuffer.copy_to_host,
)
[inspect.signature(method).parameters["stream"].kind.name for method in copies]

# Too many, unknown, missing.
buf = cuda.Context(0).buffer_from_data(b"0123456789")
buf.copy_from_host(b"ab", 8, 1)
buf.copy_to_host(8, 1, None, None, False).to_pybytes()
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
        print("refused")
