"""Tensors of other libraries as device memory; structures made here stand for the producer."""

import ctypes
import gc
import sys

import numpy as np
import pytest

from pyarrow_cuda_compat import from_dlpack
from support.libraries.dlpack import (
    CPU,
    CUDA_HOST,
    FORMS,
    Producer,
    new_capsule,
)
from support.work import NON_BLOCKING


@pytest.mark.parametrize("form", FORMS)
def test_tensors_of_others(ctx, memory, form):
    theirs = Producer(memory.address, (2, 5), form=form, byte_offset=10)
    buf = from_dlpack(theirs)
    assert (buf.address, buf.size, buf.is_mutable) == (memory.address + 10, 10, True)
    assert buf.to_pybytes() == bytes(range(10, 20))
    assert theirs.requests == [{"stream": 1, "max_version": (1, 1)}]
    part = buf.slice(3, 2)
    del buf
    gc.collect()
    assert theirs.deleted == 0
    del part
    gc.collect()
    assert theirs.deleted == 1


def test_read_only_tensors_stay_so(memory):
    buf = from_dlpack(Producer(memory.address, flags=1))
    with pytest.raises(ValueError, match="not mutable"):
        buf.copy_from_host(b"x")


def test_a_deleter_called_while_an_exception_travels(memory):
    theirs = Producer(memory.address, flags=1)
    with pytest.raises(ValueError, match="not mutable"):
        from_dlpack(theirs).copy_from_host(b"x")
    gc.collect()
    assert theirs.deleted == 1


def test_producers_that_know_no_versions(memory):
    class Old(Producer):
        def __dlpack__(self, stream=None):
            self.requests.append(stream)
            return self.capsule()

    theirs = Old(memory.address, form="dltensor")
    assert from_dlpack(theirs).to_pybytes() == bytes(range(10))
    assert theirs.requests == [1]


def test_a_capsule_itself(memory):
    theirs = Producer(memory.address)
    capsule = theirs.capsule()
    assert from_dlpack(capsule).size == 10
    assert theirs.deleted == 1
    with pytest.raises(ValueError, match="already consumed"):
        from_dlpack(capsule)
    with pytest.raises(TypeError, match="does not hold a DLPack tensor"):
        from_dlpack(new_capsule(1, b"something_else", None))
    with pytest.raises(TypeError, match="does not hold a DLPack tensor"):
        from_dlpack(new_capsule(1, None, None))
    assert theirs.deleted == 1


def test_work_behind_a_capsule_is_waited_for(ctx, memory, make_stream):
    stream = make_stream(NON_BLOCKING)
    stream.sleep()
    stream.fill(memory, 7)
    assert from_dlpack(Producer(memory.address, (100,)).capsule()).to_pybytes() == b"\x07" * 100


def test_a_capsule_given_twice(memory):
    class Stingy(Producer):
        def __dlpack__(self, **request):
            self.only = getattr(self, "only", None) or self.capsule()
            return self.only

    theirs = Stingy(memory.address)
    first = from_dlpack(theirs)
    with pytest.raises(ValueError, match="already consumed"):
        from_dlpack(theirs)
    assert theirs.deleted == 0
    assert first.to_pybytes() == bytes(range(10))


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"version": (2, 0)}, BufferError, "2.0"),
        ({"version": (0, 5)}, BufferError, "0.5"),
        ({"shape": (-1,)}, ValueError, "-1"),
        ({"shape": (2**40, 2**40)}, ValueError, "overflows"),
        ({"shape": (2**63 - 1,), "bits": 64}, ValueError, "overflows"),
        ({"shape": (101,)}, ValueError, "out-of-range"),
        ({"shape": (10,), "strides": (2,)}, BufferError, "non-contiguous"),
        ({"shape": (2, 2), "strides": (0, 3)}, BufferError, "non-contiguous"),
        ({"shape": (5,), "strides": (2**62,), "bits": 64}, ValueError, "overflow"),
        ({"ndim": -1}, ValueError, "-1 dimensions"),
        ({"ndim": 2**30}, ValueError, "dimensions"),
        ({"bits": 1}, BufferError, "1 bits"),
        ({"lanes": 0}, BufferError, "0 bits"),
        ({"data": None}, ValueError, "at no address"),
        ({"byte_offset": 2**64 - 1}, ValueError, "address space"),
        ({"byte_offset": 95}, ValueError, "out-of-range"),
        ({"device_id": -1}, ValueError, "-1"),
        ({"device_id": 99}, OSError, "Cuda error 101"),
        ({"device_type": CPU}, BufferError, "buffer_from_data"),
        ({"device_type": 10}, BufferError, "not CUDA"),
        ({"device_type": -5}, BufferError, "not CUDA"),
        ({"data": 0x1234}, OSError, "Cuda error 1 "),
        ({"data": 2**64 - 1}, OSError, "Cuda error 1 "),
    ],
    ids=repr,
)
def test_tensors_that_lie(memory, fields, error, text):
    theirs = Producer(memory.address, **({"shape": (10,)} | fields))
    with pytest.raises(error, match=text):
        from_dlpack(theirs.capsule())
    gc.collect()
    assert theirs.deleted == 1


