"""Sizes of the buffers that views lead to: the C Device interface leaves open where they lie."""

import ctypes
import struct

import pyarrow as pa
import pytest

from support.c_device import CUDA, ArrowArray, Made, made_array, only_stream
from support.samples import CPU

LONG = ["a word that is too long for a view itself", None, "short", "another of the long words"]


def views(kind):
    return pa.array([each and each.encode() for each in LONG]).cast(kind)


def parts_of(array, sizes_of, keep):
    """The structure of an array of views, whose sizes `sizes_of` puts into memory."""
    first, *others = array.buffers()
    sizes = struct.pack(f"{len(others) - 1}q", *(each.size for each in others[1:]))
    places = [first and first.address, *(each.address for each in others), sizes_of(sizes, keep)]
    return made_array(len(array), places, null_count=-1)


def on_the_device(ctx):
    def put(sizes, keep):
        keep.append(ctx.buffer_from_data(sizes))
        return keep[-1].address

    return put


def on_the_host(_ctx):
    def put(sizes, keep):
        keep.append(ctypes.create_string_buffer(sizes))
        return ctypes.addressof(keep[-1])

    return put


class Watching(Made):
    """Knows what its release finds in the structure, which is to be what was made."""

    def _on_release(self, address):
        array = ArrowArray.from_address(address)
        self.places = [array.buffers[number] for number in range(array.n_buffers)]
        super()._on_release(address)


@pytest.mark.parametrize("where", [on_the_device, on_the_host])
@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
def test_views_are_imported_wherever_their_sizes_lie(ctx, where, kind):
    host = views(kind)
    there = host.copy_to(ctx.memory_manager)
    keep = []
    array = parts_of(there, where(ctx), keep)
    places = [array.buffers[number] for number in range(array.n_buffers)]
    made = Watching(kind, array, device_type=CUDA)
    imported = pa.Array._import_from_c_device_capsule(*made.__arrow_c_device_array__())
    assert imported.copy_to(CPU).equals(host)
    del imported
    assert made.released == 1
    assert made.places == places


def test_views_within_others(ctx):
    kind = pa.struct([("a", pa.string_view())])
    host = views(pa.string_view())
    there = host.copy_to(ctx.memory_manager)
    keep = []
    child = parts_of(there, on_the_device(ctx), keep)
    made = Made(kind, made_array(len(host), [None], [child]), device_type=CUDA)
    imported = pa.Array._import_from_c_device_capsule(*made.__arrow_c_device_array__())
    assert imported.field(0).copy_to(CPU).equals(host)
    del imported
    assert made.released == 1


def test_sizes_that_end_too_early_are_refused(ctx):
    there = views(pa.string_view()).copy_to(ctx.memory_manager)
    keep = []
    array = parts_of(there, on_the_device(ctx), keep)
    places = [array.buffers[number] for number in range(array.n_buffers)]
    places[3:-1] = [places[2]] * 100_000
    array = made_array(len(there), places)
    made = Made(pa.string_view(), array, device_type=CUDA)
    with pytest.raises(pa.ArrowInvalid, match="ends after"):
        pa.Array._import_from_c_device_capsule(*made.__arrow_c_device_array__())
    assert made.released == 1


def test_sizes_on_another_device_are_refused(ctx, other_ctx):
    there = views(pa.string_view()).copy_to(ctx.memory_manager)
    keep = []
    made = Made(pa.string_view(), parts_of(there, on_the_device(other_ctx), keep), device_type=CUDA)
    with pytest.raises(pa.ArrowInvalid, match="lies on device 1"):
        pa.Array._import_from_c_device_capsule(*made.__arrow_c_device_array__())
    assert made.released == 1


@pytest.mark.parametrize("on_device", [False, True])
def test_short_strings_cast_to_views_have_no_characters(ctx, on_device):
    """Before pyarrow 25, their buffer is null, which pyarrow's own export crashes on."""
    short = pa.array(["a", None, "bc"]).cast(pa.string_view())
    nested = pa.StructArray.from_arrays([short, short], names=["a", "b"])
    table = pa.table({"short": short, "nested": nested})
    there = table.copy_to(ctx.memory_manager) if on_device else table
    back = pa.RecordBatchReader.from_stream(only_stream(there)).read_all()
    assert back.copy_to(CPU).equals(table)
    for column in there.columns:
        (chunk,) = column.chunks
        capsules = chunk.__arrow_c_device_array__()
        assert (
            pa.Array._import_from_c_device_capsule(*capsules)
            .copy_to(CPU)
            .equals(chunk.copy_to(CPU))
        )
