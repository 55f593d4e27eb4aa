"""Device memory that a worker of Dask lends: how long it keeps it, and to whom it lends again."""

import asyncio
import gc
import pickle
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray
from support.libraries.dask_tasks import make_buffer
from support.peer import Peer, PeerError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from distributed.core import Status  # noqa: E402
from distributed.protocol import serialize  # noqa: E402

from pyarrow_cuda_compat.dask import THRESHOLD, _loans, _peers  # noqa: E402

pytestmark = pytest.mark.foreign
NUMBERS = np.arange(50_000)
SETTING = "PYARROW_CUDA_COMPAT__IPC"


class Worker:
    """A worker that lends, with whatever happens before its replies are confirmed."""

    def __init__(self):
        borrower = _peers.announcement() | {"process": 1}
        self.context = {"recipient": {_peers.NAME: borrower}}
        self.get_data = _peers._lending(self._reply)

    async def _reply(self, comm, keys, who):
        value, meanwhile = comm
        message = serialize(value, context=self.context)
        await meanwhile(message)
        return Status.dont_reply

    def reply(self, value, meanwhile, key="x", who="tcp://borrower"):
        return self.get_data((value, meanwhile), keys=[key], who=who)

    async def ask(self, value, failure=None, **borrower):
        """Whether the reply to the borrower lends memory."""
        replies = []

        async def meanwhile(message):
            replies.append(is_lent(message))
            if failure is not None:
                raise failure

        with nullcontext() if failure is None else pytest.raises(failure):
            await self.reply(value, meanwhile, **borrower)
        [has_lent] = replies
        return has_lent


def collected(replies):
    """What an asynchronous generator gives."""

    async def collect():
        return [each async for each in replies]

    return asyncio.run(collect())


def is_lent(message):
    return {"dask": True, "pickle": False}[message[0]["serializer"]]


def sent(message):
    header, frames = message
    text = pickle.dumps((header, [bytes(frame) for frame in frames])).hex()
    return f"distributed.protocol.deserialize(*pickle.loads(bytes.fromhex({text!r})))"


@pytest.fixture(scope="module")
def borrower():
    peer = Peer()
    try:
        peer("import distributed, numpy, pickle, pyarrow_cuda_compat.dask")
        yield peer
        assert peer.end() == (0, "")
    finally:
        peer.kill()


#: Values of which a copy is lent that nobody else knows.
PARTS = {
    "slice of a table": lambda ctx: pa.table({"x": NUMBERS}).copy_to(ctx).slice(1000, 30_000),
    "slice of a batch": lambda ctx: (
        pa.record_batch({"x": NUMBERS}).copy_to(ctx).slice(1000, 30_000)
    ),
    "array with gaps": lambda ctx: DeviceArray.from_host(NUMBERS.reshape(-1, 2))[:, 1],
}


@pytest.mark.parametrize("name", PARTS)
def test_a_copy_is_kept_until_it_was_taken(ctx, borrower, name):
    look, expected = (
        "there.column(0).copy_to(pa.default_cpu_memory_manager())",
        NUMBERS[1000:31_000],
    )
    if name == "array with gaps":
        look, expected = "there.copy_to_host()", NUMBERS[1::2]
    value = PARTS[name](ctx)
    before, others = ctx.bytes_allocated, []

    async def meanwhile(message):
        gc.collect()
        assert is_lent(message)
        assert ctx.bytes_allocated >= before + THRESHOLD
        # The worker goes on with other tasks.
        for size in (1 << 17, 1 << 20, 1 << 21):
            others.extend(ctx.new_buffer(size) for _ in range(4))
        for each in others:
            each.fill(9)
        borrower(f"there = {sent(message)}")

    asyncio.run(Worker().reply(value, meanwhile))
    there = borrower(f"numpy.asarray({look}).tobytes()")
    others.clear()
    # The worker keeps nothing that was taken.
    assert ctx.bytes_allocated == before
    assert there == np.asarray(expected).tobytes()


