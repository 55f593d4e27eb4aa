"""What callers may pass: wrong values raise, say why, and change nothing."""

import copy
import ctypes
import pickle
import re
import weakref

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyarrow_cuda_compat
from pyarrow_cuda_compat import DeviceArray, OutOfMemoryError

HUGE = 2**63 - 1
DATA = bytes(range(100, 110))
integers = st.integers(-15, 15) | st.sampled_from([-HUGE - 1, -HUGE, HUGE - 1, HUGE])


@pytest.fixture
def buffer(guarded):
    buffer = guarded(len(DATA))
    buffer.copy_from_host(DATA)
    return buffer


@pytest.fixture(scope="session")
def message(cuda, contexts):
    batch = pa.record_batch([pa.array([1, 2, 3])], names=["x"])
    return cuda.serialize_record_batch(batch, contexts[0]), batch.schema


# Each takes a value that is wrong for it; what it is right for is listed in TAKES.
CALLS = {
    "Context": lambda s, x: s.cuda.Context(x),
    "Context.handle": lambda s, x: s.cuda.Context(0, x),
    "get_device_address": lambda s, x: s.ctx.get_device_address(x),
    "new_buffer": lambda s, x: s.ctx.new_buffer(x),
    "foreign_buffer.address": lambda s, x: s.ctx.foreign_buffer(x, 1),
    "foreign_buffer.size": lambda s, x: s.ctx.foreign_buffer(s.buffer.address, x),
    "open_ipc_buffer": lambda s, x: s.ctx.open_ipc_buffer(x),
    "buffer_from_data": lambda s, x: s.ctx.buffer_from_data(x),
    "buffer_from_data.offset": lambda s, x: s.ctx.buffer_from_data(b"abc", x),
    "buffer_from_data.size": lambda s, x: s.ctx.buffer_from_data(b"abc", 0, x),
    "buffer_from_object": lambda s, x: s.ctx.buffer_from_object(x),
    "from_buffer": lambda s, x: s.cuda.CudaBuffer.from_buffer(x),
    "copy_to_host.position": lambda s, x: s.buffer.copy_to_host(x),
    "copy_to_host.nbytes": lambda s, x: s.buffer.copy_to_host(0, x),
    "copy_to_host.buf": lambda s, x: s.buffer.copy_to_host(buf=x),
    "copy_to_host.memory_pool": lambda s, x: s.buffer.copy_to_host(memory_pool=x),
    "copy_from_host": lambda s, x: s.buffer.copy_from_host(x),
    "copy_from_host.position": lambda s, x: s.buffer.copy_from_host(b"abc", x),
    "copy_from_host.nbytes": lambda s, x: s.buffer.copy_from_host(b"abc", 0, x),
    "copy_from_device": lambda s, x: s.buffer.copy_from_device(x),
    "copy_from_device.position": lambda s, x: s.buffer.copy_from_device(s.small, x),
    "copy_from_device.nbytes": lambda s, x: s.buffer.copy_from_device(s.small, 0, x),
    "slice.offset": lambda s, x: s.buffer.slice(x),
    "slice.length": lambda s, x: s.buffer.slice(0, x),
    "equals": lambda s, x: s.buffer.equals(x),
    "index": lambda s, x: s.buffer[x],
    "IpcMemHandle.from_buffer": lambda s, x: s.cuda.IpcMemHandle.from_buffer(x),
    "BufferReader": lambda s, x: s.cuda.BufferReader(x),
    "read": lambda s, x: s.cuda.BufferReader(s.buffer).read(x),
    "read_buffer": lambda s, x: s.cuda.BufferReader(s.buffer).read_buffer(x),
    "reader.seek": lambda s, x: s.cuda.BufferReader(s.buffer).seek(x),
    "BufferWriter": lambda s, x: s.cuda.BufferWriter(x),
    "write": lambda s, x: s.cuda.BufferWriter(s.buffer).write(x),
    "writeat": lambda s, x: s.cuda.BufferWriter(s.buffer).writeat(0, x),
    "writeat.position": lambda s, x: s.cuda.BufferWriter(s.buffer).writeat(x, b"abc"),
    "writer.seek": lambda s, x: s.cuda.BufferWriter(s.buffer).seek(x),
    "buffer_size": lambda s, x: setattr(s.cuda.BufferWriter(s.buffer), "buffer_size", x),
    "new_host_buffer": lambda s, x: s.cuda.new_host_buffer(x),
    "new_host_buffer.device": lambda s, x: s.cuda.new_host_buffer(4, x),
    "HostBuffer.slice": lambda s, x: s.cuda.new_host_buffer(4).slice(x),
    "serialize_record_batch": lambda s, x: s.cuda.serialize_record_batch(x, s.ctx),
    "serialize_record_batch.ctx": lambda s, x: s.cuda.serialize_record_batch(s.batch, x),
    "read_message": lambda s, x: s.cuda.read_message(x),
    "read_message.pool": lambda s, x: s.cuda.read_message(s.message, x),
    "read_record_batch": lambda s, x: s.cuda.read_record_batch(x, s.schema),
    "read_record_batch.schema": lambda s, x: s.cuda.read_record_batch(s.message, x),
    "read_record_batch.memo": lambda s, x: s.cuda.read_record_batch(
        s.message, s.schema, dictionary_memo=x
    ),
    "read_record_batch.pool": lambda s, x: s.cuda.read_record_batch(s.message, s.schema, pool=x),
}

