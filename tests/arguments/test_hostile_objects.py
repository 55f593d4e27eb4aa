"""Objects that lie about themselves, never end, or change what was checked while they are asked.

Each group runs in a process of its own, which prints what it is about to do: a crash ends that
process, and the last line names the call.
"""

import pytest

SETUP = """
import functools, itertools, os, resource, sys, types
if os.environ.get("PYARROW_CUDA_DRIVER") == "sim":  # what never ends is to end here
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
import numpy as np
import pyarrow as pa
from pyarrow import cuda
from pyarrow_cuda_compat import DeviceArray, Stream, _native, memory
import pyarrow_cuda_compat.pygpu as gpu
from support.interfaces import Interface

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(bytes(range(100)))
array = DeviceArray(buf, "|u1")
stream = Stream(ctx)
Array = functools.partial(Interface, buf.address)
batch = pa.record_batch({"a": [1]})
message = cuda.serialize_record_batch(batch, ctx)

class Lying(list):
    def __len__(self):
        return 2**60

class Growing(list):
    def __iter__(self):
        for each in super().__iter__():
            self.append(each)
            yield each

class Claims:
    def __init__(self, cls):
        self.cls = cls
    __class__ = property(lambda self: self.cls)
    def _assert_readable(self):
        pass

class Resizes:
    # When it is asked for anything, it changes the size of a buffer first.
    def __init__(self, memory, size=0):
        self.memory, self.size = memory, size
    def now(self):
        if isinstance(self.memory, np.ndarray):
            self.memory.resize((self.size,), refcheck=False)
        else:
            self.memory.resize(self.size, shrink_to_fit=True)
    def __cuda_stream__(self):
        self.now()
        return 0, stream.handle
    def __index__(self):
        self.now()
        return 0
    def __buffer__(self, flags):
        self.now()
        return memoryview(bytes(100))

class Shrinking(np.ndarray):
    @property
    def flags(self):
        Resizes(self).now()
        return np.zeros(1).flags
    @property
    def shape(self):
        Resizes(self).now()
        return (10**6,)

class Unmade(pa.Tensor):
    type = pa.int8()

def resizable():
    made = pa.allocate_buffer(10**6, resizable=True)
    np.frombuffer(made, "|u1")[:] = 1
    return made

def ones():
    return np.ones(10**6, "|u1")

def shrinking():
    return ones().view(Shrinking).copy()

def into(call, make=resizable):
    return call(make())

IS_OLD = sys.version_info < (3, 12)  # in which Python's classes have no buffers
large = ctx.buffer_from_data(bytes(10**6))
zeros = DeviceArray(large, "|u1")
refused = (BufferError, IndexError, MemoryError, OSError, OverflowError, TypeError, ValueError)
"""

RUN = """
for line in sys.argv[1:]:
    print(line, flush=True)
    try:
        exec(line)
    except refused as error:
        assert str(error) or isinstance(error, MemoryError), type(error)
    else:
        assert line.startswith("assert"), "no error"
"""

SEQUENCES = """
ctx.buffer_from_object(Array(shape=range(2**40)))
ctx.buffer_from_object(Array(shape=range(2**62)))
ctx.buffer_from_object(Array(shape=itertools.count()))
ctx.buffer_from_object(Array(shape=Growing([1])))
ctx.buffer_from_object(Array(shape=10))
assert ctx.buffer_from_object(Array(shape=Lying([10]))).size == 10
DeviceArray(Array(strides=range(2**62)))
DeviceArray(Array(strides=Growing([1])))
assert DeviceArray(Array(strides=Lying([1]))).shape == (10,)
DeviceArray(buf, "|u1", range(2**40))
DeviceArray(buf, "|u1", range(2**62))
DeviceArray(buf, "|u1", (2,), itertools.count())
DeviceArray.empty(Growing([1]))
array[(None,) * 10**6]
array[(...,) * 10**6]
array.reshape(range(2**62))
array.transpose(range(2**62))
array.squeeze(itertools.repeat(0))
memory.device_array(range(2**31))
memory.device_array(itertools.count())
memory.device_array(3, strides=range(2**31))
memory.device_array_like(types.SimpleNamespace(shape=itertools.count(), dtype="f4"))
memory.pinned_array(itertools.count())
gpu.PagelockedAllocator(range(2**31), "f4")
gpu.PagelockedAllocator(itertools.count(), "f4")
assert [each.size for each in ctx.buffers_from_data(Lying([b"one", b"three"]))] == [3, 5]
ctx.buffers_from_data(itertools.repeat(b""))
ctx.buffers_from_data(Growing([b""]))
_native._assemble(pa.schema([]), Lying([]))
_native._assemble(pa.schema([]), range(2**62))
_native._assemble(pa.schema([]), itertools.repeat(pa.array([1])))
_native._array_of_arrow(None, buf, "|u1", range(2**62), 0, None, False)
_native._memory_of(range(2**62))
_native._memory_of([None]) + 1
_native._table_over_memory(ctx, pa.schema([]), itertools.repeat(1), True)
_native._table_over_memory(ctx, pa.schema([("", pa.int8())]), [3], True)
"""

