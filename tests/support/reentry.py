"""Objects that use the package again while it asks them something."""

import gc
import sys
from contextlib import contextmanager


class Reenters:
    """Runs `action` whenever it is asked for anything; then it answers.

    It keeps what `action` raises: a caller may hide that, or answer it by an error of its own.
    """

    def __init__(self, answer, action):
        self.answer, self.action, self.failure = answer, action, None

    def _ask(self):
        try:
            self.action()
        except BaseException as failure:
            self.failure = failure
        return self.answer

    def __index__(self):
        return self._ask()

    def __cuda_stream__(self):
        return 0, self._ask().handle

    def __array__(self, dtype=None, copy=None):
        return self._ask()

    @property
    def __cuda_array_interface__(self):
        return self._ask().__cuda_array_interface__

    def __dlpack__(self, **options):
        return self._ask().__dlpack__(**options)

    def __dlpack_device__(self):
        return self._ask().__dlpack_device__()

    def __buffer__(self, flags):  # from Python 3.12 on
        return memoryview(self._ask())


class Leaves:
    """Runs `action` when it goes."""

    def __init__(self, action):
        self.action = action

    def __del__(self):
        self.action()


class Cycle:
    """Only the garbage collector frees this, and what it holds."""

    def __init__(self, *held):
        self.held = held
        self.itself = self


@contextmanager
def collecting(action):
    """Runs `action` whenever the garbage collector begins and ends."""
    running, failures = [], []

    def callback(phase, info):
        if running:
            return
        running.append(phase)
        try:
            action()
        except BaseException as failure:
            failures.append(failure)
        finally:
            running.clear()

    gc.callbacks.append(callback)
    try:
        yield
    finally:
        gc.callbacks.remove(callback)
    if failures:
        raise failures[0]


@contextmanager
def unraisable(action):
    """Runs `action` for each exception that nobody can be told of, and lists them."""
    told, before = [], sys.unraisablehook

    def hook(unraisable):
        told.append(unraisable.exc_value)
        action()

    sys.unraisablehook = hook
    try:
        yield told
    finally:
        sys.unraisablehook = before
