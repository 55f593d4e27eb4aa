"""Device memory as DLPack tensors and by the CUDA array interface, for others.

NumPy stands for the consumer where the tensor is copied to the host; what other libraries make of
it is tried in test_round_trips.py.
"""

import ctypes

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, from_dlpack
from support.interfaces import ByInterface
from support.libraries.dlpack import CUDA, CUDA_HOST, DELETER, FORMS, look
from support.threads import in_thread


@pytest.mark.parametrize(
    ("stream", "waits"), [(None, False), (-1, False), (1, False), (2, False), (2**40, True)]
)
def test_another_stream_has_to_wait_for_queued_work(memory, default_stream, stream, waits):
    default_stream.sleep()
    memory.__dlpack__(stream=stream)
    assert default_stream.is_idle() == waits


@pytest.mark.parametrize(
    ("said", "waits"),
    [
        ({}, False),
        # Copies are ordered after the default stream.
        ({"stream": 1}, False),
        ({"stream": 2}, True),
        ({"stream": 2**40}, True),
        # Tensors of older versions may be pending on any stream.
        ({"version": 2}, True),
        ({"version": None}, True),
        ({"version": "x"}, True),
    ],
    ids=repr,
)
def test_work_on_streams_that_an_array_names_is_waited_for(
    ctx, memory, default_stream, said, waits
):
    theirs = ByInterface(memory, **said)
    default_stream.sleep()
    assert ctx.buffer_from_object(theirs).address == memory.address
    assert default_stream.is_idle() == waits


def test_lazy_arrays_are_asked_to_queue_their_work_first(ctx, memory, default_stream):
    """JAX queues it on threads of its own."""
    asked = []

    class Lazy(ByInterface):
        def block_until_ready(self):
            asked.append(self)
            default_stream.sleep()

    ctx.buffer_from_object(Lazy(memory, version=2))
    assert len(asked) == 1
    assert default_stream.is_idle()


def test_what_a_consumer_is_told_of_the_memory(cuda, memory):
    frozen = cuda.CudaBuffer.from_buffer(pa.Buffer.slice(memory))
    assert memory.__dlpack_device__() == (CUDA, 0)
    for each, copy, flags in (memory, None, 0), (frozen, None, 1), (frozen, True, 2):
        structure, _ = look(each.__dlpack__(max_version=(1, 1), copy=copy))
        assert (structure.tensor.device_type, structure.flags) == (CUDA, flags)
        assert (structure.tensor.data == memory.address) is not copy
    assert not from_dlpack(frozen).is_mutable
    # Without a version, as with one, a copy of read-only memory may be written to.
    copied = frozen.__dlpack__(copy=True)
    assert look(copied)[0].tensor.data != memory.address
    assert from_dlpack(copied).is_mutable
    for version, name in (None, "dltensor"), ((0, 8), "dltensor"), ((2, 0), "dltensor_versioned"):
        assert look(memory.__dlpack__(max_version=version))[1] == name
    with pytest.raises(TypeError):
        memory.__dlpack__(1)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"dl_device": (CUDA_HOST, 0)}, BufferError),
        ({"dl_device": (CUDA, -1)}, ValueError),
        ({"dl_device": (CUDA, 99), "copy": False}, BufferError),
        ({"dl_device": 2}, TypeError),
        ({"dl_device": (2,)}, ValueError),
        ({"max_version": 1}, TypeError),
        ({"max_version": (1,)}, ValueError),
        ({"max_version": "11"}, TypeError),
        ({"stream": -(2**40)}, ValueError),
        ({"stream": "x"}, TypeError),
        ({"stream": 1.5}, TypeError),
        ({"stream": 2**64}, OverflowError),
        ({"copy": 5}, TypeError),
        ({"what": 1}, TypeError),
    ],
    ids=repr,
)
def test_requests_that_cannot_be_met(memory, request_, error):
    with pytest.raises(error) as raised:
        memory.__dlpack__(**request_)
    assert str(raised.value)


BACKWARDS = [np.s_[::-1], np.s_[:, ::-1], np.s_[1:, ::-2], np.s_[::-1, ::-1], np.s_[0, ::-1]]


@pytest.mark.parametrize("part", BACKWARDS, ids=repr)
def test_negative_strides_are_for_no_consumer(part):
    host = np.arange(6).reshape(2, 3)
    array = DeviceArray.from_host(host)[part]
    for request in ({}, {"max_version": (1, 1)}, {"copy": False}):
        with pytest.raises(BufferError, match=r"no negative strides: array\.copy\(\) has none$"):
            array.__dlpack__(**request)
    for exported in (array.copy(), from_dlpack(array, copy=True), DeviceArray(ByInterface(array))):
        assert exported.copy_to_host().tolist() == host[part].tolist()
    assert np.from_dlpack(array, device="cpu").tolist() == host[part].tolist()


@pytest.mark.parametrize("part", [np.s_[:1, ::2][:1], np.s_[5:, ::-1], np.s_[:, 3:]], ids=repr)
def test_strides_that_lead_nowhere_have_no_sign(part):
    array = DeviceArray.from_host(np.arange(6).reshape(2, 3))[part][::-1]
    structure, _ = look(array.__dlpack__())
    tensor = structure.tensor
    assert all(tensor.strides[axis] >= 0 for axis in range(tensor.ndim))
    assert from_dlpack(array).shape == array.shape
    if array.size:
        assert from_dlpack(array).copy_to_host().tolist() == array.copy_to_host().tolist()


@pytest.mark.parametrize("form", FORMS)
def test_the_deleter_may_be_called_on_any_thread(ctx, allocated, form):
    capsule = ctx.new_buffer(1000).__dlpack__(max_version=(1, 0) if len(form) > 8 else None)
    structure, name = look(capsule)
    assert name == form
    ctypes.pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    ctypes.pythonapi.PyCapsule_SetName(capsule, b"used_" + form.encode())
    # ctypes gives the GIL up around the call, as a library's own thread never had it.
    deleter = ctypes.cast(structure.deleter, DELETER)
    address = ctypes.addressof(structure)
    in_thread(lambda: deleter(address))
    assert allocated() == 0