# Some classes have to be these very ones, because their fields are read.
CLASSES = """
pa.array([1]).copy_to(Claims(pa.Device))
pa.array([1]).copy_to(Claims(pa.MemoryManager))
pa.record_batch({"a": [1]}).copy_to(Claims(pa.Device))
cuda.read_message(Claims(cuda.BufferReader))
cuda.serialize_record_batch(Claims(pa.RecordBatch), ctx)
cuda.read_record_batch(message, Claims(pa.Schema))
cuda.read_record_batch(message, batch.schema, dictionary_memo=Claims(pa.lib.DictionaryMemo))
ctx.buffer_from_object(Claims(cuda.HostBuffer))
ctx.buffer_from_data(Claims(pa.Buffer))
buf.copy_to_host(buf=Claims(pa.Buffer))
buf.copy_to_host(stream=Claims(Stream))
array.copy_to_host(Claims(np.ndarray))
ctx.buffer_from_data(Unmade.__new__(Unmade))
"""

# Each line begins with ones on the host and zeros on the device.
RESIZED = """
into(lambda out: large.copy_to_host(nbytes=10**6, buf=out, stream=Resizes(out)))
assert into(lambda out: large.copy_to_host(buf=out, stream=Resizes(out, 9))).size == 9
into(lambda out: large.copy_to_host(Resizes(out), 10**6, out))
into(lambda data: large.copy_from_host(data, nbytes=10**6, stream=Resizes(data)))
assert into(lambda data: large.copy_from_host(data, stream=Resizes(data, 9))) == 9
into(lambda data: large.copy_from_host(data, Resizes(data), 10**6))
into(lambda data: ctx.buffer_from_data(data, Resizes(data), 10**6))
assert into(lambda data: cuda.BufferWriter(large).writeat(Resizes(data), data)) is None
assert IS_OLD or into(lambda data: ctx.buffers_from_data([data, Resizes(data)]))[0].size == 0
into(lambda out: zeros.copy_to_host(out, stream=Resizes(out)), ones)
assert into(lambda out: zeros.copy_to_host(out, stream=stream), shrinking).size == 10**6
assert into(lambda out: zeros.copy_to_host(out), shrinking).size == 10**6
into(lambda data: zeros.copy_to_device(data, stream=Resizes(data)), ones)
assert into(lambda data: zeros.copy_to_device(data, stream=stream), shrinking) is None
into(lambda data: zeros.__setitem__(Resizes(data), data), ones)
assert into(lambda data: DeviceArray.from_host(data, context=Resizes(data)), ones).size == 0
"""

GROUPS = {"sequences": SEQUENCES, "classes": CLASSES, "resized": RESIZED}


@pytest.mark.parametrize("group", GROUPS)
def test_calls_with_hostile_objects(run_python, group):
    """Each call raises, unless it says what it returns."""
    lines = GROUPS[group].strip().split("\n")
    code, out, err = run_python(SETUP + RUN, *lines)
    done = out.splitlines()
    assert (code, err, done) == (0, "", lines), f"at {done[-1:]}: {err}"