def test_what_the_worker_no_longer_keeps_is_not_taken(ctx, borrower):
    buffer, late = make_buffer(), []

    async def keep(message):
        late.append(message)

    asyncio.run(Worker().reply(buffer, keep))
    # The memory can still be opened, but others may have written to it.
    with pytest.raises(PeerError, match=r"^OSError: .*released it in the meantime\): set `pyarrow"):
        borrower(f"there = {sent(late[0])}")


def test_a_loan_ends_by_its_worker_and_with_it():
    peer = Peer()
    try:
        peer("from pyarrow_cuda_compat.dask._loans import Loan; loan = Loan()")
        ended = peer("loan.evidence")
        assert _loans.lasts(ended)
        # Another file gets its number.
        peer("loan.end(); loan = Loan()")
        assert not _loans.lasts(ended)
        lost = peer("loan.evidence")
        assert lost["path"] == ended["path"]
        assert _loans.lasts(lost)
        peer.kill()
        assert not _loans.lasts(lost)
    finally:
        peer.kill()


@pytest.mark.parametrize("failure", [OSError, asyncio.CancelledError])
def test_one_failure_concerns_one_message(ctx, failure):
    async def replies():
        worker, buffer = Worker(), make_buffer()
        before = ctx.bytes_allocated
        whole = pa.table({"x": NUMBERS}).copy_to(ctx.memory_manager)
        assert await worker.ask(whole.slice(10, 30_000), failure)
        del whole
        gc.collect()
        assert ctx.bytes_allocated == before
        yield await worker.ask(buffer)  # again: through the host
        yield await worker.ask(buffer, key="y")
        yield await worker.ask(buffer, who="tcp://another")
        yield await worker.ask(buffer)  # the reply through the host was confirmed

    assert collected(replies()) == [False, True, True, True]


def test_what_was_asked_for_twice_is_lent_once(ctx):
    async def replies():
        worker, buffer, ways = Worker(), make_buffer(), []

        async def ask_again(message):
            ways.append(is_lent(message))
            ways.append(await worker.ask(buffer))
            ways.append(await worker.ask(buffer, key="y"))

        await worker.reply(buffer, ask_again)
        return ways

    assert asyncio.run(replies()) == [True, False, True]


def test_failures_in_a_row_are_followed_by_more_and_more_replies_through_the_host(ctx):
    async def replies():
        worker, buffer = Worker(), make_buffer()
        for number in range(16):
            yield await worker.ask(buffer, OSError, key=number)
        for number in range(16, 32):
            yield await worker.ask(buffer, key=number)
        # After a success, the next failure is as the first one.
        yield await worker.ask(buffer, OSError, key=32)
        yield await worker.ask(buffer, key=33)

    lent = [number for number, is_lent in enumerate(collected(replies())) if is_lent]
    assert lent == [0, 1, 3, 7, 15, 31, 32, 33]


def settings(text):
    """What Dask makes of the environment."""
    return dask.config.set(dask.config.collect_env({f"DASK_{SETTING}": text}))


@pytest.mark.parametrize("text", ["true", "True", "1", "false", "0"])
def test_the_setting_in_the_environment(ctx, text):
    with settings(text):
        has_lent = asyncio.run(Worker().ask(ctx.new_buffer(THRESHOLD)))
    assert has_lent is (text in ("true", "True", "1"))


@pytest.mark.parametrize("text", ["off", "no", "", "2", "none"])
def test_a_wrong_setting_is_refused(text):
    rpc = SimpleNamespace(connection_args={}, open=False)
    starting = SimpleNamespace(handlers={"get_data": Worker()._reply}, rpc=rpc)
    told = pytest.raises(ValueError, match=f"{SETTING}.* must be true or false, not ")
    with settings(text), told:
        _peers.prepare(starting)


def test_a_wrong_setting_stops_no_transfer(ctx, caplog):
    """The task that asks for the data would wait for ever."""
    with dask.config.set({"pyarrow-cuda-compat.ipc": "off"}):
        assert not asyncio.run(Worker().ask(ctx.new_buffer(THRESHOLD)))
    assert "must be true or false, not 'off'" in caplog.text
