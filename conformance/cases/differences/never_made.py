# Objects that no function has made are refused where they are used.
import pickle

import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray

ctx = cuda.Context()


def refused(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return len(str(error)) > 0


refused(cuda.IpcMemHandle), refused(lambda: cuda.CudaBuffer.__new__(cuda.CudaBuffer).size)
refused(lambda: cuda.HostBuffer.__new__(cuda.HostBuffer).size)
refused(lambda: cuda.BufferReader.__new__(cuda.BufferReader).read())
refused(lambda: cuda.IpcMemHandle.__new__(cuda.IpcMemHandle).serialize())
refused(lambda: pa.Buffer.__new__(cuda.CudaBuffer).size)
refused(lambda: ctx.buffer_from_data(pa.Buffer.__new__(pa.Buffer)))
refused(lambda: cuda.serialize_record_batch(pa.RecordBatch.__new__(pa.RecordBatch), ctx))
refused(lambda: pickle.dumps(pa.Array.__new__(pa.Int8Array)))
refused(lambda: DeviceArray.from_host(pa.Array.__new__(pa.Int8Array)))
