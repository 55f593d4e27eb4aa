"""What is known of tables and arrays for as long as a program has them."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple
from weakref import ref


class Known(NamedTuple):
    data: Any
    #: The context in which it lies.
    context: Any
    #: The same as libcudf's column or table: booleans are in bytes there.
    column: Any
    #: Whether it is a result, which counts as unchanged.  A program may write to other data.
    is_result: bool
    #: Whether its values, which are not null, are 0 to this number without it; 0 if not known.
    below: int


_known: dict[int, Known] = {}


def remember(data: Any, context: Any, column: Any, *, is_result: bool, below: int = 0) -> None:
    place = id(data)
    # Compiled code, whose default is the reference itself: no signal's handler raises in it.
    weak = ref(data, partial(_known.pop, place))
    _known[place] = Known(weak, context, column, is_result, below)


def known(data: Any) -> Known | None:
    found = _known.get(id(data))
    return found if found is not None and found.data() is data else None
