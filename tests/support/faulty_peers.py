"""Libraries with faults for tests of the benchmark: other processes import them by name."""

import os

from cuda_bench.peers.arrow import Ours


class Careless(Ours):
    """Leaves out the last bytes of what it uploads."""

    def __init__(self):
        super().__init__()
        upload = self.upload
        self.upload = lambda device, host: upload(device, host[:-8])


class Ending(Ours):
    """Ends its process at the first upload."""

    def __init__(self):
        super().__init__()
        self.upload = lambda *_: os._exit(7)
