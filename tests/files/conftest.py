"""What the tests of whole files share."""

import gc
from pathlib import Path

import pytest


@pytest.fixture
def nothing_is_lost(ctx):
    """Neither device memory nor descriptors, whatever a test does."""

    def used():
        return ctx.bytes_allocated, sum(1 for _ in Path("/proc/self/fd").iterdir())

    before = used()
    yield
    gc.collect()  # exceptions that tests have caught refer to themselves
    assert used() == before
