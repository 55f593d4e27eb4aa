# PYARROW_CUDA_DRIVER=sim chooses the simulated device, on any machine.
# shows: additions, The driver
#   PYARROW_CUDA_DRIVER: sim chooses the simulated device
#   CUDA_SIM_DEVICES: the number of simulated devices
#   CUDA_SIM_MEMORY: the memory of a simulated device
import os
import subprocess
import sys

program = """
import os
from pyarrow import cuda
count = cuda.Context.get_num_devices()
print(count)
for number in range(count):
    ctx = cuda.Context(number)
    print(repr(ctx.device).split("name=")[1], ctx.buffer_from_data(b"works").to_pybytes())
try:
    cuda.Context(0).new_buffer(1 << 30)
except OSError as error:
    print(error)
"""
simulated = {"PYARROW_CUDA_DRIVER": "sim", "CUDA_SIM_DEVICES": "3", "CUDA_SIM_MEMORY": "256M"}
command = [sys.executable, "-P", "-c", program]
environment = os.environ | simulated
print(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
