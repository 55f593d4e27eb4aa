"""Copies, messages, files, pickles and exchanges of data beyond 2^31 bytes and rows."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

from .data import HOST, MOST, ROWS, at, bits, buffer, down, ends, numbers, up, word, words

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.alone,
    pytest.mark.large,
    pytest.mark.leaks,
    pytest.mark.unwatched,
]


def check_numbers(data, rows=ROWS):
    assert len(data) == rows
    assert all(at(data, row) == [row % 256] for row in ends(rows))


def check_words(data, rows):
    assert len(data) == rows
    assert all(at(data, row) == [word(row)] for row in {0, rows // 2, rows - 1})


def check_bits(data, rows, true):
    assert len(data) == rows
    for row in true:
        assert at(data, row - 1, 3) == [False, True, False]


BITS, TRUE = 2**32 + 64, (5, 2**31, 2**32 + 2)


def test_copies_between_host_and_device(ctx):
    host = np.arange(ROWS, dtype=np.uint32).astype(np.uint8)
    there = ctx.buffer_from_data(host)
    assert there.size == ROWS
    array = pa.Array.from_buffers(pa.uint8(), ROWS, [None, there], 0)
    check_numbers(array)
    assert np.array_equal(np.frombuffer(there.copy_to_host(), np.uint8), host)
    there.copy_from_host(b"\xff\xfe", position=MOST - 1, nbytes=2)
    assert there.copy_to_host(MOST - 1, 3).to_pybytes() == bytes([255, 254, (MOST + 1) % 256])


def test_copies_of_arrays(cupy):
    values, flags, strings = numbers(cupy, ROWS), bits(cupy, BITS, TRUE), words(cupy, MOST // 1000)
    for where in (0, HOST):
        check_numbers(values.copy_to(where))
        check_bits(flags.copy_to(where), BITS, TRUE)
        check_words(strings.copy_to(where), MOST // 1000)
    check_numbers(up(down(values)))
    # A slice takes what it reaches.
    far = values.slice(MOST + 1, 1000).copy_to(0)
    assert far.buffers()[1].size < 10_000
    assert down(far).to_pylist() == [(MOST + 1 + row) % 256 for row in range(1000)]
    assert at(flags.slice(2**32 + 1).copy_to(0), 0, 3) == [False, True, False]
    table = pa.table({"a": pa.chunked_array([values.slice(0, MOST), values.slice(MOST)])})
    check_numbers(table.copy_to(0)["a"])


def test_strings_at_the_limit(cupy):
    rows = MOST // 1000 + 1
    strings = down(words(cupy, rows, bytes_=MOST))
    strings.validate(full=True)
    assert len(strings[rows - 1].as_py()) == MOST % 1000
    assert at(up(strings), rows - 2) == [word(rows - 2)]


def test_arrays_that_become_one(cupy):
    parts = [numbers(cupy, MOST), pa.array([7], pa.uint8()).copy_to(0), numbers(cupy, ROWS)]
    one = pa.concat_arrays(parts)
    assert len(one) == MOST + 1 + ROWS
    assert at(one, MOST - 1, 3) == [(MOST - 1) % 256, 7, 0]
    check_numbers(one.slice(MOST + 1))
    flags = pa.concat_arrays([bits(cupy, BITS, TRUE), bits(cupy, 64, [3])])
    check_bits(flags, BITS + 64, (*TRUE, BITS + 3))
    half = words(cupy, 1_200_000)
    with pytest.raises(pa.ArrowInvalid, match="offset overflow"):
        pa.concat_arrays([half, half])


def test_equality(cupy):
    one, other = (cupy.zeros(2 * MOST, cupy.uint8) for _ in range(2))
    assert buffer(one).equals(buffer(other))
    other[2 * MOST - 1] = 1
    assert not buffer(one).equals(buffer(other))


def test_messages(cupy, ctx):
    batch = pa.record_batch({"a": numbers(cupy, MOST)})
    message = cuda.serialize_record_batch(batch, ctx)
    assert message.size > MOST
    check_numbers(cuda.read_record_batch(message, batch.schema).column(0), MOST)
    with pytest.raises(pa.lib.ArrowCapacityError, match=r"arrays larger than 2\^31 - 1"):
        cuda.serialize_record_batch(pa.record_batch({"a": numbers(cupy, ROWS)}), ctx)
    strings = pa.record_batch({"s": words(cupy, MOST // 1000)})
    message = cuda.serialize_record_batch(strings, ctx)
    check_words(cuda.read_record_batch(message, strings.schema).column(0), MOST // 1000)


def test_files(cupy, ctx, tmp_path):
    path = tmp_path / "large.arrow"
    batch = pa.record_batch({"a": numbers(cupy, MOST), "b": numbers(cupy, MOST)})
    with pa.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch.slice(0, 10))
    table = ctx.table_from_file(path)
    check_numbers(table["a"].chunk(0), MOST)
    check_numbers(table["b"].chunk(0), MOST)
    assert down(table["a"].chunk(1)).to_pylist() == list(range(10))


def test_pickles(cupy):
    array = numbers(cupy, ROWS)
    buffers = []
    there = pickle.dumps(array, protocol=5, buffer_callback=buffers.append)
    check_numbers(pickle.loads(there, buffers=buffers))
    del buffers
    check_numbers(pickle.loads(pickle.dumps(array)))


def test_tensors(cupy):
    array = numbers(cupy, ROWS)
    tensor = cupy.from_dlpack(array)
    assert tensor.shape == (ROWS,)
    assert int(tensor[MOST + 5]) == (MOST + 5) % 256
    check_numbers(from_dlpack(tensor).to_arrow())
    view = DeviceArray(tensor)
    assert view.shape == (ROWS,)
    assert int(view[MOST + 5 : MOST + 6].copy_to_host()[0]) == (MOST + 5) % 256
    check_numbers(view.to_arrow())


def test_structures_of_the_c_device_interface(cupy):
    for array, check in (
        (numbers(cupy, ROWS), check_numbers),
        (words(cupy, MOST // 1000), lambda it: check_words(it, MOST // 1000)),
    ):
        schema, structure = array.__arrow_c_device_array__()
        check(pa.Array._import_from_c_device_capsule(schema, structure))


def test_more_chunks_than_one_array_holds(cupy):
    chunks = pa.chunked_array([words(cupy, 900_000, start) for start in (0, 900_000, 1_800_000)])
    check_words(chunks, 2_700_000)
    check_words(up(down(chunks)), 2_700_000)
    assert down(chunks.slice(1_799_999, 2)).to_pylist() == [word(1_799_999), word(1_800_000)]