WRONG = {
    "None": None,
    "object": object(),
    "text": "text",
    "bytes": b"bytes",
    "float": 1.5,
    "2**64": 2**64,
    "-2**64": -(2**64),
    "-1": -1,
    "list": [],
    "class": pa.Buffer,
    "uninitialised": pa.Buffer.__new__(pa.Buffer),
    "host buffer": pa.py_buffer(b"host"),
}
TAKES = {
    "None": {
        "copy_to_host.buf",
        "copy_to_host.memory_pool",
        "read",
        "read_buffer",
        "read_message.pool",
        "read_record_batch.memo",
        "read_record_batch.pool",
        "slice.length",
    },
    "bytes": {"buffer_from_data", "copy_from_host", "write", "writeat"},
    "host buffer": {
        "buffer_from_data",
        "copy_from_host",
        "equals",
        "write",
        "writeat",
    },
    "float": {"read", "reader.seek"},
    "-1": {
        "buffer_from_data.size",
        "copy_from_device.nbytes",
        "copy_from_host.nbytes",
        "copy_to_host.nbytes",
        "index",
        "read",
    },
}


class Subjects:
    """What the calls work on."""

    def __init__(self, cuda, ctx, buffer, message):
        self.cuda, self.ctx, self.buffer = cuda, ctx, buffer
        self.small = ctx.buffer_from_data(b"xyz")
        self.batch = pa.record_batch([pa.array([1, 2, 3])], names=["x"])
        self.message, self.schema = message


OBJECTS = {
    "array": np.array([1, None]),
    "field": np.zeros(2, "i4, O"),
    "beside a date": np.zeros(2, "M8[s], O"),
    "view": memoryview(np.array([1, None])),
    "ctypes": (ctypes.py_object * 2)(1, 2),
}


@pytest.mark.parametrize("what", OBJECTS)
@pytest.mark.parametrize("call", ["buffer_from_data", "copy_from_host", "writeat"])
def test_addresses_of_objects_are_no_data(call, what, cuda, ctx, buffer, message):
    before = buffer.to_pybytes()
    with pytest.raises(TypeError, match="Python objects"):
        CALLS[call](Subjects(cuda, ctx, buffer, message), OBJECTS[what])
    assert buffer.to_pybytes() == before


def test_what_names_an_object_is_data(ctx):
    """Fields may be called O, and dates have no format."""
    for array in np.ones(2, [("O", "i4"), ("is:O", "u1")]), np.zeros(2, "M8[s]"):
        assert ctx.buffer_from_data(array).to_pybytes() == array.tobytes()


