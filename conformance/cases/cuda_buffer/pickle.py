# A buffer on the device is pickled and copied by Python as one on the host is.
# shows: additions, Pickling
#   CudaBuffer: buffers can be pickled and copied; with protocol 5 the bytes are out of band
# shows: cuda_buffer, class
#   CudaBuffer: it can be pickled and copied, as its copy on the host can
import copy
import pickle

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
again = pickle.loads(pickle.dumps(buf))
type(again) is cuda.CudaBuffer, again.equals(buf), again.address != buf.address
again.context.device_number, again.is_mutable
pickle.loads(pickle.dumps(buf, protocol=2)).to_pybytes()
# With protocol 5 the bytes travel out of band.
frames = []
pickled = pickle.dumps(buf, protocol=5, buffer_callback=frames.append)
[bytes(frame) for frame in frames], b"0123" in pickled
pickle.loads(pickled, buffers=frames).to_pybytes()
pickle.PickleBuffer(buf)
# Only a part's own bytes do.
pickle.loads(pickle.dumps(buf.slice(2, 3))).to_pybytes()
pickle.loads(pickle.dumps(ctx.new_buffer(0))).size
# A copy is the device's own as well.
copied = copy.deepcopy(buf)
copied.copy_from_host(b"x"), copied.to_pybytes(), copy.copy(buf).to_pybytes()
pickle.dumps(pa.Buffer.slice(buf, 0))
pickle.loads(pickle.dumps(buf.copy_to_host())).to_pybytes()
one = pa.Array.from_buffers(pa.int8(), 2, [None, buf.slice(0, 2)])
both = pa.record_batch([one, pa.Array.from_buffers(pa.int16(), 2, [None, buf])], ["a", "b"])
pickle.loads(pickle.dumps(both)).copy_to(pa.default_cpu_memory_manager()).to_pydict()
copy.deepcopy(one).buffers()[1].address == buf.address
len(pickle.dumps(pa.array(range(1000)).copy_to(ctx).slice(5, 2))) > 1000
