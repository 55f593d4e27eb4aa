"""Bounded caches, whose keys tell apart all that a result may depend on.

Equality forgets: pyarrow's schemas and types are equal that differ in metadata, or in names within
lists; Python's 0.0 equals -0.0, and 1 equals True.  `exact` makes keys that differ there, too, and
every cache of this package but those by texts and bytes is one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache, wraps
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .. import _native

#: Classes of which an object equals those only that nothing tells from it, or itself alone.
_AS_THEY_ARE = frozenset((type(None), str, bytes, type))
#: The numbers of types that have nothing to choose: any two of a number are the same.
_PLAIN = frozenset(
    kind.id
    for kind in (
        *(pa.null(), pa.bool_(), pa.date32(), pa.date64()),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64()),
        *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary()),
    )
)
#: Types that have a type within, which is no field.
_WITHIN = (pa.DictionaryType, pa.BaseExtensionType)


class _Inexact(Exception):
    """No key is known that tells an object from all others."""


class _Schema:
    """A schema as a part of a key: it equals those that equal it and have the same bytes."""

    __slots__ = ("content", "schema")

    def __init__(self, schema: pa.Schema) -> None:
        #: The bytes lack the class of a type of Python code.
        self.schema, self.content = schema, schema.serialize().to_pybytes()

    def __hash__(self) -> int:
        return hash(self.content)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Schema) or self.content != other.content:
            return False
        return bool(self.schema == other.schema)


def is_flat(kind: pa.DataType) -> bool:
    """Whether a type has nothing within, so that its equality is exact."""
    return not (kind.num_fields or isinstance(kind, _WITHIN))


def exact(part: Any) -> Hashable:
    """What equals the same of another object only where nothing tells the two apart.

    Raises
    ------
    _Inexact
        If that is not known of the object's class.
    """
    cls = type(part)
    if cls in _AS_THEY_ARE:
        return part  # type: ignore[no-any-return]
    if cls is tuple or cls is list:
        return cls, *[it if type(it) in _AS_THEY_ARE else exact(it) for it in part]
    if isinstance(part, pa.DataType):
        if part.id in _PLAIN:
            return pa.DataType, part.id  # the hash of a type is that of its text
        return part if is_flat(part) else _Schema(pa.schema([pa.field("", part)]))
    if cls is pa.Schema:
        return _Schema(part)
    if cls is int or cls is bool:
        return cls, part
    if cls is float and part == part:
        return cls, part.hex()  # NaN has several bit patterns, and is kept in no cache
    if isinstance(part, _native.Context):
        return part
    if isinstance(part, pc.FunctionOptions):
        return cls, part.serialize().to_pybytes()
    raise _Inexact


class Cache:
    """Results, none of which is None, by what they were made of.  All are forgotten where they are
    too many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: dict[Hashable, Any] = {}
        self.clear = self._results.clear

    def find(self, *parts: Any) -> Any:
        """The result for these parts; None if there is no result, or no exact key of a part."""
        try:
            return self._results.get(exact(parts))
        except _Inexact:
            return None

    def keep(self, result: Any, *parts: Any) -> Any:
        with suppress(_Inexact):
            key = exact(parts)
            if len(self._results) >= self._most:
                self._results.clear()
            self._results[key] = result
        return result

    def get(self, make: Callable[[], Any], *parts: Any) -> Any:
        """The result for these parts, which is made if it is not there."""
        found = self.find(*parts)
        return self.keep(make(), *parts) if found is None else found


def of_flat_types(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Keeps the results of a function of a type, none of which is None, if the type is flat."""
    kept = lru_cache(maxsize=1024)(function)
    of_plain: dict[int, Any] = {}

    @wraps(function)
    def from_cache(kind: Any) -> Any:
        number = kind.id
        found = of_plain.get(number)
        if found is not None:
            return found
        found = kept(kind) if is_flat(kind) else function(kind)
        if number in _PLAIN:
            of_plain[number] = found
        return found

    return from_cache
