# Objects that are not Numba's are refused, whether Numba is installed or not.
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"12345678")
cuda.Context.from_numba(ctx)
cuda.Context.from_numba(context=7)
cuda.CudaBuffer.from_numba(buf)
cuda.CudaBuffer.from_numba(mem=None)
cuda.CudaBuffer.from_numba()
ctx.to_numba(0)
buf.to_numba(0)


class Context:
    """The attributes of Numba contexts; only the handle matters."""

    device = type("Device", (), {"id": 0})
    handle = ctx.handle


cuda.Context.from_numba(Context).handle == ctx.handle
Context.handle = 0
cuda.Context.from_numba(Context)


class Pointer:
    """The attributes of Numba memory pointers."""

    device_pointer_value, size, context = buf.address + 2, 4, Context


Context.handle = ctx.handle
cuda.CudaBuffer.from_numba(Pointer).to_pybytes()
Pointer.size = 7
cuda.CudaBuffer.from_numba(Pointer)
Pointer.device_pointer_value = None
cuda.CudaBuffer.from_numba(Pointer)
Pointer.size = 0
cuda.CudaBuffer.from_numba(Pointer).size
