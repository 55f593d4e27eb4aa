"""The part of a filter by which row groups of Parquet files are skipped.

Statistics leave out NaN.  pyarrow takes them for those of all rows, and so skips a row group of 1.0
and NaN if the filter is ``x != 1.0``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._cudf.expressions import Part, Path, parsed, serialized
from .._cudf.refusals import NotCovered

#: Comparisons that NaN fails.
_FAILED_BY_NAN = frozenset(("equal", "less", "less_equal", "greater", "greater_equal"))
_BOTH = frozenset(("and", "and_kleene"))
_EITHER = frozenset(("or", "or_kleene"))


def decided_by_statistics(expression: Any, schema: pa.Schema) -> Any:
    """The part of a filter that statistics decide: all of it, some members of its conjunction, or
    None."""
    try:
        members = [*_members(parsed(serialized(expression)))]
    except NotCovered:  # of fields by their numbers
        return None
    kept = [each for each in members if _is_decided(each, schema)]
    if len(kept) == len(members):
        return expression
    return reduce(and_, map(_made, kept)) if kept else None


def _members(part: Part) -> Iterator[Part]:
    if isinstance(part, tuple) and not isinstance(part, Path) and part[0] in _BOTH:
        for each in part[1]:
            yield from _members(each)
    else:
        yield part


def _is_decided(part: Part, schema: pa.Schema) -> bool:
    """Whether NaN fails it where all numbers between those of the statistics do."""
    if not _has_floats(part, schema):
        return True
    if isinstance(part, Path | str):
        return False
    name, arguments, _ = part
    if name in _BOTH | _EITHER:
        return all(_is_decided(each, schema) for each in arguments)
    are_plain = all(isinstance(each, Path | str | pa.Scalar) for each in arguments)
    return name in _FAILED_BY_NAN and are_plain


def _has_floats(part: Part, schema: pa.Schema) -> bool:
    if isinstance(part, Path):
        return True  # without floating-point numbers, fewer row groups are skipped
    if isinstance(part, str):
        return part not in schema.names or pa.types.is_floating(schema.field(part).type)
    return isinstance(part, tuple) and any(_has_floats(each, schema) for each in part[1])


def _made(part: Part) -> Any:
    """pyarrow's expression of a part."""
    if isinstance(part, pa.Scalar):
        return pc.scalar(part)
    if isinstance(part, Path | str):
        return pc.field(*([part] if isinstance(part, str) else part.names))
    name, arguments, options = part
    given = pc.FunctionOptions.deserialize(pa.py_buffer(options)) if options else None
    return pc.Expression._call(name, [*map(_made, arguments)], given)
