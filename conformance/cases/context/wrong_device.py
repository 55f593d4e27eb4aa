# Device numbers that no device has are refused.
# shows: pyarrow_cuda
#   Context: an unknown device number raises a ValueError that names the number of devices
from pyarrow import cuda

count = cuda.Context.get_num_devices()


def said(number):
    try:
        cuda.Context(number)
    except ValueError as error:
        return str(error).replace(f"less than {count}", "less than <count>")


said(count)
said(-1)
said(99)
try:
    cuda.Context(count)
except Exception as error:
    type(error)
# Only numbers name devices.
for wrong in ("0", None, 1.5):
    try:
        cuda.Context(wrong)
    except TypeError:
        print("TypeError")
# The contexts that there are go on working.
cuda.Context(count - 1).device_number == count - 1
cuda.Context().buffer_from_data(b"fine").to_pybytes()
