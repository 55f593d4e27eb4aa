"""numba-cuda up to 0.30.4 compiles no kernel where NumPy is 2.5 or later.

Of pyarrow.tests.test_cuda_numba_interop this makes those tests fail that run a kernel:
test_numba_memalloc and test_pyarrow_jit.  The names that Numba registers for kernels include
`numpy.row_stack`, which NumPy 2.5 no longer has.
"""

import sys

import numpy as np
from numba import cuda, types


def increment(values):
    place = cuda.grid(1)
    if place < values.size:
        values[place] += 1


try:
    cuda.compile_ptx(increment, (types.Array(types.int32, 1, "C"),), cc=(9, 0))
except AttributeError as error:
    print(f"NumPy {np.__version__}, numba-cuda: {error}")
    sys.exit("row_stack" not in str(error))
sys.exit(f"the kernel was compiled with NumPy {np.__version__}: no fault here")