def test_tensors_of_another_device(ctx, memory, other_ctx):
    lies = Producer(memory.address, device_id=1)
    with pytest.raises(ValueError, match="lies on device 0"):
        from_dlpack(lies)
    there = other_ctx.buffer_from_data(b"on the second")
    view = from_dlpack(there)
    assert (view.address, view.context.device_number) == (there.address, 1)
    with pytest.raises(BufferError, match="without a copy"):
        from_dlpack(there, device=ctx, copy=False)
    brought = from_dlpack(there, device=ctx)
    assert (brought.context.device_number, brought.to_pybytes()) == (0, b"on the second")


def test_copies_when_asked_for(ctx, memory):
    theirs = Producer(memory.address)
    copied = from_dlpack(theirs, copy=True)
    gc.collect()
    assert theirs.deleted == 1
    memory.copy_from_host(b"changed")
    assert copied.to_pybytes() == bytes(range(10))
    for copy in (None, False):
        assert from_dlpack(memory, device=ctx, copy=copy).address == memory.address


def test_pinned_tensors(cuda, ctx):
    pinned = cuda.new_host_buffer(10)
    pinned_bytes = np.frombuffer(pinned, np.uint8)
    pinned_bytes[:] = 5
    theirs = Producer(pinned.address, device_type=CUDA_HOST)
    view = from_dlpack(theirs)
    assert view.to_pybytes() == b"\5" * 10
    assert theirs.requests == [{"max_version": (1, 1)}]
    pageable = ctypes.create_string_buffer(10)
    with pytest.raises(OSError, match="Cuda error 1 "):
        from_dlpack(Producer(ctypes.addressof(pageable), device_type=CUDA_HOST))


def test_empty_tensors(memory):
    for fields in ({"shape": (0,), "data": None}, {"shape": (2**62, 2**62, 0)}):
        theirs = Producer(memory.address, **fields)
        assert from_dlpack(theirs).size == 0
        assert theirs.deleted == 1


@pytest.mark.parametrize("wrong", [None, 5, b"bytes", object(), [1, 2]], ids=type)
def test_what_does_not_speak_dlpack(wrong):
    with pytest.raises(TypeError, match=f"__dlpack__.*got {type(wrong).__name__}"):
        from_dlpack(wrong)


def test_objects_that_fail_on_the_way(memory):
    class Fails(Producer):
        def __dlpack__(self, **request):
            raise RuntimeError("no tensor today")

    with pytest.raises(RuntimeError, match="no tensor today"):
        from_dlpack(Fails(memory.address))

    class NoCapsule(Producer):
        def __dlpack__(self, **request):
            return "tensor"

    with pytest.raises(TypeError, match=r"(?i)capsule"):
        from_dlpack(NoCapsule(memory.address))

    class NoDevice(Producer):
        def __dlpack_device__(self):
            return "cuda"

    with pytest.raises((TypeError, ValueError)):
        from_dlpack(NoDevice(memory.address))
    with pytest.raises(BufferError, match="host"):
        from_dlpack(np.arange(3))


def test_wrong_options(memory):
    for options in ({"device": 0}, {"device": "cuda"}, {"copy": "yes"}, {"stream": 1}):
        with pytest.raises(TypeError):
            from_dlpack(memory, **options)


def test_references_are_given_back(memory):
    theirs = Producer(memory.address)
    before = sys.getrefcount(theirs)
    for _ in range(10):
        from_dlpack(theirs)
        with pytest.raises(BufferError):
            from_dlpack(Producer(memory.address, device_type=CPU))
    gc.collect()
    assert (sys.getrefcount(theirs), theirs.deleted) == (before, 10)
