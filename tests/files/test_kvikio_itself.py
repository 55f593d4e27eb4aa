"""Files by KvikIO, where it is installed: with GPUDirect Storage, or as it does without."""

import numpy as np
import pytest

kvikio = pytest.importorskip("kvikio")

pytestmark = [pytest.mark.foreign, pytest.mark.hardware]
CONTENT = (np.arange((64 << 20) + 5) % 251).astype(np.uint8)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "data.bin"
    path.write_bytes(CONTENT)
    return path


PARTS = [(0, 0), (0, 1), (3, 1000), (4096, 8 << 20)]


@pytest.mark.parametrize(("offset", "size"), [*PARTS, (1, None)])
def test_it_reads(ctx, path, offset, size):
    buffer = ctx.buffer_from_file(path, offset, size, kvikio=True)
    expected = CONTENT[offset:] if size is None else CONTENT[offset : offset + size]
    assert buffer.size == expected.size
    assert buffer.to_pybytes() == expected.tobytes()


@pytest.mark.parametrize(("offset", "size"), PARTS)
def test_it_writes(ctx, path, offset, size):
    buffer = ctx.buffer_from_data(CONTENT[7 : 7 + size])
    assert buffer.copy_to_file(path, offset=offset, kvikio=True) == size
    expected = CONTENT.copy()
    expected[offset : offset + size] = CONTENT[7 : 7 + size]
    assert path.read_bytes() == expected.tobytes()


def test_it_tells_of_progress(ctx, path):
    told = []
    buffer = ctx.buffer_from_file(path, kvikio=True, progress=lambda *all: told.append(all))
    assert told == [(64 << 20, CONTENT.size), (CONTENT.size, CONTENT.size)]
    buffer.copy_to_file(path, kvikio=True, progress=lambda *all: told.append(all))
    assert told[2:] == told[:2]


def test_its_copies_wait_for_what_was_queued_before(ctx, path, begin, stream):
    buffer = ctx.new_buffer(8 << 20)
    begin()
    buffer.fill(1, stream=stream)
    buffer.copy_to_file(path, kvikio=True)
    assert path.read_bytes() == b"\1" * buffer.size


def test_whether_it_is_worth_it_is_as_kvikio_says():
    from kvikio import cufile_driver, defaults

    from pyarrow_cuda_compat._methods import kvikio

    kvikio._has_direct_storage.cache_clear()
    expected = not defaults.is_compat_mode_preferred() and cufile_driver.get("is_gds_available")
    assert kvikio._has_direct_storage() == bool(expected)
