"""The table of order with slow kernels of other libraries in place of the stand-ins."""

from contextlib import nullcontext

import pytest

from pyarrow_cuda_compat import DeviceArray
from support.order import HANDLES, OTHERS, OWN, buffer_of, of_buffer
from support.order_libraries import LIBRARIES, entered
from support.order_world import MODES
from support.streams import AFTER, BEFORE, SIZE, pointer
from support.work import LONG, Queue

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.alone,
    pytest.mark.foreign,
    pytest.mark.filterwarnings("ignore:.*under-utilization"),  # Numba's, of small grids
]


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request):
    pytest.importorskip(request.param, exc_type=ImportError)
    library = LIBRARIES[request.param]()
    # Compiles what there is to compile.
    library.read(library.late(lambda array: DeviceArray(array)))[1]()
    return library


@pytest.mark.leaks
@pytest.mark.parametrize("reader", [*OWN, *OTHERS])
def test_their_kernels_are_waited_for(world, library, reader):
    # An IPC handle of their pools is theirs to refuse.
    modes = [mode for mode in MODES if reader not in HANDLES or "copied" in mode]
    wrong = []
    for mode in modes:
        block, prepare = MODES[mode](world, library.late(entered))
        with block:
            kept = (OWN.get(reader) or OTHERS[reader])(prepare(), world.consumer)
        found = world.consumer.result() if reader in OTHERS else kept
        world.ctx.synchronize()
        if found != AFTER:
            wrong.append(mode)
    assert not wrong, wrong


@pytest.mark.parametrize("is_dropped", [False, True])
@pytest.mark.parametrize("kind", ["default", "blocking", "free"])
def test_their_kernels_wait(world, library, kind, is_dropped):
    """For our queued work; and memory is not reused before they have read it."""
    ctx, stream = world.ctx, getattr(world, kind, None)
    memory = ctx.buffer_from_data(BEFORE)
    queue = world.on_default if stream is None else Queue(world.driver, pointer(stream))
    queue.sleep(LONG // 3)
    queue.fill(memory, 7)
    with stream or nullcontext():
        kept, result = library.read(DeviceArray(buffer_of(of_buffer(memory)), "u1"))
    if is_dropped:
        del kept, memory
        for _ in range(3):
            ctx.new_buffer(SIZE).fill(9, stream=world.free)
    assert result() == AFTER