@pytest.mark.parametrize("call", CALLS)
def test_wrong_arguments_raise(call, cuda, ctx, buffer, message):
    subjects = Subjects(cuda, ctx, buffer, message)
    errors = (TypeError, ValueError, OverflowError, OSError, IndexError)
    for name, wrong in WRONG.items():
        if call in TAKES.get(name, ()):
            continue
        try:
            result = CALLS[call](subjects, wrong)
        except errors as error:
            said = str(error)
        else:
            pytest.fail(f"{call} of {name} gives {result!r}")
        assert said, f"{call} of {name} raises without a word"
        assert buffer.to_pybytes() == DATA


#: Calls that are refused, and the texts of the errors.
REFUSED = {
    "ctx.buffer_from_file('/dev/null', progress=1)": "TypeError: Argument 'progress' has incorrect",
    "buffer.copy_to_file('/dev/null', progress=1)": "TypeError: Argument 'progress' has incorrect",
    "ctx.table_from_file('/dev/null', progress=1)": "TypeError: Argument 'progress' has incorrect",
    "ctx.table_from_file('/dev/zero')": "ValueError: source argument must not be a device",
    "ctx.table_from_file(b'ARROW1' + bytes(20))": "OSError: the file of 26 bytes is cut off",
    "ctx.buffers_from_data(None)": "TypeError: 'NoneType' object is not iterable",
    "ctx.open_ipc_buffer(None)": "TypeError: expected IpcMemHandle instance, got NoneType",
    "ctx.new_buffer(-1)": "ValueError: nbytes argument must be non-negative, not -1",
    "ctx.foreign_buffer(buffer.address, -1)": "ValueError: size argument must be non-negative, not",
    "ctx.foreign_buffer(np.ones(8).ctypes.data, 64)": "OSError: Cuda error 1 in function",
    "ctx.foreign_buffer(0, 10)": (
        "OSError: Cuda error 1 in function 'cuPointerGetAttribute': [CUDA_ERROR_INVALID_VALUE] "
        "invalid argument; the driver does not know the address 0x0: it is pageable host memory, "
        "which a device cannot access, or was released. Context.buffer_from_data copies host data, "
        "and new_host_buffer allocates host memory that devices can access"
    ),
    "cuda.CudaBuffer.from_buffer(None)": "TypeError: expected Buffer instance, got NoneType",
    "buffer.equals(None)": "TypeError: Argument 'other' has incorrect type (expected pyarrow.lib",
    "buffer.slice(0, -1)": "ValueError: length argument must be non-negative, not -1",
    "ctx.new_buffer(0).slice(1, 1)": "ValueError: offset argument is out-of-range",
    "cuda.new_host_buffer(-1)": "ValueError: size argument must be non-negative, not -1",
    "cuda.BufferReader(None)": "TypeError: Argument 'obj' has incorrect type (expected pyarrow",
    "cuda.BufferReader(buffer).read_buffer(-5)": "ValueError: nbytes argument must be non-negative",
    "cuda.BufferWriter(None)": "TypeError: Argument 'buffer' has incorrect type (expected pyarrow",
    "setattr(cuda.BufferWriter(buffer), 'buffer_size', -1)": "ValueError: buffer_size argument",
    "cuda.IpcMemHandle.from_buffer(None)": "TypeError: Argument 'opaque_handle' has incorrect type",
    "cuda.read_message(None)": "TypeError: expected CudaBuffer or BufferReader instance, got None",
    "cuda.read_record_batch(None, pa.schema([]))": "TypeError: expected CudaBuffer instance, got",
    "cuda.read_record_batch(buffer, None)": "TypeError: expected Schema instance, got NoneType",
    "cuda.serialize_record_batch(None, ctx)": "TypeError: expected RecordBatch instance, got NoneT",
    "cuda.serialize_record_batch(batch, None)": "TypeError: expected Context instance, got None",
    "buffer.fill(256)": "ValueError: value argument must be from 0 to 255, not 256",
    "buffer.fill(0, 1)": "TypeError: CudaBuffer.fill() takes 1 positional arguments but 2 were",
    "buffer.__dlpack__(stream=0)": "ValueError: stream 0 is ambiguous: pass 1 for the legacy",
    "buffer.__dlpack__(stream=-2)": "ValueError: -2 does not name a CUDA stream",
    "buffer.__dlpack__(dl_device=(4, 0))": "BufferError: device memory cannot be copied to a",
    "frozen.__dlpack__()": "BufferError: the memory is read-only, which DLPack before 1.0 cannot",
    "cuda.from_dlpack(b'bytes')": "TypeError: expected an object with __dlpack__ and",
    "cuda.show_config(mode='json')": "ValueError: mode must be 'stdout' or 'dicts', not 'json'",
    "cuda.set_cache_limit(-1, ctx)": "ValueError: nbytes argument must be non-negative, not -1",
    "cuda.set_cache_limit(1.5, ctx)": "TypeError: 'float' object cannot be interpreted as an int",
    "cuda.set_cache_limit(1, None, None)": "TypeError: set_cache_limit() takes from 1 to 2 pos",
    "cuda.set_pinned_cache_limit(-1)": "ValueError: nbytes argument must be non-negative, not -1",
    "cuda.set_pinned_cache_limit(1.5)": "TypeError: 'float' object cannot be interpreted as an",
    "cuda.pinned_memory_stats(ctx)": "TypeError: pyarrow_cuda_compat.pinned_memory_stats() takes",
    "cuda.empty_pinned_cache(ctx)": "TypeError: pyarrow_cuda_compat.empty_pinned_cache() takes",
    "cuda.set_allocator(0)": "TypeError: ",
    "cuda.set_compute_engine('acero')": "ValueError: ",
    "cuda.set_transfer_limits(2)": "TypeError: set_transfer_limits() takes 0 positional",
    "cuda.set_transfer_limits(threads=-1)": "ValueError: threads argument must be non-negative",
    "cuda.set_transfer_limits(threads=257)": "ValueError: threads argument must be at most 256",
    "cuda.set_transfer_limits(pinned_bytes=-1)": "ValueError: pinned_bytes argument must be non",
    "cuda.set_transfer_limits(begin_after=-1)": "ValueError: begin_after argument must be non-neg",
    "cuda.PinnedMemoryPool()": "TypeError: Do not call PinnedMemoryPool's constructor directly",
    "cuda.pinned_memory_pool('0')": "TypeError: '0' names no place: ",
    "cuda.Stream('0')": "TypeError: ",
    "cuda.Stream(ctx, True)": "TypeError: Stream.__new__() takes from 0 to 1 positional",
    "cuda.Stream(ctx, priority='high')": "TypeError: ",
    "event.elapsed_time(cuda.Event(ctx, timing=True))": "ValueError: the end event was never reco",
    "DeviceArray(buffer)": "TypeError: DeviceArray of a buffer needs a dtype, such as numpy.uint8",
    "DeviceArray(buffer, 'x4')": "TypeError: data type 'x4' not understood",
    "DeviceArray(buffer, '<f4', (2**40, 2**40))": "ValueError: the array's size overflows",
    "DeviceArray(buffer, '<f4', (-1,))": "ValueError: ",
    "DeviceArray(array, '<i4')": "TypeError: DeviceArray has a dtype and a shape of its own",
    "DeviceArray(buffer, 'u1', (2, 2), (0, 1)).__setitem__(..., 1)": "ArrowInvalid: elements of",
    "DeviceArray.empty(3, context=True)": "TypeError: ",
    "array.__setitem__(0, [1, 2])": "ValueError: could not broadcast input array from shape (2,)",
    "array + 1": "TypeError: a device array has no operator 'add'",
    "float(array)": "TypeError: only arrays of one element can be converted to Python scalars",
    "array.item()": "ValueError: can only convert an array of size 1 to a Python scalar",
    "array['z']": "IndexError: only integers, slices",
    "array.astype('f4')": "NotImplementedError: a device array does not convert its elements",
    "array.transpose(0, 0)": "ValueError: repeated axis in transpose",
    "array.squeeze(0)": "ValueError: cannot select an axis to squeeze out which has size not equal",
    "array[:, ::2].view('u1')": "ValueError: To change to a dtype of a different size, the last",
    "np.array(array, copy=False)": "ValueError: an array in device memory cannot be a NumPy array",
    "array.to_arrow(pa.int32())": "TypeError: elements of dtype int64 cannot be values of type",
    "array[::-1].to_arrow()": "ValueError: Arrow's elements are contiguous in C order",
    "DeviceArray.from_host([True]).to_arrow()": "TypeError: NumPy's booleans are bytes, Arrow's",
    "DeviceArray.from_host([1j]).to_arrow()": "TypeError: Arrow has no complex numbers",
    "DeviceArray.from_host(np.zeros(2, [('a', 'i4')])).to_arrow()": "TypeError: Arrow has no",
}


