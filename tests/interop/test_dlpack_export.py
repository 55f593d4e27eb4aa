"""Device memory as DLPack tensors and by the CUDA array interface, for others.

NumPy stands for the consumer where the tensor is copied to the host; what other libraries make of
it is tried in test_round_trips.py.
"""

import ctypes
import gc
import threading

import numpy as np
import pytest

from pyarrow_cuda_compat import DeviceArray, from_dlpack
from support.libraries.dlpack import (
    CPU,
    CUDA,
    CUDA_HOST,
    DELETER,
    FORMS,
    look,
)


def test_the_array_interface_of_a_buffer(ctx, memory):
    part = memory.slice(10, 20)
    assert part.__cuda_array_interface__ == {
        "shape": (20,),
        "typestr": "|u1",
        "data": (memory.address + 10, False),
        "version": 3,
        "strides": None,
        "mask": None,
        "stream": None,
    }
    assert ctx.new_buffer(0).__cuda_array_interface__["data"] == (0, False)
    again = ctx.buffer_from_object(DeviceArray(part, "<i4", (5,)))
    assert (again.address, again.to_pybytes()) == (part.address, part.to_pybytes())


def test_what_is_read_only_says_so(ctx, memory):
    class ReadOnly:
        __cuda_array_interface__ = memory.__cuda_array_interface__ | {
            "data": (memory.address, True)
        }

    view = ctx.buffer_from_object(ReadOnly())
    assert view.__cuda_array_interface__["data"] == (memory.address, True)
    structure, _ = look(view.__dlpack__(max_version=(1, 0)))
    assert structure.flags == 1
    with pytest.raises(BufferError, match="read-only"):
        view.__dlpack__()
    assert not from_dlpack(view).is_mutable
    copied, _ = look(view.__dlpack__(copy=True))
    assert copied.tensor.data != memory.address


def test_the_array_interface_waits_for_queued_work(ctx, default_stream):
    buf = ctx.new_buffer(100)
    default_stream.sleep()
    # Consumers may ignore the stream.
    assert buf.__cuda_array_interface__["stream"] is None
    assert default_stream.is_idle()


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ({}, "dltensor"),
        ({"max_version": None}, "dltensor"),
        ({"max_version": (0, 8)}, "dltensor"),
        ({"max_version": (1, 0)}, "dltensor_versioned"),
        ({"max_version": (1, 3)}, "dltensor_versioned"),
        ({"max_version": (2, 0)}, "dltensor_versioned"),
    ],
    ids=repr,
)
def test_the_consumer_says_which_form_it_knows(memory, request_, name):
    capsule = memory.slice(3, 7).__dlpack__(**request_)
    structure, found = look(capsule)
    assert found == name
    tensor = structure.tensor
    assert (tensor.data, tensor.byte_offset) == (memory.address + 3, 0)
    assert (tensor.device_type, tensor.device_id) == (CUDA, 0) == memory.__dlpack_device__()
    assert (tensor.code, tensor.bits, tensor.lanes) == (1, 8, 1)
    assert (tensor.ndim, tensor.shape[0], tensor.strides[0]) == (1, 7, 1)
    if name == "dltensor_versioned":
        assert (structure.major, structure.flags) == (1, 0)


@pytest.mark.parametrize("stream", [None, -1, 1, 2, 2**40, 12345])
def test_streams_that_may_wait(memory, stream):
    # A handle is not touched: a wrong one would crash the driver.
    structure, _ = look(memory.__dlpack__(stream=stream))
    assert structure.tensor.data == memory.address


@pytest.mark.parametrize("stream", [0, -2, -(2**40)])
def test_streams_that_do_not_exist(memory, stream):
    with pytest.raises(ValueError, match="stream"):
        memory.__dlpack__(stream=stream)


@pytest.mark.parametrize(
    ("stream", "waits"), [(None, False), (-1, False), (1, False), (2, False), (2**40, True)]
)
def test_another_stream_has_to_wait_for_queued_work(memory, default_stream, stream, waits):
    default_stream.sleep()
    memory.__dlpack__(stream=stream)
    assert default_stream.is_idle() == waits


def test_work_on_streams_that_an_array_names_is_waited_for(ctx, memory, default_stream):
    said = [{"stream": 1}, {"stream": 2}, {"stream": 2**40}]
    # Tensors of older versions may be pending on any stream.
    said += [{"version": 2}, {"version": None}, {"version": "x"}]
    for changed in said:

        class Theirs:
            __cuda_array_interface__ = memory.__cuda_array_interface__ | changed

        default_stream.sleep()
        assert ctx.buffer_from_object(Theirs()).address == memory.address
        assert default_stream.is_idle(), changed


def test_arrays_that_are_not_there_yet_are_waited_for(ctx, memory):
    class Theirs:
        """As JAX's, which is computed on another thread."""

        is_ready = False

        @property
        def __cuda_array_interface__(self):
            return memory.__cuda_array_interface__

        def block_until_ready(self):
            self.is_ready = True

    theirs = Theirs()
    assert ctx.buffer_from_object(theirs).address == memory.address
    assert theirs.is_ready


def test_work_that_no_array_names_is_not_waited_for(ctx, memory, default_stream):
    class Theirs:
        __cuda_array_interface__ = memory.__cuda_array_interface__

    default_stream.sleep()
    ctx.buffer_from_object(Theirs())
    assert not default_stream.is_idle()


