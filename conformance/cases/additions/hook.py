# pyarrow finds the package by itself, unless a variable switches that off.
# shows: additions, The package
#   pyarrow.cuda: pyarrow finds the package automatically
#   PYARROW_CUDA_HOOK: with 0, pyarrow.cuda does not find the package
#   PYARROW_CUDA_HOOK: its old name is refused, with the new one
import os
import subprocess
import sys

import pyarrow.cuda

pyarrow.cuda.Context.__module__
sys.modules["pyarrow._cuda"].Context is pyarrow.cuda.Context
program = """
try:
    from pyarrow import cuda
    print(cuda.Context.get_num_devices() > 0)
except ImportError as error:
    print(error)
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


run()
run(PYARROW_CUDA_HOOK="0")
# A variable by the name that it had once is refused.
run(PYARROW_CUDA_COMPAT_HOOK="0")
