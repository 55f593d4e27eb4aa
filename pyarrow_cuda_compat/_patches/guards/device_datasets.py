"""Datasets of tables on a device.

Their methods are those of the table.  libarrow's own dataset, which would read the data in host
memory, has no rows: it says what is wrong with arguments, and has the schema of each result.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow.dataset import Dataset, InMemoryDataset, dataset

from ... import _native
from .compute import query


class DeviceDataset(InMemoryDataset):  # type: ignore[misc]
    def __init__(self, empty: Any, table: Any) -> None:
        super().__init__(empty.schema.empty_table())
        #: The same dataset, with its filter, of no rows on the host.
        self._empty, self._table = empty, table

    def __arrow_c_device_array__(self, *arguments: Any, **keywords: Any) -> Any:
        """By which guards know that it has data on a device."""
        return self._table.__arrow_c_device_array__(*arguments, **keywords)

    def _rows(self, filter: Any) -> Any:
        both = self._empty._scanner_options({"filter": filter}).get("filter")
        return self._table if both is None else self._table.filter(both)

    def to_table(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        found = self._empty.to_table(columns=columns, filter=filter, **options)
        return _projected(self._rows(filter), columns, found.schema)

    def count_rows(self, filter: Any = None, **options: Any) -> int:
        self._empty.count_rows(filter=filter, **options)
        return len(self._rows(filter))

    def head(self, num_rows: int, **options: Any) -> Any:
        self._empty.head(num_rows, **options)
        return self.to_table(**options).slice(0, max(num_rows, 0))

    def take(self, indices: Any, **options: Any) -> Any:
        return self.to_table(**options).take(indices)

    def to_batches(self, batch_size: int = 131072, **options: Any) -> Iterator[Any]:
        return iter(self.to_table(**options).to_batches(batch_size))

    def scanner(self, **options: Any) -> Any:
        return _Scanner(self, self._empty.scanner(**options), options)

    def filter(self, expression: Any) -> Any:
        return DeviceDataset(self._empty.filter(expression), self._table)

    def sort_by(self, sorting: Any, **options: Any) -> Any:
        empty = self._empty.sort_by(sorting, **options)
        return _of(self.to_table().sort_by(sorting, **options), empty.schema)

    def join(self, right_dataset: Any, *more: Any, **options: Any) -> Any:
        return self._joined("join", right_dataset, *more, **options)

    def join_asof(self, right_dataset: Any, *more: Any, **options: Any) -> Any:
        return self._joined("join_asof", right_dataset, *more, **options)

    def _joined(self, how: str, right: Any, *more: Any, **options: Any) -> Any:
        other = dataset(right.schema.empty_table()) if isinstance(right, Dataset) else right
        empty = getattr(self._empty, how)(other, *more, **options)
        found = getattr(self.to_table(), how)(right.to_table(), *more, **options)
        return _of(found, empty.schema)

    def _refuse(self, *_: Any, **__: Any) -> None:
        _native._refuse(self._table, "pyarrow.dataset.Dataset")

    get_fragments = _get_fragments = replace_schema = _refuse


def _of(table: Any, schema: pa.Schema) -> Any:
    return dataset(pa.Table.from_arrays(table.columns, schema=schema))


class _Scanner:
    """What a dataset on a device answers to a scanner's methods."""

    def __init__(self, dataset: Any, empty: Any, options: dict[str, Any]) -> None:
        self._dataset, self._options = dataset, options
        self.dataset_schema, self.projected_schema = empty.dataset_schema, empty.projected_schema

    def to_table(self) -> Any:
        return self._dataset.to_table(**self._options)

    def to_batches(self) -> Iterator[Any]:
        return self._dataset.to_batches(**self._options)  # type: ignore[no-any-return]

    def to_reader(self) -> Any:
        return self.to_table().to_reader()

    def count_rows(self) -> int:
        return len(self.to_table())

    def head(self, num_rows: int) -> Any:
        return self._dataset.head(num_rows, **self._options)

    def take(self, indices: Any) -> Any:
        return self.to_table().take(indices)


def _projected(table: Any, columns: Any, schema: pa.Schema) -> Any:
    if columns is None:
        return table
    if not len(schema):
        _native._refuse(table, "pyarrow.dataset.Dataset.to_table")
    if isinstance(columns, dict):
        return query(_project, table, [*columns.values()], schema)
    names = table.schema.names
    if any(names.count(name) != 1 for name in columns):  # it may be a path
        _native._refuse(table, "pyarrow.dataset.Dataset.to_table")
    return pa.Table.from_arrays([table.column(name) for name in columns], schema=schema)


def _project(table: Any, expressions: Any, schema: pa.Schema) -> Any:
    """A table of what expressions are, which the engine computes."""
    raise NotImplementedError
