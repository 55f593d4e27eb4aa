# A forked child gets errors from the device, and ends well with its parent's buffers.
# shows: additions, Processes
#   os.fork: a forked child process gets errors, and exits normally
import os
import warnings

from pyarrow import cuda

warnings.simplefilter("ignore")
ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")


def status_of_child():
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        buf.to_pybytes()
    except OSError as error:
        status = 7 if str(error).startswith("Cuda error 3 ") else 2
    globals().pop("buf")
    os._exit(status)


status_of_child()
buf.to_pybytes()
