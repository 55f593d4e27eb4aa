"""The table of kernels, and how functions are listed in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of pyarrow to which libcudf gives the same answer."""

    #: Takes a `Call` and the extra arguments of the kernel, and returns a column of libcudf or a
    #: value of pyarrow.
    answer: Callable[..., Any]
    #: For each argument, the kinds of types that it may have, as `kinds` names them.  Arguments
    #: beyond the last entry follow that entry.
    takes: tuple[tuple[str, ...], ...]
    #: Whether all arguments must have the same number of rows.
    is_elementwise: bool
    extra: tuple[Any, ...]
    #: Whether all arguments must have the same type.
    of_one_type: bool


KERNELS: dict[str, Kernel] = {}
_BYTES = (pa.binary(), pa.large_binary())
#: By kernel: types that it takes by their kind, and of which libcudf answers otherwise.  Extremes
#: of bytes begin with a text that is the largest in UTF-8 only.  pyarrow counts some of the numbers
#: of 16 bits as one that `unique` tells apart.
EXCEPTIONS: dict[str, tuple[pa.DataType, ...]] = {
    **dict.fromkeys(("min", "max", "min_max"), _BYTES),
    "count_distinct": (pa.float16(),),
}


def _with_large(kinds: str) -> str:
    """Whatever takes strings, takes those with longer offsets, too."""
    is_missing = "string" in kinds.split() and "large_string" not in kinds.split()
    return f"{kinds} large_string" if is_missing else kinds


def kernel(
    *takes: str, elementwise: Any = True, of_one_type: Any = False, **names: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lists a function as a kernel of each of pyarrow's functions that ``names`` has, or of the one
    with its own name.  The value of a name is what the function gets after the call."""

    def listed(answer: Callable[..., Any]) -> Callable[..., Any]:
        kinds = tuple(tuple(_with_large(each).split()) for each in takes)
        for name, extra in (names or {answer.__name__: ()}).items():
            extra = extra if isinstance(extra, tuple) else (extra,)
            KERNELS[name.rstrip("_")] = Kernel(answer, kinds, elementwise, extra, of_one_type)
        return answer

    return listed
