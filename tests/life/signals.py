"""Signals that arrive all the time, during every kind of call; their handlers use the package."""

import gc
import os
import signal
import sys
from contextlib import suppress
from functools import partial

import numpy as np

import pyarrow_cuda_compat as compat

from . import states, work
from .children import Case

INTERVAL = 0.0007
TIMERS = {signal.SIGALRM: signal.ITIMER_REAL, signal.SIGPROF: signal.ITIMER_PROF}
TURNS = 12
#: How often a handler that raises ends a work.
RAISED = 40


class Interrupted(Exception):
    """Raised by a handler."""


def raises():
    raise Interrupted


HANDLERS = {
    "copies": work.small_copies,
    "makes large copies": work.large_copies,
    "allocates": work.allocations,
    "waits": work.streams,
    "changes limits": lambda: (
        compat.set_transfer_limits(threads=2, begin_after=0),
        compat.set_cache_limit(1 << 20),
        compat.empty_pinned_cache(),
    ),
    "collects garbage": gc.collect,
    "copies batches": work.batches,
    "raises": raises,
}


class Storm:
    """Has the handler run again and again, by two signals, while the body runs.

    The handler of one may be interrupted by that of the other.  If it raises, there are no more.
    """

    def __init__(self, handler):
        self._handler, self.count, self.is_over = handler, 0, False

    def _handle(self, number, frame):
        if self.is_over:
            return
        self.count += 1
        try:
            self._handler()
        except BaseException:
            self.is_over = True
            raise
        self._send(number)

    def _send(self, number):
        """Sends the signal of this number, a little later."""
        signal.setitimer(TIMERS[number], INTERVAL)

    def __enter__(self):
        for number in TIMERS:
            signal.signal(number, self._handle)
            self._send(number)
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.is_over = True
        for number, timer in TIMERS.items():
            signal.setitimer(timer, 0)
            signal.signal(number, signal.SIG_IGN)


def show_unraisable(shown):
    """Python ignores what a handler raises in a callback of a weak reference."""
    if shown.exc_type is not Interrupted:
        sys.__unraisablehook__(shown)


def during(turn, handler, raises):
    """The work gives the right bytes all the same; if a handler has raised, from then on."""
    sys.unraisablehook = show_unraisable
    work.exporters_handle()
    turn()
    for _ in range(RAISED if raises else 1):
        storm = Storm(handler)
        try:
            with storm:
                turns = 0
                while not storm.is_over and (turns < TURNS or storm.count < 3):
                    turn()
                    turns += 1
        except Interrupted:
            storm.stop()
        assert storm.count >= 1 + 2 * (not raises)
    gc.collect()
    turn()
    work.small_copies()


def during_waits(handler):
    """The device is busy all the time, so that calls wait and are attempted again."""
    from support.driver import the_driver
    from support.work import Queue

    context = states.context()
    driver = the_driver()
    driver.set_current(context.handle)
    queue = Queue(driver)
    data = np.random.default_rng(3).integers(0, 256, 1 << 20, np.uint8)
    with Storm(handler) as storm:
        for _ in range(4):
            queue.sleep(20)
            buffer = context.buffer_from_data(data)
            queue.sleep(20)
            assert buffer.to_pybytes() == data.tobytes()
            queue.sleep(20)
            assert buffer.equals(context.buffer_from_data(data))
            queue.sleep(20)
            context.synchronize()
    assert storm.count >= 3


def in_a_child(handler):
    """A signal that arrives in a fork is handled there: the package only raises."""
    kept = states.buffer()

    def handle(*_):
        with suppress(OSError, Interrupted):
            handler()

    signal.signal(signal.SIGUSR1, handle)
    child = os.fork()
    if child == 0:
        for _ in range(10):
            os.kill(os.getpid(), signal.SIGUSR1)
            try:
                kept.to_pybytes()
            except OSError:
                continue
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert kept.to_pybytes() == states.CONTENT


def cases(is_quick):
    found = []
    for number, (what, turn) in enumerate(work.ALL.items()):
        for order, (does, handler) in enumerate(HANDLERS.items()):
            if not is_quick or (number + order) % 8 < 2:
                name = f"a handler that {does} during {what}"
                found.append(Case(name, partial(during, turn, handler, does == "raises")))
    for does, handler in HANDLERS.items():
        if does != "raises":
            name = f"a handler that {does} during waits"
            found.append(Case(name, partial(during_waits, handler)))
            found.append(Case(f"a handler that {does} in a fork", partial(in_a_child, handler)))
    return found
