"""A SmartArray moves its data when that is stale, and only then."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pyarrow_cuda_compat import DeviceArray, SmartArray, _native, memory
from support.driver import DOWN
from support.threads import in_thread, in_threads

VALUES = [1.0, 2.0, 3.0, 4.0]


@pytest.fixture
def transfers(driver, is_simulator):
    """A function that returns how often data went up and down since its last call."""
    if not is_simulator:
        pytest.skip("counts calls of the simulator")
    count = driver.library.cuda_sim_call_count

    def counts():
        return count(b"cuMemcpyHtoDAsync_v2"), sum(map(count, DOWN))

    last = counts()

    def transfers():
        nonlocal last
        before, last = last, counts()
        return tuple(now - was for now, was in zip(last, before, strict=True))

    return transfers


def on_device(array):
    return array.get("gpu").copy_to_host().tolist()


# --- what it is made of -------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["host", "gpu"])
@pytest.mark.parametrize("copy_", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda: np.array(VALUES),
        lambda: list(VALUES),
        lambda: memory.to_device(np.array(VALUES)),
        lambda: SmartArray(VALUES, where="gpu"),
        lambda: np.array(VALUES, "f4"),
        lambda: memory.to_device(np.array(VALUES, "f4")),
    ],
    ids=["ndarray", "list", "device array", "SmartArray", "other dtype", "other on device"],
)
def test_data_arrives_on_both_sides(make, copy_, where):
    obj = make()
    array = SmartArray(obj, copy_, dtype="f8", where=where)
    assert array.get().tolist() == on_device(array) == VALUES
    assert (array.shape, array.strides, array.dtype, array.ndim, array.size) == (
        (4,),
        (8,),
        np.dtype("f8"),
        1,
        4,
    )
    assert len(array) == 4


@pytest.mark.parametrize("where", ["host", "gpu"])
@pytest.mark.parametrize("shape", [(), 3, (2, 3), (0, 3), [2, 2, 2]])
@pytest.mark.parametrize("order", ["C", "F", None])
def test_shape_and_dtype(shape, order, where, ctx):
    before = ctx.bytes_allocated
    array = SmartArray(shape=shape, dtype="i4", order=order, where=where)
    assert (ctx.bytes_allocated > before) == (where == "gpu" and array.size > 0)
    expected = np.empty(shape, "i4", order or "C")
    array[...] = 7
    assert (array.shape, array.get().strides) == (expected.shape, expected.strides)
    assert array.get("gpu").strides == expected.strides or not expected.size
    assert (array.get("gpu").copy_to_host() == 7).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_object_in_another_order(order):
    host = np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2)
    for where in ("host", "gpu"):
        array = SmartArray(host, order=order, where=where)
        assert array.strides == np.array(host, order=order).strides
        assert np.array_equal(array.get("gpu").copy_to_host(), host)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"dtype": "f8"}, AssertionError, "needs an object, or a shape and a dtype"),
        ({"obj": VALUES, "where": "cpu"}, ValueError, '^"cpu" is not a valid target$'),
        ({"obj": [object()]}, TypeError, "cannot be on a device"),
        ({"shape": 3, "dtype": "O"}, TypeError, "cannot be on a device"),
        ({"obj": ["text"], "where": "gpu"}, TypeError, "cannot be on a device"),
    ],
)
def test_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        SmartArray(**arguments)


# --- transfers ----------------------------------------------------------------------------------


def test_data_travels_only_when_it_is_stale(transfers):
    array = SmartArray(VALUES)
    assert transfers() == (0, 0)
    array.get("gpu")
    array.gpu()
    assert transfers() == (1, 0)
    array.get()
    array.host()
    np.add(array, 1)
    assert transfers() == (0, 0)
    array.gpu().fill(5)
    transfers()
    array.gpu_changed()
    array.mark_changed("gpu")
    assert transfers() == (0, 0)
    assert array.get().tolist() == [5] * 4
    assert array.sum() == 20
    assert transfers() == (0, 1)
    array[1] = 7
    array.host_changed()
    assert transfers() == (0, 0)
    array.get("gpu")
    assert transfers() == (1, 0)


def test_what_needs_no_element_moves_nothing(transfers):
    array = SmartArray(np.arange(24.0).reshape(2, 3, 4), where="gpu")
    assert transfers() == (1, 0)
    kept = [array.shape, array.nbytes, array.itemsize, len(array), array.T, array[1:, ..., None]]
    kept += [array.reshape(4, 6), array.real, array.view("i4"), array.swapaxes(0, 1), array.ravel()]
    assert transfers() == (0, 0)
    assert np.array_equal(
        array[:, 1].get("gpu").copy_to_host(), np.arange(24).reshape(2, 3, 4)[:, 1]
    )
    assert transfers() == (0, 1)  # which copied the device's own array


def test_somebody_else_sees_what_has_changed(transfers):
    array = SmartArray(VALUES)
    held = array.get()
    part = array[1:].get()
    array.get("gpu").fill(5)
    transfers()
    array.mark_changed("gpu")
    assert transfers() == (0, 1)
    assert (held.tolist(), part.tolist()) == ([5] * 4, [5] * 3)
    del held
    array.mark_changed("gpu")
    assert transfers() == (0, 1)
    del part
    array.mark_changed("gpu")
    assert transfers() == (0, 0)
    on_the_device = array.get("gpu")
    array[0] = 9
    assert transfers() == (1, 1)
    assert on_the_device.copy_to_host().tolist() == [9, 5, 5, 5]


def test_the_last_word_counts():
    array = SmartArray(VALUES)
    array.get("gpu").fill(5)
    array.mark_changed("gpu")
    array._sides.host_memory()[:] = 7  # whoever writes to a stale side
    array.mark_changed("host")
    assert array.get().tolist() == on_device(array) == [7] * 4


# --- views --------------------------------------------------------------------------------------


def test_fields_and_parts_of_numbers_are_views():
    records = SmartArray(np.zeros(3, [("count", "i4"), ("share", "f8")]))
    records["share"] = 0.5
    records["count"].get("gpu").fill(7)
    records["count"].mark_changed("gpu")
    assert records.get().tolist() == [(7, 0.5)] * 3
    numbers = SmartArray(np.zeros(2, "c16"))
    numbers.imag = 1
    numbers.real[0] = 2
    assert on_device(numbers) == [2 + 1j, 1j]


def test_copies_share_nothing():
    array = SmartArray(np.arange(6))
    for made in (array.copy(), array[[0, 1]], array[array > 2], array + 0, array.astype("f4")):
        assert type(made) is SmartArray
        made[...] = 9
    assert array.get().tolist() == on_device(array) == [0, 1, 2, 3, 4, 5]


# --- any program --------------------------------------------------------------------------------

keys = st.sampled_from(
    [..., 0, -1, slice(1, None), slice(None, None, -2), (slice(None), 1), (0, slice(2)), [0, 2]]
)
sides = st.sampled_from(["host", "gpu"])


class Programs(RuleBasedStateMachine):
    """Whatever is done on whichever side: both sides have what an array of NumPy has."""

    def __init__(self):
        super().__init__()
        self.model = np.arange(12.0).reshape(3, 4)
        self.array = SmartArray(self.model)
        self.held = None

    @rule(key=keys, value=st.integers(0, 9))
    def assign(self, key, value):
        self.array[key] = value
        self.model[key] = value

    @rule(key=keys.filter(lambda key: not isinstance(key, list)), value=st.integers(0, 9))
    def change_on_device(self, key, value):
        self.array.get("gpu")[key] = value
        self.array.mark_changed("gpu")
        self.model[key] = value

    @rule(
        key=keys.filter(lambda key: not isinstance(key, list)), value=st.integers(0, 9), side=sides
    )
    def change_a_view(self, key, value, side):
        view = self.array[key]
        if isinstance(view, SmartArray):
            view.get(side)[...] = value
            view.mark_changed(side)
            self.model[key] = value

    @rule()
    def compute_in_place(self):
        self.array *= 2
        self.model *= 2
        np.minimum(self.array.T, 1000, out=self.array.T)
        np.minimum(self.model, 1000, out=self.model)

    @rule(side=sides)
    def ask(self, side):
        assert np.array_equal(np.asarray(self.array.get(side)), self.model)

    @rule(key=keys)
    def hold(self, key):
        self.held = self.array.get(), key

    @rule()
    def let_go(self):
        self.held = None

    @invariant()
    def what_is_held_is_up_to_date(self):
        if self.held is not None:
            held, key = self.held
            assert np.array_equal(held[key], self.model[key])


Programs.TestCase.settings = settings(max_examples=60, stateful_step_count=25)
TestPrograms = Programs.TestCase


@given(st.data())
def test_views_of_views_are_numpys(data):
    host = np.arange(24).reshape(2, 3, 4)
    array = SmartArray(host, where=data.draw(sides))
    for _ in range(3):
        key = data.draw(keys)
        try:
            host = host[key]
        except IndexError:
            continue
        array = array[key]
        if data.draw(st.booleans()):
            host, array = host.T, array.T
    assert np.array_equal(np.asarray(array), host)
    if isinstance(array, SmartArray):
        assert np.array_equal(array.get("gpu").copy_to_host(), host)


def test_threads_that_ask_at_once_copy_once(transfers):
    array = SmartArray(np.zeros(1 << 18, "i4"))
    for round_ in range(10):
        array.get("gpu").fill(round_)
        array.mark_changed("gpu")
        transfers()
        found = []
        in_threads(lambda _, found=found: found.append(set(np.unique(array.get()))), 4)
        assert found == [{round_}] * 4
        assert transfers() == (0, 1)


class Interrupted:
    """A lock; before this thread takes it, another thread does some work."""

    def __init__(self, lock, work):
        self.lock, self.work = lock, work
        self.thread, self.depth = threading.get_ident(), 0

    def __enter__(self):
        if threading.get_ident() == self.thread:
            if not self.depth:
                in_thread(self.work)
            self.depth += 1
        self.lock.acquire()

    def __exit__(self, *_):
        self.lock.release()
        if threading.get_ident() == self.thread:
            self.depth -= 1


@pytest.mark.parametrize("part", [slice(None), slice(1, None)])
@pytest.mark.parametrize(
    "take", [lambda array: array.__cuda_array_interface__, lambda array: array.__dlpack__()]
)
def test_nothing_is_lost_that_is_assigned_while_another_thread_lends(take, part):
    array = SmartArray(np.zeros(4))
    array.get("gpu")
    assigned = []

    def assign():
        assigned.append(len(assigned) + 1)
        array[0] = assigned[-1]

    lock = array._sides._lock
    lent = array[part]
    array._sides._lock = Interrupted(lock, assign)
    take(lent)
    array._sides._lock = lock
    assert assigned
    assert array[0] == assigned[-1]
    assert on_device(array)[0] == assigned[-1]


def write_by_ufunc(array):
    np.add(array, 1, out=array)


WRITES = [
    lambda array: array.__setitem__(0, 99),
    lambda array: array[1:].__setitem__(0, 99),
    lambda array: array.flat.__setitem__(0, 99),
    lambda array: setattr(array, "real", 99),
    lambda array: array.sort(),
    write_by_ufunc,
]


@pytest.mark.parametrize("where", ["host", "gpu"])
@pytest.mark.parametrize("write", WRITES)
def test_read_only_memory_of_the_device_is_read_only_on_the_host(ctx, where, write):
    buffer = ctx.buffer_from_data(np.array(VALUES).tobytes())
    array = SmartArray(DeviceArray(_native._read_only(buffer), "f8"), copy=False)
    array.get(where)
    with pytest.raises((ValueError, TypeError), match=r"read-only|readonly"):
        write(array)
    assert array.tolist() == on_device(array) == VALUES
    array.mark_changed()
    assert array.tolist() == on_device(array) == VALUES
    # Its owner may write to it.
    host = array.get()
    buffer.copy_from_host(np.array(VALUES[::-1]).tobytes())
    array.mark_changed("gpu")
    assert host.tolist() == array.tolist() == on_device(array) == VALUES[::-1]
    assert not host.flags.writeable
    writable = SmartArray(array)
    writable[0] = 99
    assert on_device(writable)[0] == 99


def test_copies_come_after_kernels_on_independent_streams(begin):
    array = SmartArray(np.zeros(1000, "u1"))
    on_gpu, stream = array.get("gpu"), begin()
    on_gpu.buffer.fill(7, stream=stream)
    array._sides.launched(stream)
    assert not stream.query()
    assert (array.get() == 7).all()
    on_gpu.buffer.fill(9, stream=begin())
    array._sides.launched(stream)
    array[0] = 1
    assert (array.get("gpu").copy_to_host()[:2] == [1, 7]).all() or (
        array.get()[:2] == [1, 9]
    ).all()
