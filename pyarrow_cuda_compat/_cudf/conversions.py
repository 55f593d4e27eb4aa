"""Arrays and tables as libcudf's, remembered for as long as a program has them."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple
from weakref import ref


class Conversion(NamedTuple):
    data: Any
    #: The context in which it lies.
    context: Any
    #: The same as libcudf's column or table: booleans are in bytes there.
    column: Any
    #: Its values, which are not null, are at least 0 and less than this; 0 if that is not known.
    upper_bound: int
    #: Whether it is the program's own memory, to which work may be queued; else it is a result.
    is_view: bool


_conversions: dict[int, Conversion] = {}


def remember(
    data: Any, context: Any, column: Any, upper_bound: int = 0, *, is_view: bool = False
) -> None:
    """Remembers a result, which counts as unchanged, or a view of memory that a program may write
    to; no copy, which would not follow."""
    place = id(data)
    # Compiled code, whose default is the reference itself: no signal's handler raises in it.
    weak = ref(data, partial(_conversions.pop, place))
    _conversions[place] = Conversion(weak, context, column, upper_bound, is_view)


def conversion_of(data: Any) -> Conversion | None:
    found = _conversions.get(id(data))
    return found if found is not None and found.data() is data else None