@pytest.mark.parametrize("call", REFUSED)
def test_a_refusal_says_why(call, ctx, buffer):
    names = {
        "batch": pa.record_batch({"x": [1, 2]}),
        "buffer": buffer,
        "frozen": pyarrow_cuda_compat.CudaBuffer.from_buffer(pa.Buffer.slice(buffer)),
        "array": DeviceArray.from_host(np.arange(6).reshape(2, 3)),
        "event": pyarrow_cuda_compat.Event(ctx, timing=True),
    }
    names["event"].record()
    try:
        result = eval(call, globals() | {"cuda": pyarrow_cuda_compat, "ctx": ctx} | names)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    assert str(result).startswith(REFUSED[call])
    assert buffer.to_pybytes() == DATA


NEVER_MADE = [
    ["cuda.read_record_batch(message, fresh(pa.Schema))"],
    [
        "ctx.buffer_from_data(fresh(pa.Tensor))",
        "ctx.new_buffer(9).copy_from_host(fresh(pa.Tensor))",
        "cuda.BufferWriter(message).writeat(0, fresh(pa.Tensor))",
        "cuda.BufferWriter(message).write(fresh(pa.Buffer))",
        "message == fresh(pa.Buffer)",
        "cuda.new_host_buffer(9).equals(fresh(pa.Buffer))",
        "DeviceArray.from_host(fresh(pa.Tensor))",
        "DeviceArray.empty(9, '|u1').copy_to_device(fresh(pa.Buffer))",
        "DeviceArray.empty(9, '|u1').__setitem__(0, fresh(pa.Tensor))",
        "memory.to_device(fresh(pa.Buffer))",
        "gpu.DeviceArray_int64(fresh(pa.Buffer))",
        "fresh(cuda.BufferWriter).write(b'')",
        "pa.NativeFile.__new__(cuda.BufferReader).read_buffer()",
        "pa.NativeFile.__new__(cuda.BufferWriter).flush()",
        "object.__new__(cuda.Context).handle",
        "object.__new__(cuda.IpcMemHandle).serialize()",
        "cuda.IpcMemHandle()",
        "fresh(cuda.CudaBuffer).size",
        "fresh(cuda.HostBuffer).size",
        "fresh(cuda.BufferReader).read()",
        "pa.Buffer.__new__(cuda.CudaBuffer).size",
        "ctx.buffer_from_data(fresh(pa.Buffer))",
        "cuda.serialize_record_batch(fresh(pa.RecordBatch), ctx)",
        "pickle.dumps(pa.Array.__new__(pa.Int8Array))",
        "DeviceArray.from_host(pa.Array.__new__(pa.Int8Array))",
        "cuda.BufferWriter(message, message)",
        "cuda.BufferReader(buffer=message)",
        "grafted(cuda.BufferReader, pa.Buffer).read_buffer()",
        "grafted(cuda.BufferWriter, pa.Buffer).flush()",
        "grafted(cuda.BufferWriter, pa.NativeFile).flush()",
        "grafted(cuda.CudaBuffer, pa.NativeFile).to_pybytes()",
        "grafted(cuda.CudaBuffer, pa.Buffer).export_for_ipc()",
        "grafted(cuda.HostBuffer, pa.Buffer).slice()",
    ],
]


