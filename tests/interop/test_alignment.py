"""Addresses from which kernels of other libraries cannot load: a fault ends the context."""

from contextlib import nullcontext

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, from_dlpack
from support.c_device import Exported, structure
from support.samples import ALL, CPU

# The alignment of each buffer's address; children's buffers come after their parent's.
ALIGNMENTS = {
    "int8": (4, 1),
    "int16": (4, 2),
    "float64": (4, 8),
    "bool": (4, 4),
    "date32": (4, 4),
    "timestamp us": (4, 8),
    "decimal32": (4, 4),
    "decimal128": (4, 16),
    "decimal256": (4, 16),
    "month_day_nano_interval": (4, 8),
    "fixed binary": (4, 1),
    "string": (4, 4, 1),
    "large_binary": (4, 8, 1),
    "list": (4, 4, 4, 4),
    "large list": (4, 8, 4, 8),
    "fixed list": (4, 4, 2),
    "struct": (4, 4, 8, 4, 4, 1),
}
EVERY = pytest.mark.parametrize("name", ALIGNMENTS)
EVERY_PLACE = pytest.mark.parametrize("place", [0, 1, 2, 4, 8])


def moved(ctx, array, place):
    """The array on a device, with each buffer `place` bytes after a multiple of 16."""

    def there(buffer):
        if buffer is None:
            return None
        whole = ctx.new_buffer(buffer.size + 32)
        part = whole.slice(-whole.address % 16 + place, buffer.size)
        part.copy_from_host(buffer)
        return part

    kind, children, own = array.type, [], 2
    if pa.types.is_struct(kind):
        children, own = [array.field(number) for number in range(kind.num_fields)], 1
    elif pa.types.is_nested(kind):
        children, own = [array.values], 1 if pa.types.is_fixed_size_list(kind) else 2
    elif pa.types.is_string(kind) or pa.types.is_large_binary(kind):
        own = 3
    buffers = [there(buffer) for buffer in array.buffers()[:own]]
    children = [moved(ctx, child, place) for child in children]
    return pa.Array.from_buffers(
        kind, len(array), buffers, null_count=array.null_count, children=children
    )


def addresses_of(exported):
    inner = [exported.children[number].contents for number in range(exported.n_children)]
    own = [exported.buffers[number] or 0 for number in range(exported.n_buffers)]
    return own + [address for each in inner for address in addresses_of(each)]


@EVERY_PLACE
@EVERY
def test_c_device_exports_have_addresses_that_kernels_can_load_from(ctx, name, place):
    there = moved(ctx, ALL[name], place)
    before = [0 if buffer is None else buffer.address for buffer in there.buffers()]
    exported = there.__arrow_c_device_array__()
    after = addresses_of(structure(exported[1]).array)
    for old, new, alignment in zip(before, after, ALIGNMENTS[name], strict=True):
        assert new % alignment == 0
        assert old % alignment or new == old
    del exported
    batch = pa.record_batch([there, there], ["a", "b"])
    for taken in (pa.array(Exported(there)), pa.record_batch(Exported(batch)).column(1)):
        assert taken.copy_to(CPU).equals(ALL[name])
    table = pa.Table.from_batches([batch])
    taken = pa.RecordBatchReader._import_from_c_device_capsule(table.__arrow_c_device_stream__())
    assert taken.read_all().copy_to(CPU)["b"].combine_chunks().equals(ALL[name])


@EVERY_PLACE
@EVERY
def test_own_kernels_load_from_every_address(ctx, name, place):
    there, expected = moved(ctx, ALL[name], place), pa.chunked_array([ALL[name]] * 2)
    chunks = pa.chunked_array([there, there])
    assert chunks.combine_chunks().copy_to(CPU).equals(expected.combine_chunks())
    joined = pa.chunked_array([there.slice(1), there]).combine_chunks().copy_to(CPU)
    assert joined.equals(pa.concat_arrays([ALL[name][1:], ALL[name]]))
    assert chunks.copy_to(CPU).equals(expected)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8", "c8", "c16", "M8[s]"])
@EVERY_PLACE
def test_other_arrays_that_are_not_aligned_leave_as_copies(ctx, dtype, place):
    dtype = np.dtype(dtype)
    whole = ctx.new_buffer(128)
    start = -whole.address % 16 + place
    array = DeviceArray(whole, dtype, 3, offset=start)
    host = np.arange(3 * dtype.itemsize, dtype="u1").view(dtype)
    array.copy_to_device(host)
    is_aligned = place % dtype.itemsize == 0
    refused = pytest.raises(BufferError, match=r"multiples of \d+ bytes.*array\.copy\(\)")
    leave = [lambda array: array.__cuda_array_interface__]
    if dtype.kind != "M":
        leave += [lambda array: array.__dlpack__(), lambda array: array.__dlpack__(copy=False)]
        assert from_dlpack(array, copy=True).copy_to_host().tobytes() == host.tobytes()
        assert array.__dlpack__(copy=True)
    for each in leave:
        assert each(array.copy())
        with nullcontext() if is_aligned else refused:
            assert each(array)
    assert array.copy_to_host().tobytes() == host.tobytes()
