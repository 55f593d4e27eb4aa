"""Sequences of calls against a model in NumPy, with arguments that use the package meanwhile.

`ci/check machine` runs many more of them, by Hypothesis's profile `long`.
"""

import copy
import gc
import pickle
import sys
import weakref
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

import pyarrow_cuda_compat as cuda
from support.reentry import Cycle, Leaves, Reenters, collecting, unraisable
from support.samples import CPU, wait_for_release

# Around what the small copies, the engine and the allocator treat differently.
SIZES = st.one_of(st.integers(0, 40), st.sampled_from([512, 4096, 70_000, 300_000, 2_500_000]))
NUMBERS = st.one_of(
    st.integers(-50, 50), st.sampled_from([-(2**63), 2**31, 2**62, 2**63 - 1, 2**63, 2**64])
)
BYTES = st.integers(0, 255)
DTYPES = st.sampled_from(["|u1", "<i2", "<f4", "<i8", ">i4", "<c16", "|b1", "M8[ns]", "V3"])
REFUSALS = (
    ValueError,
    IndexError,
    OverflowError,
    TypeError,
    OSError,
    BufferError,
    pa.ArrowException,
)
BATCHES = [
    pa.record_batch({"x": [1, None, 3], "y": ["a", "bb", None]}),
    pa.record_batch({"x": pa.array([], pa.float64())}),
    pa.record_batch({"l": [[1], [], None], "s": [{"a": 1}, None, {"a": 2}]}),
    pa.record_batch({f"{n}": np.arange(100) for n in range(20)}),
]


class Pair:
    """A thing of the package, and the NumPy array that it should equal."""

    alive: ClassVar = weakref.WeakSet()

    def __init__(self, real, model):
        self.real, self.model = real, model
        self.alive.add(self)


class Memory(Pair):
    """A device buffer, and its bytes."""

    def check(self):
        assert self.real.size == self.model.size
        assert self.real.to_pybytes() == self.model.tobytes()


class Array(Pair):
    """A device array; the model of a view is a view in NumPy."""

    def check(self):
        assert (self.real.shape, self.real.dtype) == (self.model.shape, self.model.dtype)
        assert self.real.copy_to_host().tobytes() == self.model.tobytes()


class Pinned(Pair):
    def check(self):
        assert self.real.to_pybytes() == self.model.tobytes()


def content(size, seed):
    return (np.arange(size, dtype=np.uint32) * 2654435761 + seed >> 13).astype(np.uint8)


def is_aligned(array):
    """Whether kernels of other libraries can load each element: the protocols refuse others."""
    number = array.dtype.itemsize & -array.dtype.itemsize
    steps = [step for step, count in zip(array.strides, array.shape, strict=True) if count > 1]
    return array.size == 0 or not any(place % number for place in (array.address, *steps))


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except REFUSALS:
        return True
    return False


