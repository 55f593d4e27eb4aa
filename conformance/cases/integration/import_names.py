# The module has pyarrow's own name for it, and all of its public names.
# shows: integration, CUDA Integration
#   pyarrow.cuda: the optional module exists: it is imported under pyarrow's own name
import pyarrow as pa
import pyarrow.cuda
from pyarrow import cuda
from pyarrow.cuda import Context

import pyarrow_cuda_compat

cuda.__name__
NAMES = (
    "BufferReader",
    "BufferWriter",
    "Context",
    "CudaBuffer",
    "HostBuffer",
    "IpcMemHandle",
    "new_host_buffer",
    "read_message",
    "read_record_batch",
    "serialize_record_batch",
)
[name for name in NAMES if not callable(getattr(cuda, name, None))]
[getattr(cuda, name).__module__ for name in NAMES if isinstance(getattr(cuda, name), type)]
# Whichever way it is imported, it is the same.
pyarrow.cuda is cuda, pa.cuda is cuda, Context is cuda.Context
[name for name in NAMES if getattr(pyarrow_cuda_compat, name) is not getattr(cuda, name)]
