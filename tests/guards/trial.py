"""Makes calls in processes of their own, with data on the host and then on the device."""

import faulthandler
import json
import os
import tempfile
import threading
import warnings
from collections.abc import Iterator
from typing import Any

from .calls import Call, told
from .values import Place

#: A call that takes longer hangs.
SECONDS = 60

#: Outcomes of a call.  The first four are right.
SAME, SAME_ERROR, REFUSED = "the same answer", "the same error", "refused"
CRASHED_ON_HOST = "pyarrow crashes on the host, too"
CRASHED, DIFFERENT = "crashed", "another answer"
OTHER_ERROR, ONLY_ERROR, ONLY_ANSWER = "another error", "an error", "an answer to an error"


def run(calls: list[Call], processes: int) -> dict[str, tuple[str, Any, Any]]:
    """The outcome of each call, with the results of host and device if they differ."""
    results: dict[str, tuple[str, Any, Any]] = {}
    shares = [calls[first::processes] for first in range(processes)]
    threads = [threading.Thread(target=_run_share, args=(share, results)) for share in shares]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return results


def _run_share(calls: list[Call], results: dict[str, tuple[str, Any, Any]]) -> None:
    """One process after the other, until all calls are made."""
    start = 0
    while start < len(calls):
        under_way = None
        for line in _lines_of_process(calls[start:]):
            index, verdict, host, device = line
            under_way = (start + index, verdict) if verdict.startswith("crashes") else None
            if under_way is None:
                results[str(calls[start + index])] = verdict, host, device
        if under_way is None:
            return
        index, verdict = under_way
        came_to = CRASHED_ON_HOST if verdict == "crashes on the host" else CRASHED
        results[str(calls[index])] = came_to, None, None
        start = index + 1


def _lines_of_process(calls: list[Call]) -> Iterator[Any]:
    pipe, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(pipe)
        for stream in (1, 2):  # what pyarrow says before it aborts
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        with os.fdopen(theirs, "w") as out:
            _make(calls, out)
        os._exit(0)
    os.close(theirs)
    with os.fdopen(pipe) as lines:
        for line in lines:
            yield json.loads(line)
    os.waitpid(process, 0)


def _make(calls: list[Call], out: Any) -> None:
    warnings.simplefilter("ignore")

    def tell(*line: Any) -> None:
        out.write(json.dumps(line, default=repr) + "\n")
        out.flush()

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        host, device = Place(on_device=False), Place(on_device=True)
        for index, call in enumerate(calls):
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            tell(index, "crashes on the host", None, None)
            expected = _outcome(call, host)
            tell(index, "crashes", None, None)
            found = _outcome(call, device)
            faulthandler.cancel_dump_traceback_later()
            verdict = _verdict(expected, found)
            shown = (None, None) if verdict == SAME else (expected, found)
            tell(index, verdict, *shown)
        os.chdir("/")


def _outcome(call: Call, place: Place) -> Any:
    try:
        return {"returns": told(call.make(place))}
    except BaseException as error:
        classes = [each.__name__ for each in type(error).__mro__]
        return {"raises": classes, "text": str(error)[:200]}


def _verdict(host: Any, device: Any) -> str:
    if "raises" in device:
        if "NotImplementedError" in device["raises"]:
            return REFUSED
        if "raises" not in host:
            return ONLY_ERROR
        return SAME_ERROR if host["raises"] == device["raises"] else OTHER_ERROR
    if "raises" in host:
        return ONLY_ANSWER
    return SAME if repr(host) == repr(device) else DIFFERENT
