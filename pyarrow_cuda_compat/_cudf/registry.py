"""What a row is, and how rows are listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """A function of pyarrow to which libcudf gives the same answer."""

    #: Takes a `Call` and the extra arguments of the row, and returns a column or a value of
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


ROWS: dict[str, Row] = {}


def rows(
    *takes: str, elementwise: Any = True, of_one_type: Any = False, **names: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Lists a function as the answer of rows: by name, each with what the function gets behind the
    call."""

    def listed(answer: Callable[..., Any]) -> Callable[..., Any]:
        kinds = tuple(tuple(each.split()) for each in takes)
        for name, extra in (names or {answer.__name__: ()}).items():
            extra = extra if isinstance(extra, tuple) else (extra,)
            ROWS[name.rstrip("_")] = Row(answer, kinds, elementwise, extra, of_one_type)
        return answer

    return listed
