"""``python -m faults``: fails the driver's calls one at a time, on the simulated device."""

import argparse
import fnmatch
import gc
import json
import os
import sys
import time
from pathlib import Path

from . import pool, scenarios, simulator
from .results import CACHES, Results


def main():
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("patterns", nargs="*", metavar="SCENARIO", help="such as 'files.*'")
    parser.add_argument("--quick", action="store_true", help="a sample: one call of each function")
    parser.add_argument("--list", action="store_true", help="only name the scenarios")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="a file for what is wrong, by scenario")
    options = parser.parse_args()
    wanted = chosen(options.patterns)
    if options.list:
        print("\n".join(scenario.name for scenario in wanted))
        return
    start, results = time.monotonic(), Results(not options.quick)
    run(results, wanted, options.processes)
    if options.json:
        options.json.write_text(json.dumps(results.wrong))
    print(f"{results.summary()}, {time.monotonic() - start:.0f} s")
    sys.exit(results.have_failed)


def chosen(patterns):
    found = scenarios.every()
    if not patterns:
        return [*found.values()]
    names = [name for name in found if any(fnmatch.fnmatch(name, each) for each in patterns)]
    return [found[name] for name in names] or sys.exit(f"no scenario is called {patterns}")


def run(results, wanted, processes):
    assert not simulator.calls(), "the driver is loaded, which forks do not survive"
    os.environ |= {"PYARROW_CUDA_DRIVER": "sim", "CUDA_SIM_DEVICES": str(simulator.DEVICES)}
    # On a machine with many cores, the engine would begin in the middle of a scenario.
    os.environ["PYARROW_CUDA_COPY_THREADS"] = "0"
    # The objects of imported modules are not garbage, and take long to walk over each time.
    gc.collect()
    gc.freeze()
    pool.run(results.begin(wanted), CACHES, results.hear, processes)


if __name__ == "__main__":
    main()
