"""Which package tests of Numba itself use.

TEST_NUMBA names it, `numba.cuda` or `numba_cuda_mlir.cuda`, and it has to work then.
"""

import os

REQUIRED = os.environ.get("TEST_NUMBA")
PACKAGE = REQUIRED or "numba.cuda"
