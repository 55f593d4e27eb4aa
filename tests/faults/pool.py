"""Processes that run trials: forks of one that has imported everything, but no driver."""

import json
import os
import selectors
import signal
import sys
import tempfile
import time
from collections import deque
from dataclasses import dataclass, field

from .worker import SECONDS, Worker

#: A process that says nothing for so long does not come to its own time limit.
PATIENCE = 2 * SECONDS
#: The end of what a process has written to standard error.
SHOWN = 4000


@dataclass
class Job:
    """What a process is to do: a method of `Worker`, for one scenario."""

    scenario: object
    method: str
    #: The name of a setting of the caches.
    cache: str
    #: Those that are left, by their places in the list.
    faults: dict = field(default_factory=dict)
    arguments: dict = field(default_factory=dict)


class Process:
    """A job under way, in a fork of this process."""

    def __init__(self, job, environment):
        self.job, self.under_way, self._unread = job, None, b""
        self.heard = time.monotonic()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        self.pipe, theirs = os.pipe()
        self.id = os.fork()
        if self.id == 0:
            os.close(self.pipe)
            os.dup2(self._errors.fileno(), 2)
            os.environ.update(environment)
            with os.fdopen(theirs, "w") as out:
                arguments = {"faults": list(job.faults.items())} if job.faults else {}
                getattr(Worker(job.scenario, out), job.method)(**arguments, **job.arguments)
            if job.method == "cold":
                os._exit(0)  # many, for which it is enough that others end as programs do
            sys.exit()
        os.close(theirs)

    def lines(self):
        """What it tells; None when it has ended."""
        data = os.read(self.pipe, 1 << 16)
        self.heard = time.monotonic()
        if not data:
            return None
        *lines, self._unread = (self._unread + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def end(self):
        """What is wrong with how it has ended."""
        os.close(self.pipe)
        _, status = os.waitpid(self.id, 0)
        code = os.waitstatus_to_exitcode(status)
        with self._errors:
            self._errors.seek(0)
            errors = self._errors.read().decode(errors="replace")
        return f"the process ended with {code}: {errors[-SHOWN:]}" if code or errors else None


def run(jobs, environments, hear, processes):
    """Runs jobs, and those that `hear(job, line)` gives for each line of a process.

    When a process ends in another way than it should, its last line is `{"ended": why, "fault":
    which}`, and a new process goes on behind the fault.
    """
    waiting, running, watch = deque(jobs), {}, selectors.DefaultSelector()
    while waiting or running:
        while waiting and len(running) < processes:
            job = waiting.popleft()
            process = Process(job, environments[job.cache])
            running[process.pipe] = process
            watch.register(process.pipe, selectors.EVENT_READ)
        for key, _ in watch.select(1):
            process = running[key.fd]
            job, lines = process.job, process.lines()
            for line in lines or []:
                process.under_way = line.get("begin")
                waiting.extend(hear(job, line))
                if "end" in line:
                    job.faults.pop(line["end"])
            if lines is None:
                watch.unregister(key.fd)
                del running[key.fd]
                _end(process, hear, waiting)
        for process in running.values():
            if time.monotonic() - process.heard > PATIENCE:
                os.kill(process.id, signal.SIGKILL)


def _end(process, hear, waiting):
    wrong, job = process.end(), process.job
    if wrong or job.faults:
        fault = job.faults.pop(process.under_way, None)
        hear(job, {"ended": wrong or "the process ended early", "fault": fault})
        if fault and job.faults:
            waiting.appendleft(job)
