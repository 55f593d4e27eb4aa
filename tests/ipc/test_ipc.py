"""Device memory of one process in another one."""

import ctypes
import gc
import weakref

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, IpcArrayHandle
from support.peer import Peer, PeerError

pytestmark = pytest.mark.leaks

DATA = bytes(range(256)) * 4


@pytest.fixture
def peers():
    """Starts processes, which must all end well."""
    started = []

    def start(**env):
        started.append(Peer(**env))
        return started[-1]

    yield start
    alive = [peer for peer in started if peer.process.returncode is None]
    ends = []
    try:
        ends = [peer.end() for peer in alive]
    finally:
        for peer in started:
            peer.kill()
    assert ends == [(0, "")] * len(alive)


def exported(buffer):
    return buffer.export_for_ipc().serialize().to_pybytes()


def opened(cuda, ctx, handle):
    return ctx.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(pa.py_buffer(handle)))


@pytest.mark.simulator
def test_two_contexts_open_one_handle(ctx, peer):
    """As documented, for contexts of different devices; hardware has not been asked."""
    handle = exported(ctx.buffer_from_data(DATA)).hex()
    peer(f"first = opened('{handle}')")
    peer("other = cuda.Context(1)")
    peer(
        "second = other.open_ipc_buffer("
        f"cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes.fromhex('{handle}'))))"
    )
    assert peer("[buffer.context.device_number for buffer in (first, second)]") == [0, 1]
    assert peer("[buffer.to_pybytes() for buffer in (first, second)]") == [DATA, DATA]
    peer("second.copy_from_host(b'shared')")
    assert peer("first.slice(0, 6).to_pybytes()") == b"shared"
    peer("del first; gc.collect()")
    assert peer("second.slice(0, 6).to_pybytes()") == b"shared"


@pytest.mark.simulator
def test_the_last_buffer_closes_the_mapping(ctx, peer):
    peer("import pyarrow_cuda_compat, pathlib")
    peer("folder = pathlib.Path(pyarrow_cuda_compat.__file__).parent / 'lib'")
    peer("live = ctypes.CDLL(str(folder / 'libcuda_sim.so')).cuda_sim_live_imports")
    handle = exported(ctx.buffer_from_data(DATA)).hex()
    peer(f"buffers = [opened('{handle}') for _ in range(5)]")
    peer("parts = [buffer.slice(1) for buffer in buffers]; del buffers")
    assert peer("live()") > 0
    peer("parts.clear()")
    assert peer("live()") == 0


@pytest.mark.leaks
def test_handles_of_the_same_bytes_are_equal(cuda, ctx):
    buffer = ctx.buffer_from_data(DATA)
    handle, other = buffer.export_for_ipc(), ctx.buffer_from_data(DATA).export_for_ipc()
    received = cuda.IpcMemHandle.from_buffer(handle.serialize())
    assert received == handle
    assert hash(received) == hash(handle)
    assert repr(received) == f"<pyarrow.cuda.IpcMemHandle size={len(DATA)} offset=0>"
    assert len({received, handle, other, buffer.slice(2, 3).export_for_ipc()}) == 3


def test_the_bytes_of_a_handle(ctx, driver, peer):
    buffer = ctx.buffer_from_data(DATA)
    handle = exported(buffer)
    # Behind the size they are the driver's own: the peer's driver opens them.
    peer("class Raw(ctypes.Structure): _fields_ = [('bytes', ctypes.c_char * 64)]")
    peer(f"library, path = ctypes.CDLL, {driver.library._name!r}")
    peer("driver, address = library(path), ctypes.c_uint64()")
    peer("driver.cuCtxPushCurrent_v2(ctypes.c_void_p(ctx.handle))")
    peer(f"raw = Raw.from_buffer_copy(bytes.fromhex('{handle[8:].hex()}'))")
    assert peer("driver.cuIpcOpenMemHandle_v2(ctypes.byref(address), raw, 1)") == 0
    assert peer("ctx.foreign_buffer(address.value, 256).to_pybytes()") == DATA[:256]
    assert peer("driver.cuIpcCloseMemHandle(address)") == 0
    assert peer("driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))") == 0
    # And a handle that was made by hand, as other libraries do, opens here.
    assert peer(f"opened('{handle.hex()}').to_pybytes()") == DATA


