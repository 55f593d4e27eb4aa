"""Contexts: the primary ones, borrowed ones, and what they tell."""

from pyarrow import cuda

import pyarrow_cuda_compat as compat

from . import scenario


@scenario()
def primary():
    ctx = cuda.Context(0)
    assert (ctx.device_number, ctx.bytes_allocated) == (0, 0)
    assert ctx.handle == cuda.Context().handle
    assert ctx.device.type_name == "arrow::cuda::CudaDevice"
    assert not ctx.memory_manager.is_cpu
    assert cuda.Context.get_num_devices() == 2
    ctx.synchronize()


@scenario()
def borrowed():
    ctx = cuda.Context(0)
    borrowed = cuda.Context(0, ctx.handle)
    buffer = borrowed.buffer_from_data(b"borrowed")
    assert buffer.context.handle == ctx.handle
    borrowed.synchronize()
    assert buffer.to_pybytes() == b"borrowed"


@scenario()
def information():
    ctx = cuda.Context(1)
    buffer = ctx.new_buffer(100)
    assert ctx.get_device_address(buffer.address) == buffer.address
    assert compat.memory_stats(1)["allocated_bytes"] == 100
    free, total = compat.mem_get_info(1)
    assert 0 < free < total
    compat.reset_peak_memory_stats(1)
    assert "CUDA" in repr(ctx.device)
