"""What other libraries write: each way to read it gives what the host gives, or refuses it, too."""

import struct
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest

from support.samples import CPU, wait_for_release
from support.written import READERS, Written

KINDS = ["file", "stream", "message"]
COMPRESSIONS = [None, "lz4", "zstd"]
WORDS = ["a", None, "a text of more than twelve bytes"]
NULLS = pa.record_batch({"x": pa.array([1, None, 3]), "s": WORDS, "l": [[1], None, [2, None]]})
FULL = pa.record_batch({"x": [1, 2, 3], "s": ["a", "b", "c"], "l": [[1], [], [2, 3]]})
REFUSALS = (OSError, pa.ArrowInvalid)
#: Those before compare no sizes.
HOST_REFUSES = pa.cpp_version_info.major >= 25


def read_on_host(written, schema):
    if written.kind == "message":
        message = pa.ipc.read_message(written.message())
        return pa.Table.from_batches([pa.ipc.read_record_batch(message, schema)])
    return READERS[written.kind](written.data).read_all()


def ways(cuda, ctx, written, schema):
    """The ways to read the data on a device."""
    if written.kind == "message":
        there = ctx.buffer_from_data(written.message())
        read = pa.ipc.read_record_batch
        return {
            "read_record_batch": lambda: cuda.read_record_batch(there, schema),
            "read_message": lambda: read(cuda.read_message(there), schema),
            "pyarrow's": lambda: read(pa.ipc.read_message(cuda.BufferReader(there)), schema),
        }
    there = ctx.buffer_from_data(written.data)
    return {
        "table_from_file": lambda: ctx.table_from_file(written.data),
        "reader_from_file": lambda: ctx.reader_from_file(written.data).read_all(),
        "pyarrow's": lambda: READERS[written.kind](cuda.BufferReader(there)).read_all(),
    }


def table_of(data):
    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    table = table.copy_to(CPU)
    table.validate(full=True)
    return table


def check(cuda, ctx, written, batch):
    """All ways read the batch, as the host does."""
    expected = pa.Table.from_batches([batch])
    assert read_on_host(written, batch.schema).equals(expected)
    before = ctx.bytes_allocated
    for name, read in ways(cuda, ctx, written, batch.schema).items():
        data = read()
        assert table_of(data).equals(expected), name
        if name in ("table_from_file", "reader_from_file", "read_record_batch"):
            assert not data.is_cpu, name
    del read, data
    wait_for_release(ctx, before)


