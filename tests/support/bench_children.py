"""Peers for other processes in tests of the benchmark, which find them here by their names."""

import os

from cuda_bench.peers import PEERS


class Careless(PEERS["ours"]):
    """Leaves out the last byte of what it uploads."""

    def upload(self, device, host):
        return super().upload(device, host.part(0, host.size - 1))


class Ending(PEERS["ours"]):
    """Ends its process at the first upload."""

    def upload(self, device, host):
        os._exit(7)
