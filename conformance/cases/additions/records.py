# Python's logging gets records of calls, if a program asks for them.
# shows: additions, Records
#   set_tracing: whether calls are recorded: nothing is until a program asks for it
#   set_tracing(log): as records of logging
#   set_tracing(nvtx): as ranges of NVTX
#   tracing: what was chosen
import logging
import sys

from pyarrow import cuda

from pyarrow_cuda_compat import set_tracing, tracing

logging.basicConfig(
    level=logging.DEBUG, stream=sys.stdout, format="%(name)s %(call)s %(nbytes)s %(device)s"
)
ctx = cuda.Context(0)
tracing()
buf = ctx.new_buffer(10)
set_tracing(log=True)
tracing()
buf = ctx.new_buffer(1000)
buf.fill(1, nbytes=10)
buf.copy_to_host(position=900).size
handle = buf.export_for_ipc()
buf.fill(300)
# The loggers' levels choose among them.
logging.getLogger("pyarrow_cuda_compat.transfer").setLevel(logging.INFO)
buf.to_pybytes() == buf.to_pybytes()
set_tracing(log=False)
buf = ctx.new_buffer(2000)
# Ranges of NVTX need the package.
sys.modules["nvtx"] = None
set_tracing(nvtx=True)
