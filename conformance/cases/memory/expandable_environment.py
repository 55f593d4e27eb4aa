# A variable turns expandable segments on from the start.
# environment: PYARROW_CUDA_EXPANDABLE_SEGMENTS=1
# shows: additions, Released memory
#   PYARROW_CUDA_EXPANDABLE_SEGMENTS: 1 has new memory lie in an expandable segment
from pyarrow import cuda

ctx = cuda.Context(0)
ctx.new_buffer(2 << 20).export_for_ipc()
