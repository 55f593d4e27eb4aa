"""`describe`: where data lies, and how much it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .._start.extension import PACKAGE
from . import html, sizes, texts

_HEAD = ("column", "type", "bytes", "nulls")


@dataclass(frozen=True)
class Column:
    """A column of a `Description`."""

    name: str
    type: pa.DataType
    nbytes: int
    null_count: int


@dataclass(frozen=True, repr=False)
class Description:
    """What `describe` returns.  Its text, and its HTML in notebooks, are a table.

    Attributes
    ----------
    kind : str
        The class of the data.
    device : str
        Where all of it lies: ``"cuda:0"``, ``"cpu"``, or several of them with commas.
    rows : int
    nbytes : int
        As `pyarrow.Table.nbytes`.
    columns : tuple of Column
        With ``name``, ``type``, ``nbytes`` and ``null_count``; of an array one, named ``""``.
    """

    kind: str
    device: str
    rows: int
    nbytes: int
    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        return f"{self._title()}\n{texts.rendered(_HEAD, self._lines())}"

    def _repr_html_(self) -> str:
        return html.rendered(self._title(), _HEAD, self._lines())

    def _title(self) -> str:
        return f"{self.kind} on {self.device}: {self.rows:,} rows, {self.nbytes:,} bytes"

    def _lines(self) -> Iterator[tuple[str, ...]]:
        for column in self.columns:
            yield column.name, str(column.type), f"{column.nbytes:,}", f"{column.null_count:,}"


def describe(data: Any) -> Description:
    """Tell where data lies, how much it is, and what its columns are.

    Reads types, sizes and null counts; copies no data.  libarrow has to look at each element of
    views, run ends and dense unions, which are copied to the host.

    Parameters
    ----------
    data : pyarrow.Table, RecordBatch, ChunkedArray or Array
        On a device, on the host, or on several.

    Returns
    -------
    Description
        With ``device``, ``rows``, ``nbytes`` and ``columns``.

    Raises
    ------
    TypeError
        If `data` is of another class.

    Examples
    --------
    >>> describe(pa.table({"x": [1, 2, None], "s": ["a", "b", "c"]}).copy_to("cuda:0"))
    Table on cuda:0: 3 rows, 40 bytes
    column  type    bytes  nulls
    x       int64   25     1
    s       string  15     0
    """
    if isinstance(data, pa.Table | pa.RecordBatch):
        named = list(zip(data.schema.names, data.columns, strict=True))
    elif isinstance(data, pa.Array | pa.ChunkedArray):
        named = [("", data)]
    else:
        raise TypeError(
            "describe takes a pyarrow Table, RecordBatch, ChunkedArray or Array, "
            f"not {type(data).__name__}"
        )
    columns = tuple(
        Column(name, column.type, sizes.nbytes(column), column.null_count) for name, column in named
    )
    total = sum(column.nbytes for column in columns)
    return Description(type(data).__name__, _place_of(data), len(data), total, columns)


def _place_of(data: Any) -> str:
    numbers = sizes.devices_of(data)
    return ", ".join("cpu" if it is None else f"cuda:{it}" for it in numbers) or "cpu"


describe.__module__ = PACKAGE
