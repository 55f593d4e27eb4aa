"""Failures that the package need not report, because it does without the call.

The trial that meets one has checked that the results are right, and that nothing is lost.
"""

from dataclasses import dataclass
from fnmatch import fnmatch

from .plan import STICKY

#: Calls that make a context current, for any other call.
ENTERING = {"cuCtxGetCurrent", "cuCtxPushCurrent"}


@dataclass(frozen=True)
class Silence:
    """Why these functions may fail silently, with some codes only, or in some scenarios."""

    why: str
    functions: set[str]
    codes: set[int] | None = None
    scenarios: tuple[str, ...] = ("*",)

    def covers(self, scenario, fault):
        return (
            fault.function in self.functions
            and (self.codes is None or fault.code in self.codes)
            and any(fnmatch(scenario, pattern) for pattern in self.scenarios)
        )


EVERY = (
    Silence(
        "whether a context is gone is asked twice, and no other code than 201 says so",
        {"cuCtxGetApiVersion", "cuCtxGetId"},
    ),
    Silence(
        "the mode only spares captures of other threads an interruption",
        {"cuThreadExchangeStreamCaptureMode"},
    ),
    Silence(
        "the wait that follows the question fails if work has failed, and asks again",
        {"cuStreamQuery", "cuStreamIsCapturing"},
    ),
    Silence(
        "memory that may still be in use does not serve again, or is waited for",
        {"cuEventQuery", "cuEventRecord", "cuEventCreate", "cuCtxRecordEvent"},
    ),
    Silence(
        "that needs an event in each context of the process",
        ENTERING | {"cuDeviceGet", "cuDeviceGetCount", "cuDevicePrimaryCtxGetState"},
        scenarios=(
            "caches.*",
            "fronts.pygpu_devices_and_memory",
            "fronts.smart_arrays",
            "pinned.pools",
        ),
    ),
    Silence(
        "what work in flight retains is released by a later call",
        ENTERING,
        scenarios=(
            "contexts.borrowed",
            "*.on_streams",
            "exchange.events",
            "exchange.streams_of_batches",
            "files.*",
            "fronts.*",
            "pinned.*",
            "streams.*",
        ),
    ),
    Silence(
        "a context with a fault executes nothing any more, so its work uses no memory",
        ENTERING | {"cuCtxSynchronize"},
        {STICKY},
    ),
    Silence(
        "a copy that the driver refuses as a whole is made in steps, which bring all bytes",
        {"cuMemcpyDtoH", "cuMemcpyHtoDAsync"},
        {1},
    ),
    Silence("memory that is not known to be pinned is pageable", {"cuPointerGetAttribute"}),
    Silence("that is asked in a context", ENTERING, scenarios=("batches.copies",)),
    Silence(
        "without pinned memory the driver copies, and writers collect in pageable memory; "
        "a comparison's answer is copied, too",
        {"cuMemHostRegister", "cuMemHostGetDevicePointer", "cuStreamCreate"},
    ),
    Silence("that is pinned in a context", ENTERING, scenarios=("transfers.*",)),
    Silence(
        "without a known NUMA node, threads and memory are anywhere",
        {"cuDeviceGet", "cuDeviceGetAttribute"},
        scenarios=("transfers.*",),
    ),
    Silence(
        "caches make room",
        {"cuMemAlloc", "cuDeviceGet", "cuDeviceTotalMem"} | ENTERING,
        {2},
    ),
    Silence(
        "without a current context, arrays are made on device 0",
        {"cuCtxGetDevice"},
        {201},
        ("fronts.*",),
    ),
    Silence(
        "devices without access to each other's memory copy through the host",
        ENTERING | {"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess", "cuDeviceGet"},
        scenarios=("peers.*",),
    ),
)


def may_be_silent(scenario, fault):
    return any(silence.covers(scenario, fault) for silence in EVERY)
