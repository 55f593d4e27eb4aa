"""Sizes of the buffers that views lead to: the C Device interface leaves open where they lie."""

import ctypes
import struct

import pyarrow as pa
import pytest

from support.c_device import ArrowArray, Exported, Made, made_array, only_stream
from support.samples import CPU

LONG = ["a word that is too long for a view itself", None, "short", "another of the long words"]


def views(kind):
    return pa.array([each and each.encode() for each in LONG]).cast(kind)


def on_the_device(ctx, sizes):
    """Memory with these sizes, and its address."""
    memory = ctx.buffer_from_data(sizes)
    return memory, memory.address


def on_the_host(_ctx, sizes):
    memory = ctypes.create_string_buffer(sizes)
    return memory, ctypes.addressof(memory)


def structure_of(array, ctx, put=on_the_device):
    """The memory into which the sizes of an array of views are put, and the array's structure."""
    first, *others = array.buffers()
    sizes = struct.pack(f"{len(others) - 1}q", *(each.size for each in others[1:]))
    memory, address = put(ctx, sizes)
    places = [first and first.address, *(each.address for each in others), address]
    return memory, made_array(len(array), places, null_count=-1)


def places_of(array):
    return [array.buffers[number] for number in range(array.n_buffers)]


class Watching(Made):
    """Knows what its release finds in the structure, which is to be what was made."""

    def _on_release(self, address):
        self.places = places_of(ArrowArray.from_address(address))
        super()._on_release(address)


@pytest.mark.parametrize("where", [on_the_device, on_the_host])
@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()])
def test_views_are_imported_wherever_their_sizes_lie(ctx, where, kind):
    host = views(kind)
    there = host.copy_to(ctx.memory_manager)
    memory, array = structure_of(there, ctx, where)
    places = places_of(array)
    made = Watching(kind, array, owner=memory)
    imported = pa.array(made)
    assert imported.copy_to(CPU).equals(host)
    del imported
    assert (made.released, made.places) == (1, places)


def test_views_within_others(ctx):
    kind = pa.struct([("a", pa.string_view())])
    host = views(pa.string_view())
    there = host.copy_to(ctx.memory_manager)
    memory, child = structure_of(there, ctx)
    made = Made(kind, made_array(len(host), [None], [child]), owner=memory)
    imported = pa.array(made)
    assert imported.field(0).copy_to(CPU).equals(host)
    del imported
    assert made.released == 1


def test_sizes_that_end_too_early_are_refused(ctx):
    there = views(pa.string_view()).copy_to(ctx.memory_manager)
    memory, array = structure_of(there, ctx)
    places = places_of(array)
    places[3:-1] = [places[2]] * 100_000
    made = Made(pa.string_view(), made_array(len(there), places), owner=memory)
    with pytest.raises(pa.ArrowInvalid, match="ends after"):
        pa.array(made)
    assert made.released == 1


@pytest.mark.parametrize("address", [0x40, 2**63, 0x41])
def test_sizes_that_nobody_can_read_are_refused(ctx, address):
    there = views(pa.string_view()).copy_to(ctx.memory_manager)
    memory, array = structure_of(there, ctx)
    array.buffers[array.n_buffers - 1] = address
    made = Made(pa.string_view(), array, owner=memory)
    with pytest.raises(pa.ArrowInvalid, match=f"{address:#x} cannot be read"):
        pa.array(made)
    assert made.released == 1


def test_sizes_on_another_device_are_refused(ctx, other_ctx):
    there = views(pa.string_view()).copy_to(ctx.memory_manager)
    memory, array = structure_of(there, other_ctx)
    made = Made(pa.string_view(), array, owner=memory)
    with pytest.raises(pa.ArrowInvalid, match="lies on device 1"):
        pa.array(made)
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
        assert pa.array(Exported(chunk)).copy_to(CPU).equals(chunk.copy_to(CPU))
