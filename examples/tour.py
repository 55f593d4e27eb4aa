"""A tour of pyarrow.cuda, printed as an interactive session would show it.

    python examples/tour.py

It needs an NVIDIA GPU, or PYARROW_CUDA_DRIVER=sim for the simulated device.
"""

# ruff: noqa: B015, B018  (the session shows what an expression gives)

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pyarrow as pa
from pyarrow import cuda


def second_process(handle: bytes) -> object:
    """Opens the first process's memory, reads it, and writes into it."""
    opaque = cuda.IpcMemHandle.from_buffer(pa.py_buffer(handle))
    shared = cuda.Context(0).open_ipc_buffer(opaque)
    found = shared.to_pybytes()
    shared.copy_from_host(b"from the second process")
    return found


def tour() -> None:
    # A context: the device, and what is allocated on it.
    cuda.Context.get_num_devices()
    ctx = cuda.Context(0)
    ctx.device
    ctx.bytes_allocated

    # A buffer on the device, from a NumPy array: its size and its address there.
    array = np.arange(1000, dtype=np.int32)
    buffer = ctx.buffer_from_data(array)
    buffer
    buffer.size
    hex(buffer.address)
    not buffer.is_cpu
    ctx.bytes_allocated

    # Back to the host, whole or in part; the result is an ordinary buffer.
    np.array_equal(np.frombuffer(buffer.copy_to_host(), dtype=np.int32), array)
    np.frombuffer(buffer.copy_to_host(position=40, nbytes=12), dtype=np.int32)

    # From the host, over a part of it.
    buffer.copy_from_host(np.array([-1, -2, -3], dtype=np.int32), position=40)
    np.frombuffer(buffer.copy_to_host(position=36, nbytes=20), dtype=np.int32)

    # A slice is the same memory, and keeps it.
    part = buffer.slice(40, 12)
    part.address - buffer.address, part.size
    np.frombuffer(part.to_pybytes(), dtype=np.int32)

    # Equality is found out on the device.
    same = ctx.buffer_from_data(np.array([-1, -2, -3], dtype=np.int32))
    part.equals(same)
    not part.equals(buffer.slice(0, 12))

    # Where pyarrow hands out a generic buffer, from_buffer finds the device memory behind it.
    foreign = pa.Array.from_buffers(pa.int32(), 3, [None, part]).buffers()[1]
    cuda.CudaBuffer.from_buffer(foreign).address == part.address

    # Pinned host memory: an ordinary buffer to the CPU, and fast to copy from and to.
    pinned = cuda.new_host_buffer(12)
    pinned
    pinned.is_cpu
    np.frombuffer(pinned, dtype=np.int32)[:] = [7, 8, 9]
    part.copy_from_host(pinned)
    np.frombuffer(part.copy_to_host(), dtype=np.int32)

    # A record batch to the device, as one message; its columns lie on the device.
    batch = pa.record_batch({"id": [1, 2, 3], "name": ["one", None, "three"]})
    message = cuda.serialize_record_batch(batch, ctx)
    on_device = cuda.read_record_batch(message, batch.schema)
    on_device.column("id").buffers()[1]

    # And back.
    on_host = pa.ipc.read_record_batch(pa.BufferReader(message.copy_to_host()), batch.schema)
    on_host.to_pydict()
    on_host.equals(batch)

    # A second process opens the memory by a handle, without a copy, and writes into it.
    shared = ctx.buffer_from_data(b"from the first process.")
    handle = shared.export_for_ipc().serialize().to_pybytes()
    len(handle)
    second = ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn"))
    second.submit(second_process, handle).result(timeout=120)
    second.shutdown()
    shared.to_pybytes() == b"from the second process"

    # Memory without references is free again; exported memory stays.
    del buffer, part, same, foreign, message, on_device
    ctx.bytes_allocated == shared.size


def play(session: Callable[[], None]) -> None:
    """Runs a function's body statement by statement, and shows each with what it gives.

    The tour has no expression that is False when all is well.
    """
    lines, _ = inspect.getsourcelines(session)
    body = textwrap.dedent("".join(lines[1:]))
    names = dict(globals())
    shown = 0
    for statement in ast.parse(body).body:
        end = statement.end_lineno or statement.lineno
        for line in body.splitlines()[shown:end]:
            print(f">>> {line}" if line and not line.startswith("#") else line)
        shown = end
        source = ast.get_source_segment(body, statement) or ""
        if isinstance(statement, ast.Expr):
            value = eval(source, names)
            if value is not None:
                print(repr(value))
            if value is False:
                sys.exit("That should have been True.")
        else:
            exec(source, names)


if __name__ == "__main__":
    print(f"Python {sys.version.split()[0]}, pyarrow {pa.__version__}\n")
    play(tour)