class Machine(RuleBasedStateMachine):
    memories = Bundle("memories")
    arrays = Bundle("arrays")
    pins = Bundle("pins")

    def __init__(self):
        super().__init__()
        self.contexts = [cuda.Context(n) for n in range(min(2, cuda.Context.get_num_devices()))]
        self.before = [context.bytes_allocated for context in self.contexts]
        self.streams = [cuda.Stream(context) for context in self.contexts]
        self.live = []
        self.failures = []
        self.asked_objects = []

    def teardown(self):
        self.live.clear()
        self.asked_objects.clear()
        # Hypothesis itself keeps the last rule's arguments and result.
        for pair in list(Pair.alive):
            pair.real = None
        for context in self.contexts:
            context.synchronize()
        gc.collect()
        if sys.exc_info()[1] is None:  # the traceback of a failure keeps its buffers
            for context, before in zip(self.contexts, self.before, strict=True):
                # A cycle of an earlier run may have gone meanwhile.
                wait_for_release(context, min(before, context.bytes_allocated))

    def add(self, pair):
        self.live.append(pair)
        return pair

    # --- what arguments do while they are asked ----------------------------------------------

    def action(self, kind, seed):
        """Something that changes nothing which the model knows, or the same in it."""
        context = self.contexts[seed % len(self.contexts)]

        def allocate():
            data = content(seed * 7, seed)
            assert context.buffer_from_data(data).to_pybytes() == data.tobytes()

        def write():
            if self.live:
                pair = self.live[seed % len(self.live)]
                if isinstance(pair, Memory):
                    pair.real.fill(seed)
                    pair.model[:] = seed

        def read():
            if self.live:
                self.live[seed % len(self.live)].check()

        def limits():
            cuda.set_transfer_limits(threads=seed % 4)
            cuda.empty_cache()
            cuda.empty_pinned_cache()

        def forget():
            Cycle(context.new_buffer(100), cuda.new_host_buffer(100), cuda.Stream(context))
            gc.collect(0)

        def batch():
            message = cuda.serialize_record_batch(BATCHES[0], context)
            read = cuda.read_record_batch(message, BATCHES[0].schema)
            assert read.copy_to(CPU).equals(BATCHES[0])

        def copy_array():
            array = cuda.DeviceArray.from_host(np.arange(6).reshape(2, 3).T)
            assert array.copy_to_host().tolist() == [[0, 3], [1, 4], [2, 5]]

        known = [allocate, write, read, limits, forget, batch, copy_array]
        return known[kind % len(known)]

    def asked(self, answer, act):
        """`answer`, or an object that acts before it gives it."""
        if act is None:
            return answer
        return self.watched(Reenters(answer, self.action(*act)))

    def watched(self, asked):
        self.asked_objects.append(asked)
        return asked

    @invariant()
    def no_action_has_failed(self):
        for asked in self.asked_objects:
            if asked.failure is not None:
                raise asked.failure
        self.asked_objects.clear()
        if self.failures:
            raise self.failures[0]

    ACT = st.one_of(st.none(), st.tuples(st.integers(0, 6), BYTES))

    # --- memory ------------------------------------------------------------------------------

    @rule(target=memories, size=SIZES, seed=BYTES, device=st.integers(0, 1), act=ACT)
    def upload(self, size, seed, device, act):
        context = self.contexts[device % len(self.contexts)]
        data = content(size, seed)
        real = context.new_buffer(self.asked(size, act))
        assert real.copy_from_host(data) == size
        return self.add(Memory(real, data))

    @rule(target=memories, sizes=st.lists(st.integers(0, 5000), min_size=1, max_size=4), seed=BYTES)
    def upload_together(self, sizes, seed):
        data = [content(size, seed + n) for n, size in enumerate(sizes)]
        pairs = [
            Memory(*pair)
            for pair in zip(self.contexts[0].buffers_from_data(data), data, strict=True)
        ]
        self.live += pairs
        return pairs[0]

    @rule(target=memories, size=st.integers(1, 5000), act=ACT, in_cycle=st.booleans())
    def foreign(self, size, act, in_cycle):
        """Memory of another owner, whose destructor uses the package."""
        data = content(size, 3)
        owned = self.contexts[0].buffer_from_data(data)
        address = owned.address
        action = self.action(*act) if act and act[0] != 1 else lambda: None

        def leave():
            try:
                action()
            except BaseException as failure:
                self.failures.append(failure)

        base = (owned, Leaves(leave))
        real = self.contexts[0].foreign_buffer(address, size, Cycle(base) if in_cycle else base)
        return self.add(Memory(real, data))

    @rule(target=memories, memory=memories, offset=NUMBERS, length=NUMBERS, act=ACT)
    def part(self, memory, offset, length, act):
        size = memory.model.size
        is_within = 0 <= offset < size or offset == size == 0
        if not (is_within and 0 <= length < 2**63):
            assert refused(memory.real.slice, self.asked(offset, act), self.asked(length, act))
            return memory
        real = memory.real.slice(self.asked(offset, act), self.asked(length, act))
        return self.add(Memory(real, memory.model[offset : offset + length]))

    @rule(memory=memories, position=NUMBERS, size=st.integers(0, 60), seed=BYTES, act=ACT,
          on_stream=st.booleans())  # fmt: skip
    def write(self, memory, position, size, seed, act, on_stream):
        data = content(size, seed)
        stream = None
        if on_stream:
            stream = self.asked(self.streams[memory.real.context.device_number], act)
        options = {"position": self.asked(position, act), "stream": stream}
        if 0 <= position <= memory.model.size - size:
            memory.real.copy_from_host(data, **options)
            memory.model[position : position + size] = data
        else:
            # It writes as much as fits, or nothing.
            fits = max(memory.model.size - position, 0) if position >= 0 else 0
            if not refused(memory.real.copy_from_host, data, **options):
                memory.model[position:] = data[:fits]

    @rule(memory=memories, position=NUMBERS, nbytes=NUMBERS, act=ACT, pin=pins)
    def read(self, memory, position, nbytes, act, pin):
        size = memory.model.size
        left = size - position
        is_possible = 0 <= position <= size and (nbytes < 0 or nbytes <= left)
        arguments = self.asked(position, act), self.asked(nbytes, act)
        if not is_possible:
            refused(memory.real.copy_to_host, *arguments)
            return
        wanted = left if nbytes < 0 else nbytes
        host = memory.real.copy_to_host(*arguments)
        assert host.to_pybytes() == memory.model[position : position + wanted].tobytes()
        if wanted <= pin.model.size:
            stream = self.streams[memory.real.context.device_number]
            memory.real.copy_to_host(*arguments, buf=pin.real, stream=self.asked(stream, act))
            stream.synchronize()
            pin.model[:wanted] = memory.model[position : position + wanted]
            pin.check()

    @rule(memory=memories, value=NUMBERS, position=NUMBERS, act=ACT, on_stream=st.booleans())
    def fill(self, memory, value, position, act, on_stream):
        stream = self.streams[memory.real.context.device_number] if on_stream else None
        call = (memory.real.fill, self.asked(value, act))
        options = {"position": self.asked(position, act), "stream": stream}
        if 0 <= value < 256 and 0 <= position <= memory.model.size:
            call[0](*call[1:], **options)
            memory.model[position:] = value
        else:
            assert refused(*call, **options)

    @rule(to=memories, source=memories, position=st.integers(0, 50), act=ACT,
          on_stream=st.booleans())  # fmt: skip
    def copy_between(self, to, source, position, act, on_stream):
        # Which of two overlapping ranges is read first is the driver's to say.
        if np.shares_memory(to.model, source.model):
            return
        fits = position + source.model.size <= to.model.size
        options = {"position": self.asked(position, act)}
        if on_stream:
            options["stream"] = self.streams[to.real.context.device_number]
        if fits:
            to.real.copy_from_device(source.real, **options)
            to.model[position : position + source.model.size] = source.model
        else:
            refused(to.real.copy_from_device, source.real, **options)
            to.model[:] = np.frombuffer(to.real.to_pybytes(), np.uint8)

    @rule(one=memories, other=memories)
    def compare(self, one, other):
        is_equal = one.model.tobytes() == other.model.tobytes()
        assert one.real.equals(other.real) is is_equal
        assert one.real.equals(pa.py_buffer(other.model.tobytes())) is is_equal

    @rule(target=memories, memory=memories, how=st.integers(0, 2))
    def duplicate(self, memory, how):
        if how == 0:
            real = copy.deepcopy(memory.real)
        elif how == 1:
            real = pickle.loads(pickle.dumps(memory.real, protocol=5))
        else:
            real = memory.real.context.buffer_from_data(memory.real)
        return self.add(Memory(real, memory.model.copy()))

    @rule(memory=memories, writes=st.lists(st.tuples(BYTES, st.integers(0, 40)), max_size=4),
          buffered=st.integers(0, 64), act=ACT)  # fmt: skip
    def write_file(self, memory, writes, buffered, act):
        writer = cuda.BufferWriter(memory.real)
        writer.buffer_size = self.asked(buffered, act)
        at = 0
        for seed, size in writes:
            if at + size <= memory.model.size:
                data = content(size, seed)
                writer.write(data)
                memory.model[at : at + size] = data
                at += size
        writer.close()

    @rule(memory=memories, position=st.integers(0, 60), nbytes=st.integers(0, 60), act=ACT)
    def read_file(self, memory, position, nbytes, act):
        reader = cuda.BufferReader(memory.real)
        if position > memory.model.size:
            assert refused(reader.seek, position)
            return
        reader.seek(position)
        read = reader.read_buffer(self.asked(nbytes, act))
        assert read.to_pybytes() == memory.model[position : position + nbytes].tobytes()

    @rule(memory=consumes(memories))
    def forget(self, memory):
        self.live = [pair for pair in self.live if pair is not memory]

    # --- pinned memory -----------------------------------------------------------------------

    @initialize(target=pins)
    def first_pinned(self):
        return self.pinned(100, 1, None)

    @rule(target=pins, size=SIZES, seed=BYTES, act=ACT)
    def pin(self, size, seed, act):
        return self.pinned(size, seed, act)

    def pinned(self, size, seed, act):
        real = cuda.new_host_buffer(self.asked(size, act) if act else size)
        data = content(size, seed)
        np.frombuffer(real, np.uint8)[:] = data
        return Pinned(real, data)

    @rule(memory=memories, pin=pins, act=ACT)
    def upload_pinned(self, memory, pin, act):
        size = min(memory.model.size, pin.model.size)
        stream = self.streams[memory.real.context.device_number]
        source = pin.real.slice(0, size)
        memory.real.copy_from_host(source, stream=self.asked(stream, act))
        stream.synchronize()
        memory.model[:size] = pin.model[:size]

    # --- arrays ------------------------------------------------------------------------------

    @rule(target=arrays, dtype=DTYPES, shape=st.lists(st.integers(0, 5), max_size=4), seed=BYTES,
          order=st.sampled_from("CF"), act=ACT)  # fmt: skip
    def array(self, dtype, shape, seed, order, act):
        dtype = np.dtype(dtype)
        data = content(int(np.prod(shape)) * dtype.itemsize, seed)
        if dtype.kind == "b":
            data &= 1
        model = data.view(dtype).reshape(shape).copy(order)
        # From Python 3.12 on, NumPy prefers a buffer, whose format makes V3 a structure.
        host = model if dtype.kind == "V" else self.asked(model, act)
        return self.add(Array(cuda.DeviceArray.from_host(host, order=order), model))

    @rule(
        target=arrays, memory=memories, count=st.integers(0, 9), offset=st.integers(0, 20), act=ACT
    )
    def view_memory(self, memory, count, offset, act):
        arguments = memory.real, "<i2", (self.asked(count, act),)
        if offset + 2 * count > memory.model.size:
            assert refused(cuda.DeviceArray, *arguments, offset=offset)
            return self.array("|u1", [3], 0, "C", None)
        real = cuda.DeviceArray(*arguments, offset=self.asked(offset, act))
        model = memory.model[offset : offset + 2 * count].view("<i2")
        return self.add(Array(real, model))

    ENTRY = st.one_of(
        st.integers(-6, 6),
        st.builds(slice, *[st.one_of(st.none(), st.integers(-7, 7))] * 3),
        st.just(Ellipsis),
        st.none(),
    )

    @rule(target=arrays, array=arrays, key=st.lists(ENTRY, max_size=4), act=ACT)
    def index(self, array, key, act):
        real_key = tuple(self.asked(each, act) if type(each) is int else each for each in key)
        try:
            model = array.model[tuple(key)]
        except (IndexError, ValueError):
            assert refused(lambda: array.real[real_key])
            return array
        if not isinstance(model, np.ndarray):  # NumPy copies an element
            model = (
                array.model[(*key, Ellipsis)] if Ellipsis not in key else array.model[tuple(key)]
            )
        return self.add(Array(array.real[real_key], np.asarray(model)))

    @rule(array=arrays, key=st.lists(ENTRY, max_size=3), seed=BYTES, act=ACT,
          value=st.integers(0, 100))  # fmt: skip
    def assign(self, array, key, seed, act, value):
        if array.model.dtype.kind in "VM":
            return
        key = tuple(key)
        try:
            part = array.model[key]
        except (IndexError, ValueError):
            assert refused(array.real.__setitem__, key, 0)
            return
        values = np.full(np.shape(part), value).astype(array.model.dtype)
        # NumPy asks an object that becomes an element for its index or its truth, not for an array.
        array.real[key] = self.asked(values, act) if values.ndim else value
        array.model[key] = values

    @rule(target=arrays, array=arrays, how=st.integers(0, 5), axes=st.permutations(range(4)))
    def change(self, array, how, axes):
        real, model = array.real, array.model
        if how == 0:
            pair = real.T, model.T
        elif how == 1:
            pair = real.copy(), model.copy()
        elif how == 2:
            axes = [axis for axis in axes if axis < model.ndim] + [*range(4, model.ndim)]
            pair = real.transpose(axes) if axes else real.transpose(), model.transpose(axes or None)
        elif how == 3:
            pair = real.squeeze(), model.squeeze()
        elif how == 4:
            pair = pickle.loads(pickle.dumps(real)), model.copy()
        else:
            if model.dtype.kind not in "iufc" or not model.dtype.isnative:
                return array
            if not is_aligned(real):
                assert refused(cuda.from_dlpack, real)
                return array
            taken = self.watched(Reenters(real, self.action(axes[0], axes[1])))
            pair = cuda.from_dlpack(taken), model
        return self.add(Array(*pair))

    @rule(to=arrays, source=arrays, act=ACT)
    def copy_arrays(self, to, source, act):
        if to.model.dtype != source.model.dtype or to.model.shape != source.model.shape:
            return
        is_asked = act and is_aligned(source.real)
        to.real.copy_to_device(self.asked(source.real, act) if is_asked else source.real)
        to.model[...] = source.model.copy()

    @rule(array=arrays)
    def through_arrow(self, array):
        if (
            array.model.ndim != 1
            or array.model.dtype.kind not in "iuf"
            or not array.model.dtype.isnative
        ):
            return
        arrow = array.real.to_arrow()
        assert arrow.copy_to(CPU).to_numpy().tobytes() == array.model.tobytes()
        assert cuda.DeviceArray.from_arrow(arrow).copy_to_host().tobytes() == array.model.tobytes()

    @rule(array=consumes(arrays))
    def forget_array(self, array):
        self.live = [pair for pair in self.live if pair is not array]

    # --- batches, and everything at once -----------------------------------------------------

    @rule(
        number=st.integers(0, len(BATCHES) - 1), device=st.integers(0, 1), start=st.integers(0, 3)
    )
    def batch(self, number, device, start):
        context = self.contexts[device % len(self.contexts)]
        batch = BATCHES[number].slice(min(start, BATCHES[number].num_rows))
        there = batch.copy_to(context.memory_manager)
        assert there.copy_to(CPU).equals(batch)
        message = cuda.serialize_record_batch(batch, context)
        assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)

    @rule(act=st.tuples(st.integers(0, 6), BYTES))
    def collect(self, act):
        with collecting(self.action(*act)), unraisable(self.action(*act)) as told:
            Cycle(self.contexts[0].new_buffer(10), Leaves(self.action(0, 1)))
            gc.collect(1)  # young ones; all would take long
        assert not told

    @precondition(lambda self: len(self.live) > 0)
    @rule()
    def check_all(self):
        for pair in self.live:
            pair.check()


TestMachine = Machine.TestCase
if settings.get_current_profile_name() == "tests":
    TestMachine.settings = settings(max_examples=50, stateful_step_count=30)
TestMachine.pytestmark = [pytest.mark.independent, pytest.mark.alone]
