"""The streams of all cells of the table."""

import pytest

from support.order_world import World


@pytest.fixture
def world(ctx, driver, make_stream, make_event):
    world = World(ctx, driver, make_stream, make_event)
    yield world
    ctx.synchronize()
    for queue in (world.producer, world.on_default, world.theirs, world.per_thread):
        queue.finish()
