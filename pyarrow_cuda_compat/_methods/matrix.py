"""Columns of a table as one array of two dimensions, and back.

The bodies of `DeviceArray.from_columns` and `to_columns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from .. import _native
from .._native import Context, DeviceArray
from . import nulls as replaced
from .arrow import array_from_arrow, array_to_arrow, dtype_of

_NULLS = ("raise", "mask", "fill")
#: A message lists no more names of columns.
_NAMES_SHOWN = 4


def array_from_columns(
    table: Any,
    columns: Iterable[str | int] | None = None,
    *,
    order: str = "C",
    nulls: str = "raise",
    fill: Any = None,
) -> DeviceArray | tuple[DeviceArray, DeviceArray]:
    """Copy columns of one type into an array of two dimensions, a column each.

    Parameters
    ----------
    table : pyarrow.Table or pyarrow.RecordBatch
        A table on a device.  A table in host memory is copied to the first device.
    columns : iterable of str or int, optional
        The names or numbers of the columns, in the order of the array; by default all.
    order : {'C', 'F'}, default 'C'
        Whether the elements of a row or those of a column lie beside each other.  'F' takes the
        least time, and `to_columns` then copies nothing.
    nulls : {'raise', 'mask', 'fill'}, default 'raise'
        'raise': nulls are an error.  The others are as for `from_arrow`.
    fill : scalar, optional
        With 'fill', the value for nulls, as for `from_arrow`.

    Returns
    -------
    DeviceArray, or a tuple of two with ``nulls='mask'``
        Of shape ``(table.num_rows, number of columns)``, in memory of its own; booleans have a byte
        each.  The mask has the same shape and order, and is True where an element is null.

    Raises
    ------
    TypeError
        If `table` is neither, the columns have several types, or their type has no elements of a
        fixed size or more than one in a row.
    ValueError
        If there are nulls or no columns, or for a wrong `order`, `nulls` or `fill`.
    KeyError, IndexError
        If the table has no such column.

    Examples
    --------
    >>> table = pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]}).copy_to(ctx.memory_manager)
    >>> array = DeviceArray.from_columns(table)  # for `torch.from_dlpack`
    >>> array.copy_to_host()
    array([[1., 3.],
           [2., 4.]])
    """
    if not isinstance(table, pa.Table | pa.RecordBatch):
        raise TypeError(
            f"expected a pyarrow.Table or a pyarrow.RecordBatch, got {type(table).__name__}; "
            "pyarrow.table(columns, names) makes one of arrays"
        )
    _native._check_has_data(table)
    if nulls not in _NULLS:
        raise ValueError(f"nulls must be one of {', '.join(map(repr, _NULLS))}, not {nulls!r}")
    table = _selected(table, columns)
    kind = _type_of(table)
    is_boolean = pa.types.is_boolean(_storage_of(kind))
    dtype = "|b1" if is_boolean else dtype_of(_storage_of(kind))
    replaced.check(_storage_of(kind), "keep" if nulls == "raise" else nulls, fill, None, dtype)
    if not _native._is_on_device(table):
        table = table.copy_to(Context(0).memory_manager)
    options = {"nulls": "keep" if nulls == "raise" else nulls, "fill": fill}
    array: DeviceArray | None = None
    mask: DeviceArray | None = None
    for rows, number, chunk in _chunks(table):
        found = array_from_arrow(chunk, **options)
        values, places = found if isinstance(found, tuple) else (found, None)
        if nulls == "raise":
            values = replaced.forbidden(values, _called(table, rows, number))
        if array is None:
            array, mask = _empty(table, dtype, order, nulls, values.context)
        array[rows, number] = values
        if mask is not None and places is not None:
            mask[rows, number] = places
    if array is None:
        array, mask = _empty(table, dtype, order, nulls, Context(0))
    if not is_boolean:
        array = _native._with_arrow_type(array, kind, None)
    return array if mask is None else (array, mask)


def _empty(
    table: Any, dtype: Any, order: str, nulls: str, context: Context
) -> tuple[DeviceArray, DeviceArray | None]:
    shape = (table.num_rows, table.num_columns)
    array = DeviceArray.empty(shape, dtype, order, context=context)  # type: ignore[arg-type]
    if nulls != "mask":
        return array, None
    return array, DeviceArray.empty(shape, "|b1", order, context=context)  # type: ignore[arg-type]


def _selected(table: Any, columns: Iterable[str | int] | None) -> Any:
    if isinstance(columns, str | bytes):
        raise TypeError(f"columns must be names of columns, such as [{columns!r}], not {columns!r}")
    if columns is not None:
        table = table.select(list(columns))
    if table.num_columns == 0:
        raise ValueError("the table has no columns, so the array would have no type of elements")
    return table


def _type_of(table: Any) -> Any:
    """The type of all columns."""
    names: dict[Any, list[str]] = {}
    for field in table.schema:
        names.setdefault(field.type, []).append(field.name)
    if len(names) > 1:
        found = "; ".join(f"{kind}: {_listed(each)}" for kind, each in names.items())
        raise TypeError(
            f"the columns have several types, and an array has one ({found}): choose columns of "
            "one type by columns=, or cast the others first, by table.cast(schema) on the host"
        )
    (kind,) = names
    if pa.types.is_fixed_size_list(_storage_of(kind)):
        raise TypeError(
            f"values of type {kind} have more than one element in a row: "
            "DeviceArray.from_arrow(column) gives one column its own dimensions"
        )
    return kind


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    rest = len(names) - _NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def _storage_of(kind: Any) -> Any:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _called(table: Any, rows: slice, number: int) -> str:
    name = f"the column {table.schema.names[number]!r}"
    is_all = rows == slice(0, table.num_rows)
    return name if is_all else f"{name} in rows {rows.start} to {rows.stop - 1}"


def _chunks(table: Any) -> Iterator[tuple[slice, int, Any]]:
    """The arrays of all columns, with the rows and the number of the column that each fills."""
    for number, column in enumerate(table.columns):
        start = 0
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            if len(chunk):
                yield slice(start, start + len(chunk)), number, chunk
            start += len(chunk)


def array_to_columns(self: DeviceArray, names: Iterable[str], type: Any = None) -> pa.Table:
    """Turn the columns of an array of two dimensions into a table.

    Parameters
    ----------
    names : iterable of str
        The names of the columns, one for each.
    type : pyarrow.DataType, optional
        The Arrow type of the elements, as for `to_arrow`.

    Returns
    -------
    pyarrow.Table
        On the device, with a chunk for each column.  Without a copy if the elements of each column
        lie beside each other, as in Fortran order; else of one copy of the array.

    Raises
    ------
    TypeError
        If Arrow has no such type, or its values have another size.
    ValueError
        If the array has not two dimensions, or there are more or fewer names than columns.

    Examples
    --------
    >>> array = DeviceArray.from_host([[1.5, 2.5], [3.5, 4.5]])
    >>> table = array.to_columns(["x", "y"])
    >>> table.copy_to(pa.default_cpu_memory_manager()).to_pydict()
    {'x': [1.5, 3.5], 'y': [2.5, 4.5]}
    """
    if self.ndim != 2:
        raise ValueError(
            f"columns need an array of two dimensions, not of shape {self.shape}: "
            "to_arrow() makes an Arrow array of any other"
        )
    names = [names] if isinstance(names, str) else list(names)
    rows, count = self.shape
    if len(names) != count:
        raise ValueError(f"the array has {count} columns, and names {len(names)}: {names}")
    are_dense = rows < 2 or count == 0 or self.strides[0] == self.itemsize
    source = self if are_dense else self.copy("F")
    return pa.table([array_to_arrow(source[:, each], type) for each in range(count)], names=names)
