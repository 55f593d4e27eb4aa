"""Columns of a dataset whose values are in the paths of its files: one value for the rows of each.

pyarrow makes the values, which may be dictionaries.  libcudf repeats them, or their indices.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from ..columns import to_cudf
from ..refusals import need
from .footers import RowGroup

_is = pa.types


class Keys:
    """The values of such columns for the rows of some row groups.

    Parameters
    ----------
    filtered : iterable of str
        The names of those that a filter reads.
    """

    def __init__(
        self, groups: list[RowGroup], scan: Any, names: list[str], filtered: Iterable[str]
    ) -> None:
        #: By name, as libcudf's: the values, or of dictionaries the indices.
        self.columns: dict[str, Any] = {}
        #: By name, as libcudf's: the values of dictionaries, where a filter reads them.
        self.decoded: dict[str, Any] = {}
        #: By name: an array with the dictionary of the column.
        self.likes: dict[str, Any] = {}
        if names:
            self._read(groups, scan, names, set(filtered))

    def _read(
        self, groups: list[RowGroup], scan: Any, names: list[str], filtered: set[str]
    ) -> None:
        files = [list(them) for _, them in groupby(groups, lambda it: id(it.file))]
        scanners = (
            them[0].file.fragment.scanner(schema=scan.dataset.schema, columns=names)
            for them in files
        )
        firsts = pa.concat_tables(it.head(1) for it in scanners)
        counts = to_cudf(
            pa.chunked_array([[sum(it.rows for it in them) for them in files]], _COUNT)
        )
        for name, column in zip(names, firsts.columns, strict=True):
            need(not column.null_count, "not with partitions without a value")
            if _is.is_dictionary(column.type):
                values = column.chunk(0).dictionary
                same = all(chunk.dictionary.equals(values) for chunk in column.chunks)
                need(same and not values.null_count, "not with partitions without a value")
                self.likes[name] = column.chunk(0)
                if name in filtered:
                    self.decoded[name] = _repeated(column.cast(values.type), counts)
                column = pa.chunked_array([chunk.indices for chunk in column.chunks])
            self.columns[name] = _repeated(column, counts)

    def evaluated(self, schema: pa.Schema) -> pa.Schema:
        """The schema of what a filter reads, with values in place of dictionaries."""
        for place, field in enumerate(schema):
            if field.name in self.likes:
                schema = schema.set(place, field.with_type(field.type.value_type))
        return schema


_COUNT = pa.int32()


def _repeated(values: Any, counts: Any) -> Any:
    return plc.filling.repeat(plc.Table([to_cudf(values)]), counts).columns()[0]
