"""Many threads use the package at once, and check every byte that they get back.

    python crowd.py [THREADS [SECONDS]]

Each thread knows what its memory must hold.  Meanwhile one thread empties the caches and changes
the limits.
"""

import faulthandler
import itertools
import random
import sys
import threading
import time

import numpy as np
import pyarrow as pa
from pyarrow import cuda

import pyarrow_cuda_compat as compat

MIB = 1 << 20
CPU = pa.default_cpu_memory_manager()


class Member:
    """What one thread does, turn after turn."""

    def __init__(self, number):
        self.chance = random.Random(number)
        self.contexts = [cuda.Context(device) for device in range(cuda.Context.get_num_devices())]
        self.block = np.frombuffer(self.chance.randbytes(8 * MIB), np.uint8)
        self.stream = compat.Stream(self.contexts[0])
        self.bytes = 0

    def part(self):
        size = int((8 * MIB) ** self.chance.random())
        return self.block[self.chance.randrange(len(self.block) - size + 1) :][:size]

    def turn(self):
        ctx, part = self.chance.choice(self.contexts), self.part()
        work = self.chance.choice(
            [self.there_and_back, self.through_a_slice, self.between, self.queued, self.in_a_batch]
        )
        work(ctx, part)
        self.bytes += len(part)

    def there_and_back(self, ctx, part):
        buffer = ctx.buffer_from_data(part)
        assert buffer.copy_to_host().equals(pa.py_buffer(part)), "there and back"

    def through_a_slice(self, ctx, part):
        buffer, at = ctx.new_buffer(len(part) + 100), self.chance.randrange(100)
        view = buffer.slice(at, len(part))
        del buffer
        view.copy_from_host(part)
        assert view.equals(pa.py_buffer(part)), "through a slice"

    def between(self, ctx, part):
        first = ctx.buffer_from_data(part)
        second = self.chance.choice(self.contexts).new_buffer(len(part))
        second.copy_from_device(first)
        del first
        assert second.to_pybytes() == part.tobytes(), "between buffers"

    def queued(self, ctx, part):
        pinned = cuda.new_host_buffer(len(part))
        np.frombuffer(pinned, np.uint8)[:] = part
        buffer = self.contexts[0].new_buffer(len(part))
        buffer.copy_from_host(pinned, stream=self.stream)
        del pinned
        self.stream.synchronize()
        assert buffer.copy_to_host().equals(pa.py_buffer(part)), "queued"

    def in_a_batch(self, ctx, part):
        batch = pa.record_batch({"a": part, "b": part[::-1]})
        device = batch.copy_to(ctx.memory_manager)
        assert device.copy_to(CPU).equals(batch), "in a batch"


def disturb(stop):
    for number in itertools.count():
        if stop.wait(0.05):
            break
        limits = {"threads": number % 4, "pinned_bytes": number % 3 << 20}
        compat.set_transfer_limits(**limits, begin_after=0)
        compat.empty_cache()
        compat.empty_pinned_cache()
    compat.set_transfer_limits()


def main(count=32, seconds=10):
    # A thread that hangs says where.
    faulthandler.dump_traceback_later(seconds + 120, exit=True)
    stop, failures = threading.Event(), []
    members = [Member(number) for number in range(count)]

    def run(work):
        try:
            work()
        except BaseException as error:
            failures.append(error)
            stop.set()

    def take_turns(member):
        for turn in itertools.count(1):
            if stop.is_set():
                turns.append(turn)
                return
            member.turn()

    turns, start = [], time.perf_counter()
    threads = [
        threading.Thread(target=run, args=(lambda member=member: take_turns(member),))
        for member in members
    ]
    threads.append(threading.Thread(target=run, args=(lambda: disturb(stop),)))
    for thread in threads:
        thread.start()
    stop.wait(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    taken, moved = time.perf_counter() - start, sum(member.bytes for member in members)
    print(f"{count} threads, {sum(turns)} turns, {moved / 1e9:.2f} GB checked in {taken:.1f} s")
    return "\n".join(map(repr, failures)) or None


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
