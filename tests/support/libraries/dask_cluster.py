"""A Dask cluster with two workers, each a process of its own."""

import os
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import distributed

from support.libraries.dask_tasks import allocated, sent

CONFIGURATION = {
    # Nothing about what fails on purpose.
    "distributed.logging": {"distributed": "critical"},
    # It drops the first worker's copy of what both workers have, some time within two seconds.
    "distributed.scheduler.active-memory-manager.start": False,
}


class Cluster:
    """Two workers, and what has gone from the first to others."""

    def __init__(self, client):
        self.client = client
        client.wait_for_workers(2)
        self.first, self.second = client.scheduler_info()["workers"]

    def on_first(self, function, *arguments):
        return self.client.submit(function, *arguments, workers=[self.first], pure=False)

    def on_second(self, function, *arguments):
        """The result there."""
        future = self.client.submit(function, *arguments, workers=[self.second], pure=False)
        return future.result(timeout=60)

    def run(self, worker, function, *arguments):
        return self.client.run(function, *arguments, workers=[worker])[worker]

    @contextmanager
    def expect(self, **ways):
        """What the first worker sends meanwhile."""
        before = self.run(self.first, sent)
        yield
        after = self.run(self.first, sent)
        assert {way: after[way] - before[way] for way in after} == {"ipc": 0, "host": 0} | ways

    def wait_for_release(self):
        """Waits until the workers have released what nobody needs any more."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            left = list(self.client.run(allocated).values())
            if not any(map(any, left)):
                return
            time.sleep(0.02)
        raise AssertionError(f"bytes that stay allocated on the workers: {left}")


@contextmanager
def started(protocol="tcp", visible=(), **configuration):
    """`visible` has the devices that each worker sees; by default both see all."""
    address = {"protocol": f"{protocol}://", "host": "127.0.0.1"}
    workers = {
        number: {
            "cls": distributed.Nanny,
            "options": {"nthreads": 1, "env": {"CUDA_VISIBLE_DEVICES": seen} if seen else {}}
            | address,
        }
        for number, seen in enumerate(visible or ("", ""))
    }
    scheduler = {
        "cls": distributed.Scheduler,
        "options": {"dashboard_address": ":0", "port": 0} | address,
    }
    with (
        dask.config.set(CONFIGURATION | configuration),
        distributed.SpecCluster(workers=workers, scheduler=scheduler) as cluster,
        distributed.Client(cluster) as client,
    ):
        processes = client.run(os.getpid).values()
        yield Cluster(client)
    assert not [process for process in processes if Path(f"/proc/{process}").exists()]
