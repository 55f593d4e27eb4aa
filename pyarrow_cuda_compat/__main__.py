"""``python -m pyarrow_cuda_compat``: what is here, and whether it does what is documented."""

from __future__ import annotations

import argparse
import json
import os
import sys

from . import info
from .conformance import runner


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m pyarrow_cuda_compat",
        description="A working pyarrow.cuda for the pyarrow of PyPI.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    text = "tell what this machine has, for a bug report"
    command = commands.add_parser(
        "info",
        help=text,
        description=text,
        epilog="The exit status is 0 when there is a device to work with, and 1 otherwise.",
    )
    command.add_argument("--json", action="store_true", help="as JSON")
    command.set_defaults(run=show_info)

    text = "replay the documented examples against the installed package"
    command = commands.add_parser("conformance", help=text, description=text)
    runner.add_arguments(command)
    command.set_defaults(run=runner.main)

    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough; the interpreter must not complain at its end either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def show_info(arguments: argparse.Namespace) -> int:
    facts = info.collect()
    print(json.dumps(facts, indent=2) if arguments.json else info.render(facts))
    return int(not info.usable(facts))


if __name__ == "__main__":
    sys.exit(main())
