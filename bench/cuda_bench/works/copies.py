"""Copies and comparisons, one at a time; calls beside busy streams; and processor time."""

import ctypes
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from ..machine import NON_BLOCKING
from ..measure import FULL, Call, Case, Trial, counted, nothing, repeated
from ..space import Host, expect, expect_equal, fresh, random
from .base import Setup

# Buffers that are compared at other alignments lie in larger ones.
MARGIN = 16
# For how long streams are kept busy, in seconds: longer than any row measures.
BUSY = 0.5
# A stream calls it with an address, which is the number of microseconds.
USLEEP = ctypes.CDLL(None).usleep
WITHOUT_TIMING = 2


class File:
    """A file with these bytes, in the page cache or not; its last reference removes it."""

    def __init__(self, host: Host, *, is_cached: bool = True) -> None:
        with NamedTemporaryFile(delete=False) as file:
            self.name = file.name
            file.write(host.data)
            if not is_cached:
                file.flush()
                # Dirty pages would have to be written before they can be read past the cache.
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def __del__(self) -> None:
        Path(self.name).unlink()


def spent(case: Case, seconds: float) -> tuple[float, float]:
    """Seconds, and processor seconds of all threads of this process, for each of the calls that
    begin within `seconds`.
    """
    take = case.sampler()
    calls, took = 0, 0.0
    processor, start = time.process_time(), time.perf_counter()
    while not calls or took < seconds:
        take()
        calls += 1
        took = time.perf_counter() - start
    return took / calls, (time.process_time() - processor) / calls


