# The threads that copy, and their page-locked memory, can be set from outside.
# environment: PYARROW_CUDA_COPY_THREADS=3
# environment: PYARROW_CUDA_COPY_PINNED=2000000
# shows: additions, Copies by several threads
#   PYARROW_CUDA_COPY_THREADS: how many threads help
#   PYARROW_CUDA_COPY_PINNED: the most pinned memory that they use
from pyarrow_cuda_compat import set_transfer_limits, transfer_limits

transfer_limits()
# The program has the last word.
set_transfer_limits(threads=1)
transfer_limits()
