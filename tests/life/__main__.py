"""``python -m life``: everything that can happen to a process, on the simulated device."""

import argparse
import gc
import json
import os
import sys
import time
import warnings
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

from . import children

GROUPS = ("imports", "exits", "forks", "signals", "limits", "interpreters")


def main():
    parser = argparse.ArgumentParser(prog="life", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--quick", action="store_true", help="a selection")
    parser.add_argument("--only", default="*", help="names of cases, as a pattern")
    parser.add_argument("--list", action="store_true", help="only name the cases")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--json", type=Path, help="a file for what is wrong, by group and case")
    options = parser.parse_args()
    os.environ |= {"PYARROW_CUDA_DRIVER": "sim", "CUDA_SIM_DEVICES": "2"}
    warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
    wrong = {}
    for group in options.groups or GROUPS:
        start = time.monotonic()
        cases = import_module(f"{__package__}.{group}").cases(options.quick)
        cases = [case for case in cases if fnmatch(case.name, options.only)]
        if options.list:
            print(*(case.name for case in cases), sep="\n")
            continue
        gc.collect()
        gc.freeze()  # what the imports have left takes long to walk over in each process
        wrong[group] = children.run(cases, options.processes)
        failed = {name: why for name, why in wrong[group].items() if why}
        for name, why in failed.items():
            print(f"--- {group}: {name}\n{why}")
        took = time.monotonic() - start
        print(f"{group}: {len(cases)} cases, {len(failed)} failed, {took:.0f} s", flush=True)
    if options.json:
        options.json.write_text(json.dumps(wrong))
    sys.exit(any(why for found in wrong.values() for why in found.values()))


if __name__ == "__main__":
    main()
