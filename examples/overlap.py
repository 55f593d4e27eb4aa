"""Sends data to the device piece by piece: while one piece travels, the next one is made.

Two pieces of pinned memory take turns, each with a stream of its own.
"""

from __future__ import annotations

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

PIECES = 16
PIECE = 1 << 20  # bytes


def produce(number: int, piece: cuda.HostBuffer) -> None:
    """Stands for what reads, decodes or computes on the host."""
    np.frombuffer(piece, np.uint8)[:] = number


def main() -> None:
    ctx = cuda.Context(0)
    target = ctx.new_buffer(PIECES * PIECE)
    lanes = [(Stream(ctx), cuda.new_host_buffer(PIECE)) for _ in range(2)]
    for number in range(PIECES):
        stream, piece = lanes[number % len(lanes)]
        stream.synchronize()  # the copy before the last one: its memory can be written again
        produce(number, piece)
        target.copy_from_host(piece, position=number * PIECE, stream=stream)  # returns at once
    ctx.synchronize()

    there = np.frombuffer(target.copy_to_host(), np.uint8).reshape(PIECES, PIECE)
    assert (there == np.arange(PIECES)[:, None]).all()
    print(f"{PIECES} pieces of {PIECE} bytes arrived in order")


if __name__ == "__main__":
    main()
