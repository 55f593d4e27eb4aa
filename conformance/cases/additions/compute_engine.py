# A program chooses whether pyarrow's functions compute on device data.
# shows: additions, Computing
#   set_compute_engine: which engine answers pyarrow's functions on device data
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import cuda

from pyarrow_cuda_compat import set_compute_engine

array = pa.array([1, 2, None]).copy_to(cuda.Context(0))
set_compute_engine("none")
pc.sum(array)
set_compute_engine("acero")
set_compute_engine(None)
