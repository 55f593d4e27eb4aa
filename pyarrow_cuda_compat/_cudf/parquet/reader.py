"""Parquet files by libcudf's reader, where its answer is pyarrow's.

pyarrow reads the footers.  It says which files and row groups a filter leaves, and the schema of
the result.  `footers` checks what libcudf would be asked for.  libcudf reads as many row
groups at once as there is memory for, and the filter is evaluated as for a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..columns import to_table
from ..evaluation import Evaluation
from ..expressions import fields_of
from ..refusals import NotCovered, need
from ..types import MOST_ROWS, form_of
from .footers import RowGroup, check_chunks, row_groups_of, source_of
from .messages import Request
from .partitions import Keys
from .process import unpacked

_is = pa.types
#: Bytes in the files.  For fewer, another process takes longer than pyarrow.
LEAST = 16 << 20
_Compute = Callable[..., tuple[Any, pa.DataType]]


class Reader:
    """Reads the row groups of a scan's files; `compute` answers a function for columns.

    Raises
    ------
    NotCovered
        If pyarrow has to read one of the files.
    """

    def __init__(self, compute: _Compute, scan: Any) -> None:
        self._compute, self._scan = compute, scan
        schema = scan.dataset.schema
        #: Of the result.
        self._names = schema.names if scan.columns is None else scan.columns
        need(self._names, "not tables without columns")
        self._filtered = [] if scan.filter is None else fields_of(scan.filter)
        needed = dict.fromkeys([*self._names, *self._filtered])
        for name in needed:
            need(schema.names.count(name) == 1, f"not a column named {name!r}")
        #: By name: what is read, with the types of the dataset.
        self._fields = {name: schema.field(name) for name in needed}
        if scan.filter is not None:
            views = [it.name for it in self._fields.values() if _is_view(it.type)]
            need(not views, "not filters of files with views, which pyarrow refuses")
        names = list(self._fields)
        # All are checked before the first one is read, but for compressions and encodings.
        self._groups = [
            it for each in _fragments_of(scan) for it in row_groups_of(each, scan, names)
        ]
        need(self._groups, "not files without rows, for which pyarrow may have an error")
        is_large = sum(group.nbytes() for group in self._groups) >= LEAST
        need(is_large, "not small files, which pyarrow reads sooner")

    def passes(self, rows: int) -> Iterator[list[RowGroup]]:
        """The row groups in order, those together that are read at once: of one form, with at most
        so many rows unless it is one group."""
        for _, groups in groupby(self._groups, lambda group: group.file.form):
            yield from _of_most_rows(groups, min(rows, MOST_ROWS - 1))

    def tables(self, groups: list[RowGroup]) -> Iterator[tuple[pa.Table, int]]:
        """Tables of the rows that the filter leaves, and how many rows their groups have: one
        table, or if the memory is too small for that, those of either half."""
        try:
            table = self._table(groups)
        except MemoryError:
            if len(groups) == 1:
                raise
        else:
            yield table, sum(group.rows for group in groups)
            return
        middle = len(groups) // 2
        for half in (groups[:middle], groups[middle:]):
            yield from self.tables(half)

    def _table(self, groups: list[RowGroup]) -> pa.Table:
        """The rows of the groups that the filter leaves."""
        stored = groups[0].file.stored
        columns = dict(zip(stored, _decoded(groups, list(stored)), strict=True))
        for name, kind in stored.items():
            columns[name] = self._as_wanted(columns[name], kind, self._fields[name].type)
        others = [name for name in self._fields if name not in stored]
        keys = Keys(groups, self._scan, others, self._filtered)
        columns |= keys.columns
        if self._scan.filter is not None:
            columns = self._filter(columns, keys)
        likes = [keys.likes.get(name) for name in self._names]
        return to_table([columns[name] for name in self._names], self._scan.schema, likes=likes)

    def _as_wanted(self, column: Any, stored: pa.DataType, wanted: pa.DataType) -> Any:
        """A column in the type of the dataset, to which pyarrow casts it."""
        kind = _read_as(stored)
        column = _of_type(column, kind)
        if kind == _read_as(wanted):
            return column
        options = pc.CastOptions.safe(wanted).serialize().to_pybytes()
        return self._compute("cast", [column], [kind], options)[0]

    def _filter(self, columns: dict[str, Any], keys: Keys) -> dict[str, Any]:
        read = columns | keys.decoded
        schema = keys.evaluated(pa.schema([self._fields[name] for name in self._filtered]))
        named = [read[name] for name in self._filtered]
        mask = Evaluation(named, schema, self._compute).of(self._scan.filter)
        need(isinstance(mask, plc.Column), "not with an expression without fields")
        wanted = dict.fromkeys(self._names)
        kept = op.kept(plc.Table([columns[name] for name in wanted]), mask)
        return dict(zip(wanted, kept.columns(), strict=True))


def _fragments_of(scan: Any) -> list[Any]:
    try:
        return list(scan.dataset.get_fragments(scan.filter))
    except ValueError as error:
        raise NotCovered("not datasets with a filter of their own") from error


def _of_most_rows(groups: Iterable[RowGroup], most: int) -> Iterator[list[RowGroup]]:
    together: list[RowGroup] = []
    rows = 0
    for group in groups:
        if together and rows + group.rows > most:
            yield together
            together, rows = [], 0
        together.append(group)
        rows += group.rows
    yield together


def _decoded(groups: list[RowGroup], names: list[str]) -> list[Any]:
    """The columns with these names, as libcudf reads them."""
    files = [[*them] for _, them in groupby(groups, lambda it: id(it.file))]
    sources = [source_of(them) for them in files]
    numbers = [[it.number for it in them] for them in files]
    table = unpacked(Request(sources, numbers, names), partial(check_chunks, groups))
    rows = sum(group.rows for group in groups)
    need(table.num_rows() == rows, "libcudf reads other rows")
    columns: list[Any] = table.columns()
    return columns


#: Types that libcudf has one type for.
_ONE = (
    ((_is.is_string, _is.is_large_string, _is.is_string_view), pa.string()),
    ((_is.is_binary, _is.is_large_binary, _is.is_binary_view), pa.binary()),
)


def _is_view(kind: pa.DataType) -> bool:
    return bool(_is.is_string_view(kind) or _is.is_binary_view(kind))


def _read_as(kind: pa.DataType) -> pa.DataType:
    """The type that libcudf's column has, of those that hold the same values."""
    return next((one for checks, one in _ONE if any(it(kind) for it in checks)), kind)


def _of_type(column: Any, kind: pa.DataType) -> Any:
    """The column with the type that a type of Arrow has; times are numbers of as many bits."""
    wanted = form_of(kind).cudf
    if wanted is None or column.type() == wanted:
        return column
    size = plc.types.size_of(wanted)
    if size != plc.types.size_of(column.type()):
        column = op.cast(op.same_bits(column, op.INT64), op.INT32)
    return op.same_bits(column, wanted)
