"""How a row's work is prepared with a peer, and how its result is checked."""

from __future__ import annotations

from . import (
    arrays,
    batches,
    busy,
    copies,
    equality,
    files,
    memory,
    processes,
    processor,
    sizes,
    threads,
)
from .base import Work

# By the names that rows refer to.
WORKS: dict[str, Work] = {
    work.__name__: work
    for work in (
        copies.up,
        copies.down,
        copies.fresh,
        copies.kept,
        copies.up_after_pause,
        copies.device_copy,
        copies.stream_copy,
        copies.both_ways,
        copies.to_second_device,
        memory.allocate,
        memory.allocate_pinned,
        equality.equal,
        equality.equal_host,
        batches.serialize,
        batches.read,
        batches.batch_up,
        batches.batch_down,
        batches.buffers_up,
        files.file_up,
        files.file_parts_up,
        files.file_new,
        files.file_down,
        arrays.call,
        arrays.array_call,
        arrays.array_to_numpy,
        arrays.array_from_numpy,
        arrays.array_transpose,
        busy.queue_beside_busy,
        busy.allocate_beside_busy,
        busy.up_beside_busy,
        threads.in_threads,
        threads.small_beside_large,
        processes.in_processes,
        processes.first_up,
        processor.processor_time,
        processor.cores,
        sizes.random_sizes,
        sizes.random_reserved,
        sizes.small_buffers,
    )
}

__all__ = ["WORKS", "Work"]
