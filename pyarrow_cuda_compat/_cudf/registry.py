"""The table of kernels, and how functions are listed in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of pyarrow to which libcudf gives the same answer."""

    #: Takes a `Call` and the extra arguments of the kernel, and returns a column or a value of
    #: pyarrow's.
    answer: Callable[..., Any]
    #: The kinds of types that each argument may have, as `kinds` names them; the last ones hold for
    #: further arguments.
    takes: tuple[tuple[str, ...], ...]
    #: Whether all arguments have as many rows.
    is_elementwise: bool
    extra: tuple[Any, ...]
    #: Whether the types of all arguments have to be the same.
    of_one_type: bool


KERNELS: dict[str, Kernel] = {}


def rows(
    *takes: str, elementwise: Any = True, of_one_type: Any = False, **names: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lists a function as kernels: by the names of pyarrow's functions, each with what it gets
    behind the call."""

    def listed(answer: Callable[..., Any]) -> Callable[..., Any]:
        kinds = tuple(tuple(each.split()) for each in takes)
        for name, extra in (names or {answer.__name__: ()}).items():
            extra = extra if isinstance(extra, tuple) else (extra,)
            KERNELS[name.rstrip("_")] = Kernel(answer, kinds, elementwise, extra, of_one_type)
        return answer

    return listed