def test_nothing_is_shared_as_nothing(cuda, ctx, peer):
    for empty in (ctx.new_buffer(0), ctx.buffer_from_data(DATA).slice(5, 0)):
        handle = exported(empty)
        assert handle == bytes(8)
        assert peer(f"(lambda b: (b.size, b.to_pybytes()))(opened('{handle.hex()}'))") == (0, b"")
    # The memory after the size is that of nothing.
    assert opened(cuda, ctx, bytes(8) + b"\xff" * 64).size == 0


@pytest.mark.parametrize("rest", [b"", bytes(8), b"\0\4\0\0\0\0\0\0"])
def test_bytes_behind_a_handle_are_refused(cuda, ctx, rest):
    """Without their end, they would be an offset, which names other memory."""
    handle = exported(ctx.buffer_from_data(DATA)) + rest
    assert cuda.IpcMemHandle.from_buffer(pa.py_buffer(handle)) is not None
    array = DeviceArray.from_host([1, 2]).export_for_ipc().serialize().to_pybytes() + rest
    assert IpcArrayHandle.from_buffer(pa.py_buffer(array)).shape == (2,)
    for wrong in (handle + b"\0", handle[:-1]):
        with pytest.raises(pa.ArrowInvalid, match=f"has {len(wrong)} bytes, 72 or 80 are needed"):
            cuda.IpcMemHandle.from_buffer(pa.py_buffer(wrong))
    for wrong in (array + b"\0", array[:-1]):
        with pytest.raises(pa.ArrowInvalid, match="bytes, 72 or 80 are needed"):
            IpcArrayHandle.from_buffer(pa.py_buffer(wrong))
    for right, wrong in (("[2]", '"2"'), ("[2]", "[2.5]"), ('"offset": 0', '"offset": 0.5')):
        assert right.encode() in array
        header = array[4:].split(b"}")[0].replace(right.encode(), wrong.encode()) + b"}"
        garbled = len(header).to_bytes(4, "little") + header + array[4:].split(b"}", 1)[1]
        with pytest.raises(pa.ArrowInvalid, match="not the handle of a device array"):
            IpcArrayHandle.from_buffer(pa.py_buffer(garbled))


def test_handles_that_claim_too_much(ctx, peer):
    handle = exported(ctx.buffer_from_data(DATA))
    for size, offset in [
        (1 << 40, 0),
        (2**63 - 1, 0),
        (1, 1 << 40),
        (1, 2**64 - 1),
        (2**63 - 1, 2**64 - 2**62),
    ]:
        lie = size.to_bytes(8, "little") + handle[8:] + offset.to_bytes(8, "little")
        with pytest.raises(PeerError, match=r"^ArrowInvalid: the IPC handle names"):
            peer(f"opened('{lie.hex()}')")
    assert peer(f"opened('{handle.hex()}').to_pybytes()") == DATA


FIND = """
def found(address, sentinel):
    # Reads whatever the driver lets one read around an address.
    driver.cuCtxPushCurrent_v2(ctypes.c_void_p(ctx.handle))
    piece = ctypes.create_string_buffer(512)
    hits = 0
    for place in range(address - (4 << 20), address + (4 << 20), 256):
        for size in (512, len(sentinel)):
            size_argument = ctypes.c_size_t(size)
            if driver.cuMemcpyDtoH_v2(piece, ctypes.c_uint64(place), size_argument) == 0:
                hits += sentinel in piece.raw[:size]
                break
    driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    return hits
"""
SENTINEL = b"not for other processes"


@pytest.mark.parametrize("kind", ["buffer", "message"])
def test_neighbours_of_a_small_export_stay_unreadable(cuda, ctx, driver, peer, kind):
    """Another process reaches the whole segment: so what users make lies alone."""
    secret = SENTINEL * 20
    makers = {
        "buffer": ctx.buffer_from_data,
        "message": lambda data: cuda.serialize_record_batch(
            pa.record_batch([pa.array([data])], names=["x"]), ctx
        ),
    }
    neighbours = [makers[kind](secret) for _ in range(5)]
    small = makers[kind](b"public")
    neighbours += [makers[kind](secret) for _ in range(5)]
    peer(f"driver = ctypes.CDLL({driver.library._name!r})")
    peer(FIND)
    peer(f"small = opened('{exported(small).hex()}')")
    assert peer("small.to_pybytes()") == small.to_pybytes()
    assert peer(f"found(small.address, {b'public'!r})") >= 1
    assert peer(f"found(small.address, {SENTINEL!r})") == 0
    assert small.address >> 21 not in {buffer.address >> 21 for buffer in neighbours}


