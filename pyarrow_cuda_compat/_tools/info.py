"""Describes this machine, for ``python -m pyarrow_cuda_compat info`` and bug reports.

A missing part is not a failure: the report says in its place what is missing and what to do about
it.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from .._start import bridges, extension

# Other packages for device memory: only their versions are looked up, nothing is imported.
PACKAGES = (
    "numpy",
    "numba",
    "numba-cuda",
    "numba-cuda-mlir",
    "cuda-bindings",
    "cuda-core",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "rmm-cu12",
    "rmm-cu13",
    "pylibcudf-cu12",
    "pylibcudf-cu13",
    "torch",
    "jax",
    "cudf-cu12",
    "cudf-cu13",
    "pandas",
    "distributed",
)
VARIABLES = re.compile(
    r"PYARROW_CUDA_|CUDA_SIM_|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|CUDA_MPS_|"
    r"CUDA_LAUNCH_BLOCKING|NUMBA_"
)
KERNEL_MODULE = Path("/proc/driver/nvidia/version")
# What to do about an error of the driver, by its name.
ADVICE = {
    "CUDA_ERROR_NO_DEVICE": "check CUDA_VISIBLE_DEVICES, and that nvidia-smi shows a GPU",
    "CUDA_ERROR_STUB_LIBRARY": "take the CUDA toolkit's stubs out of LD_LIBRARY_PATH",
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": "restart the machine: its driver was updated",
}


def collect(*, free_memory: bool = True) -> dict[str, object]:
    """The facts, as plain values that JSON can hold.  A part that failed has an ``error``.

    Asking for the free memory makes a context on each device.
    """
    facts: dict[str, object] = {
        "version": version_of("pyarrow-cuda-compat"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "pyarrow": pyarrow_facts(),
        "driver": {},
        "compute engine": None,
        "devices": [],
        "packages": {name: found for name in PACKAGES if (found := version_of(name))},
        "environment": {
            name: value for name, value in sorted(os.environ.items()) if VARIABLES.match(name)
        },
    }
    try:
        native = extension.load()
    except ImportError as error:
        return facts | {"driver": {"error": str(error)}}
    facts["driver"] = driver_facts(native)
    facts["compute engine"] = compute_facts()
    facts["devices"] = devices(native, facts["driver"], free_memory)
    return facts


def usable(facts: dict[str, object]) -> bool:
    found, pyarrow = facts["devices"], facts["pyarrow"]
    ready = isinstance(pyarrow, dict) and "error" not in pyarrow
    return ready and isinstance(found, list) and any("error" not in device for device in found)


def version_of(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


def pyarrow_facts() -> dict[str, object]:
    try:
        import pyarrow
    except Exception as error:
        return {"error": str(error), "advice": f"install pyarrow {bridges.supported()}"}
    from _pyarrow_cuda_compat_hook import (  # type: ignore[import-untyped,unused-ignore]
        MODULE,
        Finder,
    )

    facts: dict[str, object] = {
        "version": getattr(pyarrow, "__version__", None),
        "path": bridges.place_of(pyarrow),
        "hook": Finder in sys.meta_path,
        "pyarrow.cuda": "none",
    }
    try:
        from .._load import BRIDGE, WAS_HOOKED
    except Exception as error:
        # An unsupported pyarrow, or a damaged installation: the error says which.
        return facts | {"error": str(error)}
    facts["hook"] = WAS_HOOKED
    # The origin shows whose module it is; finding it does not import it.
    spec = find_spec(MODULE)
    if spec is not None:
        ours = spec.origin == "pyarrow_cuda_compat"
        facts["pyarrow.cuda"] = "this package's" if ours else "pyarrow's own"
        if ours and not WAS_HOOKED:
            facts["pyarrow.cuda"] = "this package's, once pyarrow_cuda_compat is imported"
    return facts | {"bridge": Path(BRIDGE).name}


def compute_facts() -> str | None:
    """What computes on device data, if the driver can be loaded."""
    try:
        from .._cudf import engine

        return engine.described()
    except (ImportError, OSError):
        return None


def driver_facts(native: ModuleType) -> dict[str, object]:
    try:
        facts: dict[str, object] = native._driver()
    except OSError as error:
        said: dict[str, object] = {"error": str(error)}
        advice = [text for name, text in ADVICE.items() if name in str(error)]
        return said | {"advice": advice[0]} if advice else said
    facts["version"] = f"CUDA {facts.pop('cuda')}"
    if not facts["simulated"] and KERNEL_MODULE.exists():
        number = re.search(r"\b\d+\.\d+(\.\d+)?\b", KERNEL_MODULE.read_text())
        facts["version"] = f"{number[0]}, {facts['version']}" if number else facts["version"]
    facts["path"] = loaded_from(str(facts.pop("library")))
    return facts


def loaded_from(library: str) -> str:
    """The file of a library that was loaded by its name."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.split(maxsplit=5)[5:]
        if path and Path(path[0]).name.startswith(Path(library).name.removesuffix(".1")):
            return path[0]
    return library


def devices(native: ModuleType, driver: object, free_memory: bool) -> list[dict[str, object]]:
    facts: list[dict[str, object]] = []
    for number in range(driver.pop("devices", 0) if isinstance(driver, dict) else 0):
        try:
            facts.append(native._device(number, free_memory=free_memory))
        except OSError as error:
            facts.append({"number": number, "error": str(error)})
    return facts


def render(facts: dict[str, object]) -> str:
    """The facts as text: a line each, what belongs together under its heading."""
    return "\n".join(lines("", facts)).strip("\n")


def short(facts: dict[str, object]) -> str:
    """The versions in a line, and a line for each device."""
    pyarrow, driver, devices = facts["pyarrow"], facts["driver"], facts["devices"]
    assert isinstance(pyarrow, dict)
    assert isinstance(driver, dict)
    assert isinstance(devices, list)
    simulated = " (simulated)" if driver.get("simulated") else ""
    versions = [
        f"pyarrow-cuda-compat {facts['version']}",
        f"pyarrow {pyarrow.get('version', 'none')}",
        f"driver {driver['version']}{simulated}" if "version" in driver else "no driver",
    ]
    problems = [f"error: {it['error']}" for it in (pyarrow, driver) if "error" in it]
    return "\n".join([", ".join(versions), *problems, *map(_short_device, devices)])


def _short_device(device: dict[str, object]) -> str:
    name = f"device {device['number']}: "
    if "error" in device:
        return f"{name}error: {device['error']}"
    free, total = (plain(key, device[key]) for key in ("free_memory", "total_memory"))
    return f"{name}{device['name']}, {free} of {total} free"


def lines(indent: str, facts: dict[str, object]) -> Iterator[str]:
    width = 22 - len(indent)
    for name, fact in facts.items():
        # Names of variables stay as they are.
        name = name if name.isupper() else name.replace("_", " ")
        if isinstance(fact, dict) and fact:
            yield from ("", indent + name, *lines(indent + "  ", fact))
        elif isinstance(fact, list) and fact:
            for each in fact:
                number = each["number"]
                rest = {key: value for key, value in each.items() if key != "number"}
                yield from ("", f"{name.removesuffix('s')} {number}", *lines("  ", rest))
        else:
            yield f"{indent}{name:<{width}} {plain(name, fact)}"


def plain(name: str, fact: object) -> str:
    if fact is None or fact == {} or fact == []:
        return "none"
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    if name.endswith((" memory", "_memory")) and isinstance(fact, int):
        return f"{fact / 2**30:.1f} GiB"
    return str(fact)