class Copies(Setup):
    def up(self, size: int, *, pinned: bool = False, pause: float = 0.0) -> Case:
        """Threads that help with copies go to sleep in pauses, which are not timed."""
        device, source = self.peer.allocate(size), self.space.source(size, pinned=pinned)
        case = self.sending(self.peer.upload(device, source), device, source)
        return replace(case, before=partial(time.sleep, pause)) if pause else case

    def down(self, size: int, *, pinned: bool = False) -> Case:
        device, source = self.uploaded(size)
        target = self.space.target(size, pinned=pinned)
        run = self.peer.download(device, target)
        return self.waited(run, partial(expect_equal, target, source))

    def down_to_new(self, size: int, *, kept: bool = False) -> Case:
        """If all results are kept, each of them is in memory that nobody has touched."""
        device, source = self.uploaded(size)
        run = self.peer.fresh(device)
        if not kept:
            return self.waited(run, lambda: expect_equal(run(), source))
        results: list[Any] = []

        def check() -> None:
            for result in results:
                expect_equal(result, source)

        case = self.waited(run, check, keep=results.append)
        return replace(case, statement="keep(run()); wait()", most=FULL.least)

    def device_copy(self, size: int) -> Case:
        first, source = self.uploaded(size)
        second = self.peer.allocate(size)
        return self.sending(self.peer.device_copy(second, first), second, source)

    def to_second_device(self, size: int) -> Case:
        self.require_devices(2)
        device, source = self.uploaded(size)
        there, run = self.peer.to_second_device(device)
        return repeated(run, partial(self.expect, there, source))

    def stream_copy(self, size: int) -> Case:
        device, source = self.peer.allocate(size), self.space.source(size, pinned=True)
        self.peer.wait()
        stream = self.peer.stream()
        run = self.peer.upload(device, source, stream=stream)
        case = self.sending(run, device, source, wait=stream.synchronize)
        return replace(case, is_repeatable=True)

    def queue(self, size: int, *, count: int) -> Case:
        """One of `count` copies that are queued on one stream; the waits for them are not timed."""
        device, source = self.peer.allocate(size), self.space.source(size, pinned=True)
        self.peer.wait()
        stream = self.peer.stream()
        run = self.peer.upload(device, source, stream=stream)

        def check() -> None:
            stream.synchronize()
            self.expect(device, source)

        return Case("run()", {"run": run}, check, loops=count, before=stream.synchronize)

    def up_unseen(self, size: int) -> Case:
        """The call alone, each into new memory, whose address nobody has asked for: a library may
        return before the bytes are there if nobody can tell.
        """
        peer, source = self.peer, self.space.source(size)
        made: list[Any] = []

        def make() -> None:
            peer.wait()
            made.clear()
            device = peer.allocate(size)
            made.extend((peer.upload(device, source), device))

        names = {"made": made}
        return Case("made[0]()", names, lambda: self.expect(made[1], source), before=make)

    def both_ways(self, size: int) -> Case:
        """Two pinned copies on two streams, and the wait for both."""
        peer, space, part = self.peer, self.space, size // 2
        there, back = peer.allocate(part), peer.allocate(part)
        source, sent = space.source(part, pinned=True), fresh(part)
        target = space.target(part, pinned=True, start=part)
        self.send(back, sent)
        first, second = peer.stream(), peer.stream()

        def check() -> None:
            self.expect(there, source)
            expect_equal(target, sent)

        names = {
            "up": peer.upload(there, source, stream=first),
            "down": peer.download(back, target, stream=second),
            "wait": first.synchronize,
            "wait_too": second.synchronize,
        }
        return Case("up(); down(); wait(); wait_too()", names, check, is_repeatable=True)

    def equal(self, size: int, *, first: int = 0, second: int = 0, differs: bool = False) -> Case:
        """Buffers that begin at these offsets."""
        source, peer = self.space.source(size), self.peer
        views = [peer.view(peer.allocate(size + MARGIN), at, size) for at in (first, second)]
        for view in views:
            self.send(view, source)
        compare = peer.equal(*views)

        def change(at: int) -> None:
            self.send(peer.view(views[1], at, 1), source[at : at + 1] ^ np.uint8(255))

        def check() -> None:
            expect(bool(compare()), not differs, "the comparison")
            change(int(random.integers(size)))
            expect(bool(compare()), False, "the comparison, with a difference")

        if differs:
            change(0)
        return self.waited(compare, check)

    def equal_host(self, size: int) -> Case:
        device, source = self.uploaded(size)
        compare = self.peer.equal_host(device, source)

        def check() -> None:
            expect(bool(compare()), True, "the comparison")
            source[random.integers(size)] ^= 255
            expect(bool(compare()), False, "the comparison, with a difference")

        return self.waited(compare, check)

    def file_up(self, size: int, *, part: int = 0) -> Case:
        """All at once, or by a loop over parts."""
        device, source = self.peer.allocate(size), self.space.source(size)
        file, peer = File(source), self.peer
        prepare = partial(peer.file_parts_up, part=part) if part else peer.file_up
        return self.sending(prepare(device, file.name), device, source, file=file)

    def file_new(self, size: int, *, direct: bool) -> Case:
        source = self.space.source(size)
        file = File(source, is_cached=not direct)
        run = self.peer.file_new(file.name, direct=direct)
        return self.waited(run, lambda: self.expect(run(), source), file=file)

    def file_down(self, size: int) -> Case:
        device, source = self.uploaded(size)
        file = File(source[:0])
        run = self.peer.file_down(device, file.name)
        return self.waited(run, lambda: expect_equal(np.memmap(file.name, np.uint8, "r"), source))

    def queue_beside_busy(self, size: int, *, streams: int) -> Case:
        peer = self.peer
        device, source = peer.allocate(size), self.space.source(size, pinned=True)
        peer.wait()
        all_streams = [peer.stream() for _ in range(streams + 1)]
        handles = [peer.handle(stream) for stream in all_streams]
        *others, run = [peer.upload(device, source, stream=stream) for stream in all_streams]
        case = self.beside_busy(run, partial(self.expect, device, source), handles)
        for other in others:
            other()
        return case

    def allocate_beside_busy(self, size: int) -> Case:
        run = partial(self.peer.allocate, size)
        run()
        return self.beside_busy(run, nothing)

    def up_beside_busy(self, size: int) -> Case:
        peer, source = self.peer, self.space.source(size)

        def run() -> object:
            device = peer.allocate(size)
            peer.upload(device, source)()
            peer.wait()
            return device

        return self.beside_busy(run, lambda: self.expect(run(), source))

    def beside_busy(self, run: Call, check: Call, streams: Sequence[object] = ()) -> Case:
        """A call while streams are busy, by default one that nobody else uses: the first one
        sleeps, and the others wait for it.
        """
        driver = self.space.driver
        driver.call("cuCtxSynchronize")
        first, *others = streams = streams or [
            driver.owned("cuStreamCreate", "cuStreamDestroy_v2", NON_BLOCKING)
        ]
        event = driver.owned("cuEventCreate", "cuEventDestroy_v2", WITHOUT_TIMING)
        driver.call("cuLaunchHostFunc", first, USLEEP, int(BUSY * 1e6))
        driver.call("cuEventRecord", event, first)
        for other in others:
            driver.call("cuStreamWaitEvent", other, event, 0)

        def checked() -> None:
            driver.call("cuCtxSynchronize")
            check()

        return Case("run()", {"run": run, "streams": streams}, checked, most=200)

    def processor(self, size: int, *, way: str, cores: bool = False) -> Trial:
        """Processor seconds of copies of pageable memory, for each 10^9 bytes; or how many cores
        they keep busy.
        """
        case = getattr(self, way)(size)
        spent(case, 0)  # warms up

        def take() -> float:
            seconds, processor = spent(case, self.budget.seconds / 2)
            return processor / seconds if cores else processor / size * 1e9

        return counted(take, case.check)