@pytest.mark.leaks
def test_a_small_export_among_many_opens_as_itself(cuda, ctx, peer):
    """Beyond some tens, small buffers share segments, and the handle has an offset."""
    many = [ctx.buffer_from_data(b"%07d" % number) for number in range(100)]
    for buffer in (many[0], many[60], many[-1]):
        handle = exported(buffer)
        assert peer(f"opened('{handle.hex()}').to_pybytes()") == buffer.to_pybytes()
    assert len(exported(many[0])) == 72
    assert len(exported(many[-1])) == 80


@pytest.mark.parametrize("how", ["exits", "is killed"])
def test_the_exporter_goes_while_the_peer_reads(cuda, ctx, peers, how):
    exporter = peers()
    handle = bytes.fromhex(exporter(f"exported(ctx.buffer_from_data({DATA!r}))"))
    buffer = opened(cuda, ctx, handle)
    assert buffer.to_pybytes() == DATA
    if how == "exits":
        assert exporter.end() == (0, "")
    else:
        exporter.kill()
    assert buffer.to_pybytes() == DATA
    buffer.copy_from_host(b"alone")
    assert buffer.slice(0, 5).to_pybytes() == b"alone"
    del buffer
    with pytest.raises(OSError, match="Cuda error"):
        opened(cuda, ctx, handle)
    assert ctx.buffer_from_data(DATA).to_pybytes() == DATA


def test_a_consumer_is_killed(ctx, peers):
    buffer = ctx.buffer_from_data(DATA)
    handle = exported(buffer).hex()
    consumer = peers()
    consumer(f"buffer = opened('{handle}')")
    consumer.send("[buffer.to_pybytes() for _ in iter(int, 1)]")  # reads for ever
    consumer.kill()
    assert buffer.to_pybytes() == DATA
    buffer.copy_from_host(b"goes on")
    other = peers()
    assert other(f"opened('{handle}').slice(0, 7).to_pybytes()") == b"goes on"
    assert exported(buffer).hex() == handle


def test_threads_open_and_close_without_deadlock(ctx, peer):
    handles = [exported(ctx.buffer_from_data(bytes([number]) * 100)).hex() for number in range(3)]
    peer(
        "import threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        f"handles, start = {handles!r}, threading.Barrier(12)\n"
        "def work(number):\n"
        "    start.wait()\n"
        "    for turn in range(30):\n"
        "        which = (number + turn) % 3\n"
        "        buffer = opened(handles[which])\n"
        "        twin = opened(handles[which])\n"
        "        assert buffer.to_pybytes() == bytes([which]) * 100\n"
        "        del buffer\n"
        "        assert twin.to_pybytes() == bytes([which]) * 100\n"
        "        del twin\n"
        "with ThreadPoolExecutor(12) as pool: list(pool.map(work, range(12)))\n"
    )


def test_opened_on_another_device(ctx, other_ctx, peer):
    buffer = ctx.buffer_from_data(DATA)
    peer("there = cuda.Context(1)")
    peer(f"handle = pa.py_buffer(bytes.fromhex('{exported(buffer).hex()}'))")
    peer("buffer = there.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(handle))")
    assert peer("buffer.to_pybytes()") == DATA
    peer("buffer.copy_from_host(b'peer access')")
    assert buffer.slice(0, 11).to_pybytes() == b"peer access"


def test_foreign_memory_is_exported_for_good_and_with_its_offset(ctx, driver, peer):
    address = ctypes.c_uint64()
    driver.set_current(ctx.handle)
    driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(len(DATA)))
    driver.set_current(0)
    owner = type("Owner", (), {})()
    lives = weakref.ref(owner)
    view = ctx.foreign_buffer(address.value + 100, 50, base=owner)
    view.copy_from_host(DATA[:50])
    handle = exported(view)
    del view, owner
    gc.collect()
    # Its library would free the memory.
    assert lives() is not None
    assert peer(f"opened('{handle.hex()}').to_pybytes()") == DATA[:50]
