"""What other processes do in tests of the benchmark: they find it here by its name."""

import os

from cuda_bench.peers import PEERS


def adding(start):
    """Answers with the sum of all that it was told."""
    while True:
        start += yield start


def failing():
    yield "first"
    raise ValueError("it is broken")


def dying():
    yield "first"
    os._exit(7)


class Careless(PEERS["ours"]):
    """Leaves out the last byte of what it uploads."""

    def upload(self, device, host):
        return super().upload(device, host.part(0, host.size - 1))
