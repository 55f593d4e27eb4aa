# Tensors of PyTorch and device buffers share memory, both ways.
# needs: gpu, torch
# shows: additions, Other libraries
#   torch: so do tensors of PyTorch
import gc

import numpy as np
import pyarrow as pa
import torch
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(np.arange(6, dtype=np.float32))
tensor = torch.from_dlpack(DeviceArray(buf, "<f4", (2, 3)))
(tensor.data_ptr() == buf.address, tuple(tensor.shape), tensor.dtype, tensor.device)
tensor *= 2
np.frombuffer(buf.copy_to_host(), np.float32).tolist()
torch.as_tensor(buf, device="cuda").data_ptr() == buf.address
numbers = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
torch.from_dlpack(numbers).sum().item()
# PyTorch's tensor keeps the memory.
before = ctx.bytes_allocated
del buf
_ = gc.collect()
(ctx.bytes_allocated - before, tensor[1].tolist())
del tensor
_ = gc.collect()
ctx.bytes_allocated - before
# The other way the array here keeps PyTorch's tensor, and so does a buffer.
made = torch.arange(4, dtype=torch.int16, device="cuda")
views = [from_dlpack(made), DeviceArray(made), ctx.buffer_from_object(made)]
[view.address == made.data_ptr() for view in views]
del made
[np.frombuffer(view.copy_to_host(), np.int16).tolist() for view in views]
# A column of a matrix has gaps: it is an array, and no buffer.
matrix = torch.zeros((4, 4), dtype=torch.uint8, device="cuda")
from_dlpack(matrix[:, 1]).fill(5)
matrix.sum(dim=0).tolist()
ctx.buffer_from_object(matrix[:, 1])
