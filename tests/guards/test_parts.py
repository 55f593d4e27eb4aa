"""What is made of parts on a device: pyarrow's errors are those of the same parts on the host."""

import pyarrow as pa
import pytest

NUMBERS, WORDS = pa.array([1, 2]), pa.array(["a"])
BATCH = pa.record_batch({"a": NUMBERS})


@pytest.mark.parametrize(
    "call",
    [
        lambda put: pa.concat_arrays([put(NUMBERS), put(WORDS)]),
        lambda put: pa.concat_arrays([put(NUMBERS), put(BATCH)]),
        lambda put: pa.concat_arrays([put(BATCH)]),
        lambda put: pa.concat_arrays([put(NUMBERS)], 1),
        lambda put: pa.concat_arrays(arrays=[put(NUMBERS)], pool=None),
        lambda put: pa.concat_arrays([put(NUMBERS)], arrays=[put(NUMBERS)]),
        lambda put: pa.concat_batches([put(NUMBERS)]),
        lambda put: pa.concat_batches([put(BATCH), put(BATCH.rename_columns(["b"]))]),
        lambda put: pa.concat_batches([put(BATCH), put(pa.record_batch({"a": WORDS}))]),
    ],
)
def test_parts_that_are_not_alike(ctx, call):
    with pytest.raises((TypeError, pa.ArrowInvalid)) as expected:
        call(lambda data: data)
    with pytest.raises(type(expected.value)) as found:
        call(lambda data: data.copy_to(ctx))
    assert str(found.value) == str(expected.value)


#: Offsets, and pyarrow's error for each; on the host it leaves the last two for `validate`.
OFFSETS = {
    "beyond the values": ([0, 5], "larger than values array"),
    "negative": ([-1, 1], "Negative offsets"),
    "negative at the end": ([0, -1], "Negative offsets"),
    "backwards": ([2, 0], "First offset larger than last"),
    "up and down": ([0, 2, 0], "non-monotonic"),
    "far away": ([0, 2**31 - 1, 2], r"non-monotonic|larger|out of bounds"),
}
CLASSES = {
    "list": lambda offsets, values: pa.ListArray.from_arrays(offsets, values),
    "large list": lambda offsets, values: pa.LargeListArray.from_arrays(offsets, values),
    "map": lambda offsets, values: pa.MapArray.from_arrays(offsets, values, values),
}


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("name", OFFSETS)
def test_offsets_on_a_device_are_checked(ctx, kind, name):
    numbers, error = OFFSETS[name]
    offsets = pa.array(numbers, pa.int64() if kind == "large list" else pa.int32())
    for sliced in (offsets, pa.concat_arrays([offsets[:1], offsets]).slice(1)):
        for values in (NUMBERS, NUMBERS.copy_to(ctx)):
            with pytest.raises(pa.ArrowInvalid, match=error):
                CLASSES[kind](sliced.copy_to(ctx), values)
    good = pa.array([0, 1, 2], offsets.type)
    found = CLASSES[kind](good.copy_to(ctx), NUMBERS.copy_to(ctx))
    host = pa.default_cpu_memory_manager()
    assert found.copy_to(host).equals(CLASSES[kind](good, NUMBERS))


@pytest.mark.parametrize(("first", "size"), [(0, 3), (2, 1), (-1, 1), (0, -1)])
def test_views_on_a_device_are_checked(ctx, first, size):
    parts = [pa.array([number], pa.int32()).copy_to(ctx) for number in (first, size)]
    with pytest.raises(pa.ArrowInvalid, match=r"out of bounds|negative|Offset invariant failure"):
        pa.ListViewArray.from_arrays(*parts, NUMBERS.copy_to(ctx))
