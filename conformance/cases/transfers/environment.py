# The threads that copy, and their page-locked memory, can be set from outside.
# environment: PYARROW_CUDA_COPY_THREADS=3
# environment: PYARROW_CUDA_COPY_PINNED=2000000
from pyarrow_cuda_compat import set_transfer_limits, transfer_limits

transfer_limits()
# The program has the last word.
set_transfer_limits(threads=1)
transfer_limits()
