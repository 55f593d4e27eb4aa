# A buffer on the device cannot be pickled or copied by Python; its copy on the host can.
import copy
import pickle

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
pickle.dumps(buf)
pickle.dumps(buf, protocol=2)
pickle.dumps(buf, protocol=5)
pickle.PickleBuffer(buf)
copy.copy(buf)
copy.deepcopy(buf)
pickle.dumps(ctx.new_buffer(0))
pickle.dumps(pa.Buffer.slice(buf, 0))
pickle.loads(pickle.dumps(buf.copy_to_host())).to_pybytes()
buf.to_pybytes()