def check_refused(cuda, ctx, written, batch, match):
    """No way reads it, the host included, but for what pyarrow itself reads before release 25."""
    if HOST_REFUSES:
        with pytest.raises(REFUSALS):
            read_on_host(written, batch.schema).validate(full=True)
    before = ctx.bytes_allocated
    for name, read in ways(cuda, ctx, written, batch.schema).items():
        is_ours = name in ("table_from_file", "read_record_batch")
        with pytest.raises(REFUSALS) if is_ours or HOST_REFUSES else suppress(REFUSALS) as refusal:
            table_of(read())
        if refusal is not None:
            assert "Cuda error" not in str(refusal.value), name
        if is_ours:
            assert match in str(refusal.value), name
    del read, refusal
    wait_for_release(ctx, before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_numbers_of_views_may_stand_between_two_multiples_of_8(cuda, ctx, kind, compression):
    """As Polars 1.0 to 1.30 writes them."""
    views = pa.array(WORDS, pa.string_view())
    batch = pa.record_batch({"v": views, "b": views.cast(pa.binary_view()), "n": [1, 2, 3]})
    check(cuda, ctx, Written(batch, kind, compression).with_moved_counts(), batch)


@pytest.mark.parametrize(
    "options",
    [*({"compression": each} for each in COMPRESSIONS), {"use_legacy_format": True}],
    ids=str,
)
def test_a_footer_needs_no_version(cuda, ctx, options):
    """As those of Perspective and of Arrow 0.14."""
    check(cuda, ctx, Written(NULLS, "file", **options).without_version(), NULLS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_nulls_that_nobody_has_counted_are_counted(cuda, ctx, kind, compression):
    written = Written(NULLS, kind, compression)
    for number in range(4):
        written.put(written.nodes() + 16 * number + 8, -1)
    check(cuda, ctx, written, NULLS)
    for read in ways(cuda, ctx, written, NULLS.schema).values():
        assert [column.null_count for column in read().columns] == [1, 1, 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("number", range(4))
def test_nulls_of_keys_have_to_be_counted(cuda, ctx, kind, compression, number):
    """libarrow compares the counts of a map's entries and keys with 0 when it makes the array."""
    maps = pa.array([[("a", None)], None, [("b", 2)]], pa.map_(pa.string(), pa.int8()))
    batch, (_, entries, keys, _) = pa.record_batch({"m": maps}), range(4)
    written = Written(batch, kind, compression)
    written.put(written.nodes() + 16 * number + 8, -1)
    if number in (entries, keys):
        check_refused(cuda, ctx, written, batch, "should have no nulls")
    else:
        check(cuda, ctx, written, batch)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_nulls_without_a_bitmap_cannot_be_counted(cuda, ctx, kind, compression):
    """libarrow counts bits that are not there, and pyarrow's own functions do not notice."""
    written = Written(FULL, kind, compression)
    written.put(written.nodes() + 8, -1)
    before = ctx.bytes_allocated
    for name, read in ways(cuda, ctx, written, FULL.schema).items():
        if name not in ("pyarrow's", "read_message"):
            with pytest.raises(pa.ArrowInvalid, match=r"too small|too short|0 bytes in buffer 0"):
                read()
    del read
    wait_for_release(ctx, before)


#: Where no buffer is, or no compressed one.
SENSELESS = [(1 << 20, 8), (-8, 8), (3, 8), (0, 1 << 62), (0, -5), (1 << 62, 0), (-1, 0), (8, 9)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("place", SENSELESS)
def test_a_bitmap_is_not_looked_at_where_nothing_is_null(cuda, ctx, kind, compression, place):
    written = Written(FULL, kind, compression)
    for number in (0, 2, 5, 7):
        written.put(written.buffers() + 16 * number, *place)
    check(cuda, ctx, written, FULL)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("number", [0, 1, 3, 4])
@pytest.mark.parametrize(
    ("place", "match"),
    [((1 << 20, 8), "outside"), ((-8, 8), "offset"), ((3, 8), "offset"), ((0, 1 << 62), "outside")],
)
def test_a_buffer_that_is_needed_has_to_be_there(
    cuda, ctx, kind, compression, number, place, match
):
    if compression is not None and kind == "message":
        match = ""  # libarrow's own refusal
    written = Written(NULLS, kind, compression)
    written.put(written.buffers() + 16 * number, *place)
    check_refused(cuda, ctx, written, NULLS, match)


def frame(data):
    return pa.compress(data, codec="zstd", asbytes=True)


def skipped(data):
    """A frame that decoders leave out."""
    return struct.pack("<II", 0x184D2A53, len(data)) + data


NUMBERS = np.random.default_rng(5).integers(0, 1 << 60, 400_000)
DATA = NUMBERS.tobytes()
BATCH = pa.record_batch({"x": NUMBERS})
FRAMES = {
    "two": [frame(DATA[:1000]), frame(DATA[1000:])],
    "many": [frame(DATA[at : at + 77_777]) for at in range(0, len(DATA), 77_777)],
    "skipped": [skipped(b"one"), frame(DATA), skipped(bytes(2 << 20)), skipped(b"")],
    "empty": [frame(b""), frame(DATA[:9]), frame(b""), frame(b""), frame(DATA[9:]), frame(b"")],
}
REFUSED_FRAMES = {
    "fewer bytes": [frame(DATA[:1000]), frame(DATA[1001:])],
    "more bytes": [frame(DATA), frame(b"1")],
    "a frame that is cut off": [frame(DATA[:1000]), frame(DATA[1000:])[:-1]],
    "a skipped frame that is cut off": [frame(DATA), skipped(b"one")[:-1]],
    "something else": [frame(DATA), b"something else"],
    "zeros": [frame(DATA), bytes(3)],
    "nothing": [skipped(b"one"), frame(b"")],
}


def with_frames(kind, frames, compression="zstd"):
    written = Written(BATCH, kind, compression)
    return written.with_body(b"", struct.pack("<q", len(DATA)) + b"".join(frames))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FRAMES)
def test_a_buffer_may_be_of_several_frames_of_zstd(cuda, ctx, kind, name):
    """As Velox writes it."""
    check(cuda, ctx, with_frames(kind, FRAMES[name]), BATCH)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REFUSED_FRAMES)
def test_frames_of_zstd_are_those_of_the_buffer(cuda, ctx, kind, name):
    check_refused(cuda, ctx, with_frames(kind, REFUSED_FRAMES[name]), BATCH, "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_buffer_is_one_frame_of_lz4(cuda, ctx, kind):
    one, other = (pa.compress(part, "lz4", asbytes=True) for part in (DATA[:1000], DATA[1000:]))
    check_refused(cuda, ctx, with_frames(kind, [one, other], "lz4"), BATCH, "")


def test_the_error_names_the_file_and_the_reason(ctx, tmp_path):
    written = Written(NULLS, "file")
    written.put(written.buffers() + 16, 1 << 20, 24)
    path = tmp_path / "x.arrow"
    path.write_bytes(written.data)
    text = "a buffer of 24 bytes at offset 1048576 lies outside the message's body of"
    with pytest.raises(pa.ArrowInvalid, match=text) as refusal:
        ctx.table_from_file(path)
    assert refusal.value.__notes__ == [f"while reading the file {str(path)!r}"]
    assert ctx.table_from_file(path, columns=["s"]).copy_to(CPU)["s"].to_pylist() == WORDS


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_reader_of_a_device_buffer_is_a_source(cuda, ctx, kind, compression):
    data, before = Written(NULLS, kind, compression).data, b"before" * 3
    source = cuda.BufferReader(ctx.buffer_from_data(before + data))
    source.seek(len(before))
    expected = pa.Table.from_batches([NULLS])
    assert ctx.table_from_file(source).copy_to(CPU).equals(expected)
    with pytest.raises(pa.ArrowInvalid, match="the source is at its end"):
        ctx.table_from_file(source)
    source.seek(len(before))
    assert ctx.reader_from_file(source).read_all().copy_to(CPU).equals(expected)
