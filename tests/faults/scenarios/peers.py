"""Two devices: copies between them, with access to each other and without."""

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, Event, Stream
from support.samples import BATCH, CPU

from . import scenario


@scenario()
def buffers():
    buffer = cuda.Context(0).buffer_from_data(b"0123456789")
    far = cuda.Context(1).new_buffer(10)
    far.copy_from_device(buffer)
    assert far.equals(buffer)
    assert far.to_pybytes() == b"0123456789"
    assert cuda.Context(1).buffers_from_data([buffer, b"x"])[0].to_pybytes() == b"0123456789"


@scenario()
def batches():
    there = BATCH.copy_to(cuda.Context(0).memory_manager)
    far = there.copy_to(cuda.Context(1).memory_manager)
    assert far.copy_to(CPU).equals(BATCH)
    message = cuda.serialize_record_batch(there, cuda.Context(1))
    assert cuda.read_record_batch(message, BATCH.schema).copy_to(CPU).equals(BATCH)


@scenario()
def arrays():
    array = DeviceArray.from_host(np.arange(6).reshape(2, 3))
    far = DeviceArray.empty((2, 3), array.dtype, context=cuda.Context(1))
    far[:] = array
    assert far.copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
    far.T.copy_to_device(array.T)
    assert far[1, 2] == 5


@scenario()
def streams():
    near, far = (Stream(cuda.Context(number)) for number in range(2))
    buffer, other = cuda.Context(0).new_buffer(100), cuda.Context(1).new_buffer(100)
    buffer.fill(5, stream=near)
    far.wait(near)
    other.copy_from_device(buffer, stream=far)
    event = Event(cuda.Context(1))
    event.record(far)
    near.wait(event)
    near.synchronize()
    assert other.to_pybytes() == b"\5" * 100
