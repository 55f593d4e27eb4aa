"""Runs each case in a process of its own: a fork of this one, which has loaded no driver."""

import faulthandler
import os
import re
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

#: A case that takes longer hangs.
SECONDS = 60
#: The end of what a process has written.
SHOWN = 3000


@dataclass(frozen=True)
class Case:
    """What a process does, and how it has to end.  An exception that leaves `run` ends it, too."""

    name: str
    run: Callable[[], None]
    #: The exit status, or a signal's number below zero.
    status: int = 0
    #: All that it writes, as a regular expression.
    writes: str = ""


class Child:
    """A case under way."""

    def __init__(self, case):
        self.case, self._out = case, tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        self._deadline, self._kills = time.monotonic() + SECONDS, [signal.SIGABRT, signal.SIGKILL]
        self.is_late = False
        self.id = os.fork()
        if self.id == 0:
            os.dup2(self._out.fileno(), 1)
            os.dup2(self._out.fileno(), 2)
            faulthandler.enable()  # says where it hangs, when it is killed for that
            case.run()
            sys.exit()
        self.descriptor = os.pidfd_open(self.id)

    def kill_if_late(self):
        if time.monotonic() > self._deadline and self._kills:
            self.is_late, self._deadline = True, time.monotonic() + 5
            os.kill(self.id, self._kills.pop(0))

    def end(self):
        """What is wrong with how it has ended, or None."""
        os.close(self.descriptor)
        _, status = os.waitpid(self.id, 0)
        code = os.waitstatus_to_exitcode(status)
        with self._out:
            self._out.seek(0)
            written = self._out.read().decode(errors="replace")
        if self.is_late:
            return f"hangs: {written[-SHOWN:]}"
        if code != self.case.status or not re.fullmatch(self.case.writes, written, re.DOTALL):
            return f"ended with {code} in place of {self.case.status}: {written[-SHOWN:]}"
        return None


def run(cases, processes):
    """What is wrong with each case, by its name: None for most."""
    waiting, running, wrong = list(reversed(cases)), {}, {}
    while waiting or running:
        while waiting and len(running) < processes:
            child = Child(waiting.pop())
            running[child.descriptor] = child
        ended, _, _ = select.select([*running], [], [], 1)
        for descriptor in ended:
            child = running.pop(descriptor)
            wrong[child.case.name] = child.end()
        for child in running.values():
            child.kill_if_late()
    return wrong
