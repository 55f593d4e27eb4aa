# Arrays and batches that came by the C Device interface, and parts of them, are passed on by it.
# shows: additions, Arrow C Device interface
#   pyarrow.Array.__arrow_c_device_array__: imported arrays and slices of them can be exported
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
host = pa.default_cpu_memory_manager()


class Wrapper:
    """What other libraries see of an array."""

    def __init__(self, data):
        self.__arrow_c_device_array__ = data.__arrow_c_device_array__


# The nulls of a part were never counted, and are not looked for on the host.
numbers = pa.array([1, None, 3, None]).copy_to(ctx.memory_manager)
part = pa.array(Wrapper(numbers.slice(1, 2)))
part.copy_to(host).to_pylist()
pa.array(Wrapper(part.slice(1))).copy_to(host).to_pylist()
# Strings, and no bitmap.
strings = pa.array(["one", "three", ""]).copy_to(ctx.memory_manager)
there = strings
for _ in range(3):
    there = pa.array(Wrapper(there))

(there.is_cpu, there.copy_to(host).to_pylist())
batch = pa.record_batch([numbers, numbers.slice(0)], ["x", "y"])
again = pa.record_batch(Wrapper(pa.record_batch(Wrapper(batch.slice(1, 2)))))
(again.is_cpu, again.copy_to(host).to_pydict())
# Arrays of nothing.
empty = pa.array(Wrapper(pa.array([], pa.string()).copy_to(ctx.memory_manager)))
(empty.is_cpu, pa.array(Wrapper(empty)).copy_to(host).to_pylist())
