"""Large copies of pageable memory, by several threads and through pinned memory."""

import threading

import numpy as np
import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat as compat
from support.samples import CPU, written

from . import scenario

HOST = np.random.default_rng(26).integers(0, 256, 3_000_001, np.uint8)


def begin_at_once():
    compat.set_transfer_limits(threads=3, begin_after=0, pinned_bytes=2 << 20)


@scenario(prepare=begin_at_once)
def both_ways():
    buffer = cuda.Context().buffer_from_data(HOST)
    assert (np.frombuffer(buffer.copy_to_host(), np.uint8) == HOST).all()
    assert buffer.copy_from_host(HOST[:1_000_000], position=7) == 1_000_000
    assert buffer.slice(7, 1_000_000).to_pybytes() == HOST[:1_000_000].tobytes()


@scenario(prepare=begin_at_once)
def limits():
    begin_at_once()
    try:
        buffer = cuda.Context().new_buffer(len(HOST))
        buffer.copy_from_host(HOST)
        compat.set_transfer_limits(pinned_bytes=1 << 20, threads=2)
        assert buffer.to_pybytes() == HOST.tobytes()
    finally:
        compat.set_transfer_limits(threads=0)  # and gives the staging memory back
    assert buffer.to_pybytes() == HOST.tobytes()
    begin_at_once()


@scenario(prepare=begin_at_once)
def tables_of_files():
    table = pa.table({"x": HOST, "y": HOST})
    data = written(table.to_batches(), pa.ipc.new_file, compression="lz4")
    assert cuda.Context().table_from_file(data).copy_to(CPU).equals(table)


@scenario(prepare=begin_at_once)
def by_two_threads():
    """Whichever thread the failed call is in, the other one's copy arrives."""
    ctx = cuda.Context()
    failed = []

    def copy():
        try:
            assert ctx.buffer_from_data(HOST).to_pybytes() == HOST.tobytes()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=copy)
    thread.start()
    copy()
    thread.join()
    if failed:
        raise failed.pop()


@scenario(prepare=begin_at_once)
def files():
    buffer = cuda.Context().new_buffer(len(HOST))
    with cuda.BufferWriter(buffer) as writer:
        writer.write(HOST)
    with cuda.BufferReader(buffer) as reader:
        assert reader.read() == HOST.tobytes()
