# An imported array's event is waited for before its memory is used.
# shows: additions, Arrow C Device interface
#   pyarrow.array: the package waits for the event of an imported array before it reads the memory
import ctypes
import re

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
stream, event = ctypes.c_void_p(), ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(stream), 1)
driver.cuEventCreate(ctypes.byref(event), 2)
memory = ctx.buffer_from_data(b"0123456789")
array = pa.Array.from_buffers(pa.uint8(), 10, [None, memory], null_count=0)
at, count = ctypes.c_uint64(memory.address), ctypes.c_size_t(10)


def produce(byte):
    """Fills the memory when the stream has been busy for 200 ms, and records the event."""
    sleep = ctypes.CDLL(None).usleep
    yield driver.cuLaunchHostFunc(stream, sleep, ctypes.c_void_p(200_000))
    yield driver.cuMemsetD8Async(at, ctypes.c_ubyte(ord(byte)), count, stream)
    yield driver.cuEventRecord(event, stream)


# The event's place in the structure of the C Device interface.
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = ctypes.py_object, ctypes.c_char_p


class Wrapper:
    def __arrow_c_device_array__(self, requested_schema=None, **options):
        schema, exported = array.__arrow_c_device_array__()
        place = ctypes.c_void_p.from_address(pointer_of(exported, b"arrow_device_array") + 96)
        place.value = ctypes.addressof(event)
        return schema, exported


list(produce("!"))
there = pa.array(Wrapper())
cuda.CudaBuffer.from_buffer(there.buffers()[1]).to_pybytes()
driver.cuStreamQuery(stream)
# So it is when Arrow copies the array to the host.
host = pa.default_cpu_memory_manager()
list(produce("?"))
pa.array(Wrapper()).copy_to(host).to_pylist()
driver.cuStreamQuery(stream)
# Who passes the array on passes on an event behind it and the default stream's work.
there, _ = pa.array(Wrapper()), list(produce("-"))
_ = driver.cuLaunchHostFunc(None, ctypes.CDLL(None).usleep, ctypes.c_void_p(100_000))
_, passed = there.__arrow_c_device_array__()
place = ctypes.c_void_p.from_address(pointer_of(passed, b"arrow_device_array") + 96).value
_ = driver.cuEventSynchronize(ctypes.c_void_p.from_address(place))
(driver.cuStreamQuery(stream), driver.cuStreamQuery(None))
