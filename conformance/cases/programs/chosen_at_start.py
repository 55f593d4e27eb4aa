# Programs ask at their start whether there is a GPU; names that never existed do not exist here.
# shows: programs, Detection
#   Context.get_num_devices: a program takes the GPU if there is one
#   pyarrow.cuda: names that programs ask for, and pyarrow.cuda never had, are not there
import pyarrow as pa

try:
    import pyarrow.cuda

    there = pyarrow.cuda.Context.get_num_devices() > 0
except (ImportError, OSError):
    there = False
ctx = pa.cuda.Context(0) if there else None
(there, ctx.device_number)
ASKED_FOR = (
    (pa.cuda, "have_cuda is_available context DeviceType CudaError CudaIpcMemHandle"),
    (pa.cuda, "as_cuda_buffer foreign_buffer"),
    (pa.cuda.CudaBuffer, "free from_data"),
    (ctx, "memory device_count close"),
)
[name for owner, names in ASKED_FOR for name in names.split() if hasattr(owner, name)]
# Host memory, the bytes of a handle, and tables are refused; the program goes on.
ctx.open_ipc_buffer(bytes(72))
pa.cuda.CudaBuffer.from_buffer(pa.array([1, 2]).buffers()[1])
ctx.buffer_from_data(pa.table({"x": [1, 2]}))