def test_copies_see_queued_work(memory, default_stream):
    default_stream.sleep()
    default_stream.fill(memory, 7)
    copied = from_dlpack(memory.__dlpack__(copy=True, stream=-1))
    assert copied.buffer.to_pybytes() == b"\x07" * 100
    default_stream.sleep()
    default_stream.fill(memory, 8)
    assert (np.from_dlpack(memory, device="cpu") == 8).all()


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"dl_device": (CPU, 0), "copy": False}, BufferError),
        ({"dl_device": (CUDA_HOST, 0)}, BufferError),
        ({"dl_device": (4, 0)}, BufferError),
        ({"dl_device": (CUDA, -1)}, ValueError),
        ({"dl_device": (CUDA, 99)}, OSError),
        ({"dl_device": (CUDA, 99), "copy": False}, BufferError),
        ({"dl_device": 2}, TypeError),
        ({"dl_device": (2,)}, ValueError),
        ({"max_version": 1}, TypeError),
        ({"max_version": (1,)}, ValueError),
        ({"max_version": "11"}, TypeError),
        ({"stream": "x"}, TypeError),
        ({"stream": 1.5}, TypeError),
        ({"stream": 2**64}, OverflowError),
        ({"copy": 5}, TypeError),
        ({"what": 1}, TypeError),
    ],
    ids=repr,
)
def test_requests_that_cannot_be_met(ctx, memory, request_, error):
    before = ctx.bytes_allocated
    with pytest.raises(error) as raised:
        memory.__dlpack__(**request_)
    assert str(raised.value)
    assert ctx.bytes_allocated == before


def test_positional_arguments_are_not_taken(memory):
    with pytest.raises(TypeError):
        memory.__dlpack__(1)


def test_a_copy_is_the_consumers_own(ctx, memory):
    before = ctx.bytes_allocated
    capsule = memory.__dlpack__(copy=True, max_version=(1, 0))
    structure, _ = look(capsule)
    assert structure.tensor.data != memory.address
    assert structure.flags == 2
    assert ctx.bytes_allocated == before + 100
    copied = from_dlpack(capsule)
    memory.copy_from_host(b"changed")
    assert copied.buffer.to_pybytes() == bytes(range(100))
    del capsule, copied
    gc.collect()
    assert ctx.bytes_allocated == before


def test_a_copy_on_another_device(memory, other_ctx):
    capsule = memory.__dlpack__(dl_device=(CUDA, 1))
    assert look(capsule)[0].tensor.device_id == 1
    copied = from_dlpack(capsule)
    assert copied.context.device_number == 1
    assert copied.buffer.to_pybytes() == bytes(range(100))
    with pytest.raises(BufferError, match="without a copy"):
        memory.__dlpack__(dl_device=(CUDA, 1), copy=False)
    assert other_ctx.new_buffer(5).__dlpack_device__() == (CUDA, 1)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 100_000])
def test_a_copy_on_the_host(ctx, size):
    data = np.arange(size).astype(np.uint8)
    buf = ctx.buffer_from_data(data)
    read = np.from_dlpack(buf, device="cpu")
    assert read.dtype == np.uint8
    assert (read == data).all()
    structure, _ = look(buf.__dlpack__(dl_device=(CPU, 0), max_version=(1, 0)))
    assert (structure.tensor.device_type, structure.flags) == (CPU, 2)
    with pytest.raises((BufferError, ValueError)):
        np.from_dlpack(buf, device="cpu", copy=False)


def test_the_memory_goes_with_whoever_has_it_last(ctx):
    before = ctx.bytes_allocated
    for max_version in (None, (1, 0)):
        capsule = ctx.new_buffer(1000).__dlpack__(max_version=max_version)
        gc.collect()
        assert ctx.bytes_allocated == before + 1000
        view = from_dlpack(capsule)
        del capsule
        part = view.buffer.slice(10, 20)
        del view
        gc.collect()
        assert ctx.bytes_allocated == before + 1000
        del part
        gc.collect()
        assert ctx.bytes_allocated == before
        untaken = ctx.new_buffer(1000).__dlpack__(max_version=max_version)
        del untaken
        assert ctx.bytes_allocated == before


@pytest.mark.parametrize("form", FORMS)
def test_the_deleter_may_be_called_on_any_thread(ctx, form):
    before = ctx.bytes_allocated
    capsule = ctx.new_buffer(1000).__dlpack__(max_version=(1, 0) if len(form) > 8 else None)
    structure, name = look(capsule)
    assert name == form
    ctypes.pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    ctypes.pythonapi.PyCapsule_SetName(capsule, b"used_" + form.encode())
    # ctypes gives the GIL up around the call, as a library's own thread never had it.
    deleter = ctypes.cast(structure.deleter, DELETER)
    address = ctypes.addressof(structure)
    thread = threading.Thread(target=deleter, args=(address,))
    thread.start()
    thread.join()
    assert ctx.bytes_allocated == before


def test_nothing_is_said_when_the_interpreter_ends(run_python):
    code = """
from pyarrow import cuda
from pyarrow_cuda_compat import from_dlpack
ctx = cuda.Context(0)
untaken = ctx.new_buffer(10).__dlpack__(max_version=(1, 0))
taken = from_dlpack(ctx.new_buffer(10))
cycle = [from_dlpack(ctx.new_buffer(10))]
cycle.append(cycle)
"""
    assert run_python(code) == (0, "", "")
