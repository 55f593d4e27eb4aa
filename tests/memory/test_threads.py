"""Threads that share buffers; `tests/life` shows forks, and how the interpreter ends."""

import random
import threading

from support.threads import in_threads


def test_threads_allocate_copy_and_free_each_others_buffers(cuda, contexts):
    """32 threads pass buffers around; each checks what it gets, changes it and passes it on."""
    before = [context.bytes_allocated for context in contexts]
    shared, lock = {}, threading.Lock()

    def work(number):
        numbers = random.Random(number)
        for turn in range(40):
            mark = bytes([number, turn]) * numbers.choice((1, 50, 5000))
            buffer = contexts[(number + turn) % len(contexts)].buffer_from_data(mark)
            with lock:
                got = shared.pop(numbers.randrange(16), None)
                shared[numbers.randrange(16)] = (mark, buffer)
            if got is None:
                continue
            expected, theirs = got
            assert theirs.to_pybytes() == expected
            copy = theirs.context.buffer_from_data(theirs)
            assert copy.equals(theirs)
            assert buffer.slice(0).equals(buffer)
            assert cuda.BufferReader(copy).read() == expected

    in_threads(work, 32)
    shared.clear()
    assert [context.bytes_allocated for context in contexts] == before
