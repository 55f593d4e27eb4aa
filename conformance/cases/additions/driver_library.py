# The driver is loaded when it is first needed; an error names the library if it is missing.
# shows: additions, The driver
#   PYARROW_CUDA_DRIVER: the driver library, which is loaded on first use; if it is missing, an
#     OSError names it
import os
import subprocess
import sys

program = """
from pyarrow import cuda
import pyarrow_cuda_compat
print("imported")
for call in (cuda.Context, cuda.Context.get_num_devices, lambda: cuda.new_host_buffer(4)):
    try:
        call()
    except OSError as error:
        print("libno_driver.so" in str(error), "PYARROW_CUDA_DRIVER" in str(error))
"""
absent = os.environ | {"PYARROW_CUDA_DRIVER": "/nowhere/libno_driver.so"}
command = [sys.executable, "-P", "-c", program]
print(subprocess.run(command, env=absent, capture_output=True, text=True, check=True).stdout)
