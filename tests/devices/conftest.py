"""What the tests of arrays that come later share."""

import pytest

from support.work import NON_BLOCKING, Producer


@pytest.fixture
def producer(driver, make_stream, make_event):
    """Work on a stream that is independent of the default stream, and an event after it."""
    return Producer(driver, make_stream(NON_BLOCKING).stream, make_event())
