"""Which calls fail, and how."""

from dataclasses import dataclass

#: Invalid value, out of memory, invalid context, illegal address, unknown; and one without a name.
CODES = (1, 2, 201, 700, 999, 12345)
TEXTS = {
    1: "[CUDA_ERROR_INVALID_VALUE] invalid argument",
    2: "[CUDA_ERROR_OUT_OF_MEMORY] out of memory",
    201: "[CUDA_ERROR_INVALID_CONTEXT] invalid device context",
    700: "[CUDA_ERROR_ILLEGAL_ADDRESS] an illegal memory access was encountered",
    999: "[CUDA_ERROR_UNKNOWN] unknown error",
    12345: "unknown error",
}
#: After a kernel has failed, each call returns this.
STICKY = 700
ANY = "*"


@dataclass(frozen=True)
class Fault:
    """The `nth` call of `function` fails with `code`; if it is sticky, so do all later ones."""

    function: str
    nth: int
    code: int
    is_sticky: bool = False
    #: Whether the hook for unraisable exceptions uses the package.
    has_busy_hook: bool = False

    @property
    def rule(self):
        return f"{self.function}:{self.nth}{'+' * self.is_sticky}={self.code}"

    def __str__(self):
        return self.rule + " with a busy hook" * self.has_busy_hook


def selected(count):
    """Of a call that is made often: the first three, the middle and the last."""
    return sorted({*range(1, min(count, 3) + 1), (count + 1) // 2, count})


def whole(counts, is_cold):
    """Each selected call with each code, and with either hook in a process that goes on.

    Sticky errors begin at each of these calls, and at others.
    """
    single, sticky = [], [Fault(ANY, nth, STICKY, True) for nth in _spread(counts, 32)]
    for function, nth in _places(counts):
        for is_busy in [False] if is_cold else [False, True]:
            single += [Fault(function, nth, code, has_busy_hook=is_busy) for code in CODES]
            sticky.append(Fault(function, nth, STICKY, True, is_busy))
    return single, sticky


def quick(counts, is_cold):
    """A sample: one call of each function, and every fourth function's first one in a new process.

    Calls, codes and hooks take turns.  The count of all calls differs between scenarios, so each
    begins its turns at another one.  Sticky errors are few.
    """
    begin = counts.total()
    functions = sorted(counts)[begin % 4 :: 4] if is_cold else sorted(counts)
    single = []
    for turn, function in enumerate(functions, begin):
        nths = [1] if is_cold else selected(counts[function])
        nth, code = nths[turn % len(nths)], CODES[turn % len(CODES)]
        single.append(Fault(function, nth, code, has_busy_hook=turn % 4 == 3))
    return single, [Fault(ANY, nth, STICKY, True) for nth in _spread(counts, 1 + is_cold)]


def _places(counts):
    return [
        (function, nth) for function, count in sorted(counts.items()) for nth in selected(count)
    ]


def _spread(counts, most):
    return sorted({1 + counts.total() * part // most for part in range(most)})