@pytest.mark.parametrize("calls", NEVER_MADE, ids=["schema", "others"])
def test_objects_that_were_never_made_raise(calls, run_python):
    code, out, err = run_python(
        "import pickle, sys\n"
        "import pyarrow as pa\n"
        "from pyarrow import cuda\n"
        "from pyarrow_cuda_compat import DeviceArray, memory, pygpu as gpu\n"
        "ctx = cuda.Context(0)\n"
        "batch = pa.record_batch([pa.array([1])], names=['x'])\n"
        "message = cuda.serialize_record_batch(batch, ctx)\n"
        "fresh = lambda c: c.__new__(c)\n"
        "members = {'_assert_readable': lambda self: None}\n"
        "grafted = lambda c, base: fresh(type('Grafted', (c.__mro__[1], base), members))\n"
        "for call in sys.argv[1:]:\n"
        "    print(call, flush=True)\n"
        "    try: print('no error:', eval(call))\n"
        "    except (TypeError, ValueError) as error: assert str(error)\n",
        *calls,
    )
    assert (out.splitlines(), code, err) == (calls, 0, "")


def test_out_of_memory_says_how_much_there_is_and_leaves_the_context_usable(ctx):
    text = "Cuda error 2 in function 'cuMemAlloc': [CUDA_ERROR_OUT_OF_MEMORY] out of memory"
    for size in (HUGE, 2**50):
        asked = rf"{size} bytes were requested, and (\d+) of (\d+) bytes are free on device 0"
        with pytest.raises(OSError, match=f"^{re.escape(text)}; {asked}$") as raised:
            ctx.new_buffer(size)
        free, total = map(int, re.search(asked, str(raised.value)).groups())
        assert 0 < free <= total < size
        assert type(raised.value) is OutOfMemoryError
        assert isinstance(raised.value, MemoryError)
        assert ctx.buffer_from_data(DATA).to_pybytes() == DATA


