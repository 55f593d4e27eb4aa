# Arrays that pass by the C Device interface while work is pending carry an event to wait for.
# shows: additions, Arrow C Device interface
#   pyarrow.Array.__arrow_c_device_array__: an array exported while work is pending carries an
#     event; one that is ready does not
#   pyarrow.RecordBatch.__arrow_c_device_array__: so does a record batch
import ctypes
import re

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
memory = ctx.buffer_from_data(b"....")
array = pa.Array.from_buffers(pa.uint8(), 4, [None, memory], null_count=0)
batch = pa.RecordBatch.from_arrays([array], ["x"])
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = ctypes.py_object, ctypes.c_char_p


def fill(text):
    """Queues a fill behind a function of the C library that takes 200 ms."""
    driver.cuLaunchHostFunc(None, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
    at, count = ctypes.c_uint64(memory.address), ctypes.c_size_t(4)
    driver.cuMemsetD8Async(at, ctypes.c_ubyte(ord(text)), count, None)


def peek():
    """What a stream finds that waits for no other one."""
    stream = ctypes.c_void_p()
    driver.cuStreamCreate(ctypes.byref(stream), 1)
    read = ctypes.create_string_buffer(4)
    at, count = ctypes.c_uint64(memory.address), ctypes.c_size_t(4)
    driver.cuMemcpyDtoHAsync_v2(read, at, count, stream)
    driver.cuStreamSynchronize(stream)
    driver.cuStreamDestroy_v2(stream)
    return read.raw


def export(data):
    """Device, and what a consumer finds who waits for the event, if there is one."""
    _, exported = data.__arrow_c_device_array__()
    structure = pointer_of(exported, b"arrow_device_array")
    device_number = ctypes.c_int64.from_address(structure + 80).value
    device_type = ctypes.c_int32.from_address(structure + 88).value
    event = ctypes.c_void_p.from_address(structure + 96).value
    if event is not None:
        driver.cuEventSynchronize(ctypes.c_void_p.from_address(event))
    return device_type, device_number, event is not None, peek()


# Data that is ready needs no event.
export(array)
fill("a")
export(array)
fill("b")
export(batch)
