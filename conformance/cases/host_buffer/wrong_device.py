# Device numbers that no device has are refused.
# shows: pyarrow_cuda
#   new_host_buffer(device): an unknown device number raises an ArrowInvalid that names the valid
#     range
import pyarrow as pa
from pyarrow import cuda

last = cuda.Context.get_num_devices() - 1


def said(number):
    try:
        cuda.new_host_buffer(4, device=number)
    except pa.ArrowInvalid as error:
        text = str(error).replace(f"and {last},", "and <last>,")
        return text.replace(f"number {last + 1} ", "number <last + 1> ")


said(last + 1)
said(99)
said(-1)
cuda.new_host_buffer(4, device=last).size
isinstance(pa.ArrowInvalid("x"), ValueError)
for wrong in ("4", None, 1.5):
    try:
        cuda.new_host_buffer(wrong)
    except TypeError:
        print("TypeError")
