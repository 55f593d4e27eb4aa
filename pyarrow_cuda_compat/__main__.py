"""``python -m pyarrow_cuda_compat``: tells what is installed, replays examples, builds bridges."""

from __future__ import annotations

import argparse
import json
import os
import sys

from ._start import build_bridge
from ._tools import info
from .conformance import runner


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(
        prog=_program(),
        description="A working pyarrow.cuda for the pyarrow on PyPI.",
    )
    version = f"pyarrow-cuda-compat {info.version_of('pyarrow-cuda-compat')}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(metavar="COMMAND")

    def without_a_command(_: argparse.Namespace) -> int:
        parser.print_help(sys.stderr)
        return 2

    parser.set_defaults(run=without_a_command)

    text = "print the driver, the devices and the installed versions"
    command = commands.add_parser(
        "info",
        help=text,
        description=text,
        epilog="The exit status is 0 if a device is usable, and 1 otherwise.",
    )
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--short", action="store_true", help="print one line, and one for each device"
    )
    command.set_defaults(run=show_info)

    text = "replay the documented examples with the installed package"
    command = commands.add_parser("conformance", help=text, description=text)
    runner.add_arguments(command)
    command.set_defaults(run=runner.main)

    text = "compile the C++ part for an installed pyarrow that is newer than the wheel"
    needs = "It needs g++, or the compiler that CXX names, and takes one to three minutes."
    command = commands.add_parser("build-bridge", help=text, description=text, epilog=needs)
    build_bridge.add_arguments(command)
    command.set_defaults(run=build_bridge.main)

    chosen = parser.parse_args(arguments)
    try:
        status: int = chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe; the interpreter must not complain at exit, either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _program() -> str:
    name = os.path.basename(sys.argv[0])  # noqa: PTH119
    return name if name == "pyarrow-cuda" else "python -m pyarrow_cuda_compat"


def show_info(arguments: argparse.Namespace) -> int:
    facts = info.collect()
    if arguments.json:
        print(json.dumps(facts, indent=2))
    else:
        print((info.short if arguments.short else info.render)(facts))
    return int(not info.usable(facts))


if __name__ == "__main__":
    sys.exit(main())
