"""The gate towards libcudf: every array passes `admitted` before it becomes a column, but those
that `spans.columns_of` finds in order.

===========  ===================================================================================
place        all memory must be on the device.  Otherwise it is copied there
alignment    each buffer must be aligned for the widest load of a kernel.  Otherwise the array is
             copied: libcudf's kernels do not check, and a failed load ends the context
rows         libcudf numbers rows with 32 bits, also the rows before a slice and within lists.  Too
             many rows are refused.  A slice after too many others is copied to the beginning
===========  ===================================================================================

The context is checked before, where a call begins: see `guards.compute`.
"""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import pyarrow as pa

from .. import _native
from .refusals import NotCovered
from .types import Form, form_of


def need_rows(count: int, most: int) -> None:
    """Refuses more rows than libcudf has in such a column."""
    if count > most:
        raise NotCovered(
            f"libcudf has at most {most:,} rows in such a column; call the function on slices of "
            "the data"
        )


def admitted(array: Any) -> tuple[Any, Form]:
    """An array that libcudf can read, which is the given one or a copy on the device that computes,
    and its form.

    Raises
    ------
    NotCovered
        If it has too many rows.
    """
    form = form_of(array.type)
    need_rows(len(array), form.most_rows)
    buffers = array.buffers()
    if not _are_aligned(buffers, form):
        array = array.copy_to(_native._here())
        buffers = array.buffers()
    if array.offset + len(array) > form.most_rows or (form.has_parts and _are_far(buffers, form)):
        array = _from_first_row(array)
    return array, form


def _are_aligned(buffers: list[Any], form: Form) -> bool:
    # Views have any number of buffers with characters.
    divisors = chain((divisor for divisor, _ in form.buffers), repeat(1))
    for buffer, divisor in zip(buffers, divisors, strict=False):
        if buffer is not None and (buffer.is_cpu or buffer.address % divisor) and buffer.size:
            return False
    return True


def _are_far(buffers: list[Any], form: Form) -> bool:
    """Whether parts may have too many rows: a slice leaves those of structs as long as they are."""
    pairs = zip(buffers, form.buffers, strict=True)
    return any(buffer is not None and buffer.size > size for buffer, (_, size) in pairs)


def _from_first_row(array: Any) -> Any:
    """A copy of what a slice reaches, without the rows before."""
    # Arrays that become one are copied; one array alone is not.
    return _native._combine(pa.chunked_array([array, array.slice(0, 0)]), pa.ChunkedArray)
