"""Runs the statements of one case as Python's prompt would, and prints the session.

    python replay.py CASE SECONDS

A case is a session in doctest's layout.  It is printed as it stands, but with the outputs that the
statements have here.  An exception does not end the session: its last lines are shown.  Addresses
and the names of devices differ from machine to machine, so they are masked.  After SECONDS, a
watchdog that needs no GIL ends the process.

A case begins with its title, and a second line may name what it needs beside a device:

    # A kernel over a device buffer.
    # needs: gpu, numba kernels

A need is `gpu`, `two devices`, `5 GiB` of free memory on the first device (or another number),
`numba kernels`, or a module; `cupy`, `torch` and `jax` must also be able to use the GPU, and
`numba.cuda` the device, which may be the simulated one.  When something is lacking, the exit status
is 77 and the output says what.  A line

    # environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba

sets a variable before anything is imported.

This file imports the standard library only, so that a case sees only what it imports itself.
"""

from __future__ import annotations

import builtins
import doctest
import faulthandler
import importlib
import os
import pkgutil
import re
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType

SKIPPED = 77
# A transcript begins with the title; so only the reason for a skip begins like this.
LACKING = "needs "
HEADER = re.compile(r"(#.*\n)+")
NEEDS = re.compile(r"^# needs: (.+)$", re.MULTILINE)
ENVIRONMENT = re.compile(r"^# environment: (\w+)=(.*)$", re.MULTILINE)
FREE_MEMORY = re.compile(r"(\d+) GiB")
# Smaller numbers are sizes, greater ones are limits such as 2**63 - 1.
ADDRESSES = range(1 << 32, 1 << 62)
HEXADECIMAL = re.compile(r"0x[0-9a-f]{7,}")
# Not the digits within a string or a number with a fraction, nor negative numbers.
INTEGER = re.compile(r"(?<![\w'\".-])\d{10,}(?![\w'\"]|\.\d)")
JAX_PLUGIN = re.compile(r"jax_cuda\d+_plugin")
DEVICE_NAME = re.compile(r'(device_number=\d+, name=)"[^"]*"')


def mask(text: str) -> str:
    text = HEXADECIMAL.sub("0x<address>", text)
    return DEVICE_NAME.sub(r'\1"<device>"', text)


def mask_value(text: str) -> str:
    """Also decimal numbers that may be addresses: in what an expression gives, not in errors."""
    return INTEGER.sub(
        lambda number: "<address>" if int(number[0]) in ADDRESSES else number[0], text
    )


class Masked:
    """Standard output, line by line with its masks on."""

    def __init__(self) -> None:
        self.rest: str = ""

    def write(self, text: str) -> int:
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            # Where an empty line stands, an example's output is over.
            print(mask(line) if line.strip() else "<BLANKLINE>", file=sys.__stdout__)
        return len(text)

    def flush(self) -> None:
        print(end="", file=sys.__stdout__, flush=True)

    def end_line(self) -> None:
        if self.rest:
            self.write("\n")


def show(value: object) -> None:
    if value is not None:
        print(mask_value(repr(value)))
        builtins.__dict__["_"] = value


def prompt(source: str) -> str:
    """A statement behind the prompts."""
    first, *more = source.removesuffix("\n").split("\n")
    return "\n".join([f">>> {first}", *(f"... {line}" if line else "..." for line in more), ""])


def lacking(header: str) -> str | None:
    """The first of a case's needs that this machine does not meet."""
    needs = NEEDS.search(header)
    if not needs or "pylibcudf" not in needs[1]:
        # The others show what a program meets without it.
        os.environ.setdefault("PYARROW_CUDA_COMPUTE_ENGINE", "none")
    for need in needs[1].split(", ") if needs else []:
        if need == "gpu":
            if is_simulated():
                return "a GPU"
        elif need == "two devices":
            if importlib.import_module("pyarrow.cuda").Context.get_num_devices() < 2:
                return "a second device"
        elif memory := FREE_MEMORY.fullmatch(need):
            device = importlib.import_module("pyarrow_cuda_compat._native")._device(0)
            # A device that is full has no room for a context, and does not tell.
            if device.get("free_memory", 0) < int(memory[1]) << 30:
                return f"{need} of free device memory"
        else:
            # Such packages raise all kinds of errors when they lack something.
            try:
                if need == "numba kernels":
                    compile_kernel()
                else:
                    check_gpu_of(importlib.import_module(need))
            except Exception as error:
                return f"{need} ({error})"
    return None


def is_simulated() -> bool:
    """The simulator is never chosen but by name."""
    driver = Path(os.environ.get("PYARROW_CUDA_DRIVER", ""))
    return driver.name in ("sim", "libcuda_sim.so")


def check_gpu_of(module: ModuleType) -> None:
    """Fails for a library of GPU arrays that cannot use the device."""
    if module.__name__ == "numba.cuda":
        # It looks for a driver itself, and may have found that of a GPU.
        if is_simulated() and "Simulator" not in str(module.gpus[0].name):
            raise RuntimeError("with another driver")
        return
    if module.__name__ in ("cupy", "torch"):
        can = module.cuda.is_available()
    elif module.__name__ == "jax":
        # Asking JAX itself would have it take most of the device's memory.
        can = any(JAX_PLUGIN.fullmatch(each.name) for each in pkgutil.iter_modules())
    else:
        return
    if not can:
        raise RuntimeError("without CUDA")


def compile_kernel() -> None:
    """Fails where Numba is installed and cannot work, as numba-cuda 0.30 with NumPy 2.5."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module("numba.cuda").jit("void()")(lambda: None)


def replay(session: str) -> int:
    """Returns the exit status."""
    header = HEADER.match(session)
    head = header[0] if header else ""
    os.environ.update(ENVIRONMENT.findall(head))
    missing = lacking(head)
    if missing:
        print(f"{LACKING}{missing}")
        return SKIPPED
    output = Masked()
    sys.stdout = output
    sys.displayhook = show
    names: dict[str, object] = {"__name__": "__main__", "__builtins__": builtins}
    for piece in doctest.DocTestParser().parse(session):
        if isinstance(piece, str):
            print(piece, end="", file=sys.__stdout__)
            continue
        # At once, because the statement may end the process.
        print(prompt(piece.source), end="", file=sys.__stdout__, flush=True)
        try:
            exec(compile(piece.source, "<stdin>", "single"), names)
        except Exception as error:
            output.end_line()
            print(*traceback.format_exception_only(error), sep="", end="")
        output.end_line()
        output.flush()
    sys.stdout = sys.__stdout__
    return 0


def main() -> int:
    """Replays the case of the first argument, for at most as many seconds as the second says."""
    case, seconds = sys.argv[1:]
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    return replay(Path(case).read_bytes().decode())


if __name__ == "__main__":
    sys.exit(main())
