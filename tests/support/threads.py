"""Runs work in threads, and raises their exceptions in the calling thread."""

import threading
from concurrent.futures import ThreadPoolExecutor


def in_thread(work):
    """The result of work that another thread does."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def in_threads(work, count):
    """Calls `work(number)` in as many threads, which begin together."""
    start = threading.Barrier(count)

    def begin(number):
        start.wait()
        work(number)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(begin, range(count)))
