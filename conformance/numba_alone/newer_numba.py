"""numba-cuda 0.27 and 0.28 cannot be imported where Numba is 0.66 or later.

All of pyarrow.tests.test_cuda_numba_interop fails then.  Numba has moved its types of dates,
which these versions take from where they were.
"""

import sys

import numba

try:
    import numba.cuda
except AttributeError as error:
    print(f"Numba {numba.__version__}: {error}")
    sys.exit("NPDatetime" not in str(error))
sys.exit(f"numba.cuda was imported with Numba {numba.__version__}: no fault here")