@given(offset=integers, length=st.none() | integers)
def test_slices_are_pythons(buffer, offset, length):
    valid = 0 <= offset < len(DATA) and (length is None or length >= 0)
    if not valid:
        with pytest.raises(ValueError, match=r"out-of-range|non-negative"):
            buffer.slice(offset, length)
        return
    part = buffer.slice(offset, length)
    expected = DATA[offset : None if length is None else offset + length]
    assert (part.size, part.address) == (len(expected), buffer.address + offset)
    assert part.to_pybytes() == expected


@given(start=st.none() | integers, stop=st.none() | integers, step=st.sampled_from([None, 1]))
def test_subscripts_are_pythons(buffer, start, stop, step):
    assert buffer[start:stop:step].to_pybytes() == DATA[start:stop:step]


@given(index=integers)
def test_indices_are_pythons(buffer, index):
    if -len(DATA) <= index < len(DATA):
        assert buffer[index] == DATA[index]
    else:
        with pytest.raises(IndexError):
            buffer[index]


def test_contexts_and_files_are_not_copied(cuda, ctx, buffer):
    for pickled in (ctx, cuda.BufferReader(buffer), cuda.BufferWriter(buffer)):
        assert weakref.ref(pickled)() is pickled
        for attempt in (pickle.dumps, copy.deepcopy):
            with pytest.raises((TypeError, NotImplementedError, BufferError)):
                attempt(pickled)


def test_subclasses_work(cuda, buffer):
    class Reader(cuda.BufferReader):
        reads = 0

        def read(self, nbytes=None):
            self.reads += 1
            return super().read(nbytes)

    reader = Reader(buffer)
    reader.extra = [reader]  # a cycle, for the collector
    assert reader.read_buffer(3).to_pybytes() == DATA[:3]
    assert (reader.read(3), reader.read(), reader.reads) == (DATA[3:6], DATA[6:], 2)
