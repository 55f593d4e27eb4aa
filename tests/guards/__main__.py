"""Makes all calls, a sample, or those whose names contain an argument; prints wrong results.

python -m guards [--sample | --pairs] [--json FILE] [NAME...]

With --pairs, about a million calls, each with data of the host beside that on the device.
"""

import argparse
import json
import os
import sys
import warnings
from collections import Counter
from pathlib import Path

from pyarrow_cuda_compat._patches.guards.table import TABLE

from . import trial
from .calls import Call, calls_of, pairs_of
from .differences import UNREACHED, is_excused
from .flight import FLIGHT
from .indirect import INDIRECT
from .typical import TYPICAL
from .walk import Entry, entries

_RIGHT = {trial.SAME, trial.SAME_ERROR, trial.REFUSED, trial.CRASHED_ON_HOST}


def main() -> int:
    parser = argparse.ArgumentParser(prog="guards", description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = entries()
    select = sample_of if arguments.sample else pairs_of if arguments.pairs else calls_of
    calls = [call for entry in found for call in select(entry)]
    written = TYPICAL | INDIRECT | FLIGHT
    if not arguments.pairs:
        calls += [Call(_WRITTEN, name, make) for name, make in written.items()]
    if arguments.names:
        calls = [each for each in calls if any(name in str(each) for name in arguments.names)]
    results = trial.run(calls, len(os.sched_getaffinity(0)))
    wrong = wrong_of(calls, results)
    if not (arguments.names or arguments.sample or arguments.pairs):
        wrong |= {name: ["is not reached by any call"] for name in unreached(found, calls, results)}
    for name, why in sorted(wrong.items()):
        print(name, *why)
    counts = Counter(verdict for verdict, _, _ in results.values())
    print(f"{len(calls)} calls of {len({str(each.entry) for each in calls})} names:")
    for verdict, count in counts.most_common():
        print(f"{count:7} {verdict}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"wrong": wrong, "counts": counts}))
    return bool(wrong)


_WRITTEN = Entry("typical", "", "", "function")
_GUARDED = {name for _, names, _ in TABLE for name in names.split()}


def sample_of(entry: Entry) -> list[Call]:
    """All calls of a guarded entry, and two of any other.

    With the guards' table emptied, all calls give wrong results of 351 entries, 45 of them guarded.
    The sample, a sixth of the calls, gives wrong results of 290, among them all guarded ones.  The
    others are functions of `pyarrow.compute`, which have one guard, and methods that begin with the
    check that `_patches/guards/assertions.py` replaces.
    """
    calls = calls_of(entry)
    return calls if str(entry).partition(":")[2] in _GUARDED else calls[:2]


def wrong_of(
    calls: list[Call], results: dict[str, tuple[str, object, object]]
) -> dict[str, list[object]]:
    """The calls that came to what they should not."""
    wrong: dict[str, list[object]] = {}
    for name in map(str, calls):
        verdict, host, device = results.get(name, ("not made", None, None))
        is_right = verdict in _RIGHT or (verdict != trial.CRASHED and is_excused(name))
        if not is_right:
            wrong[name] = [verdict, host, device]
    return wrong


def unreached(
    found: list[Entry], calls: list[Call], results: dict[str, tuple[str, object, object]]
) -> list[str]:
    """Entries with several parameters that every call failed of, perhaps for another one's sake."""
    came_to: dict[str, set[str]] = {}
    for call in calls:
        came_to.setdefault(str(call.entry), set()).add(results[str(call)][0])
    failed = {trial.SAME_ERROR, trial.CRASHED_ON_HOST}
    return [
        str(entry)
        for entry in found
        if came_to.get(str(entry), set()) <= failed
        and str(entry) in came_to
        and sum(each.default is each.empty for each in entry.parameters()) > 1
        and str(entry) not in UNREACHED
    ]


if __name__ == "__main__":
    sys.exit(main())
