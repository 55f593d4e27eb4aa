# A kernel sees the type of its arguments, and whether they are writable.
# needs: numba.cuda
# shows: integration, Arrow to Numba
#   CudaBuffer.to_numba: the array has to be writable: immutable memory is refused
#   pyarrow.Array: Numba finds the type of an Arrow array on the device
import warnings

import numba.cuda
import pyarrow as pa
from pyarrow import cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")


@numba.cuda.jit
def add_one(values):
    place = numba.cuda.grid(1)
    if place < values.size:
        values[place] += 1


ctx = cuda.Context(0)
numbers = pa.array([7, -3, 0, 250], pa.int32()).copy_to(ctx.memory_manager)
print(add_one.typeof_pyval(numbers))
print(add_one.typeof_pyval(pa.array([0.5, 1.5]).copy_to(ctx.memory_manager).slice(1)))
# A buffer can be written to, or says that it cannot; such a kernel is not compiled for it.
buf = ctx.buffer_from_data(b"\x01\x02\x03\x04")
frozen = cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 1))
(buf.is_mutable, frozen.is_mutable)
print(add_one.typeof_pyval(buf))
print(add_one.typeof_pyval(frozen))
try:
    add_one[1, 32](frozen)
except Exception as error:
    print(type(error).__name__, "Cannot modify readonly array" in str(error))
# Numba pointers cannot be read-only, so such memory gets no pointer.
buf.to_numba().size
frozen.to_numba()
frozen.slice(1).to_numba()
# A copy is the program's own.
ctx.buffer_from_data(frozen).to_numba().size, buf.to_pybytes()
