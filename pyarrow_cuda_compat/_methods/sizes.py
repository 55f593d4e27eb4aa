"""Sizes of data on a device, as libarrow counts them on the host.

Types, lengths and offsets are metadata.  Of a device's memory, only the two offsets are read
between which the strings or the lists of a slice lie.  For views, run ends and dense unions,
libarrow looks at each element: such arrays are copied to the host, with all of their buffers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import types

from .. import _native
from .._data import to_host_whole
from .intervals import as_numbers, spans_of, split


def nbytes(data: Any) -> int:
    """The bytes that the elements of data refer to, as ``nbytes`` of the same data on the host."""
    return sum(map(_nbytes_of_array, arrays_of(data)))


def total_buffer_size(data: Any) -> int:
    """The bytes of all buffers, each counted once."""
    intervals, others = split(data)
    arrays = [] if others is None else arrays_of(others)
    spans = (span for column in intervals for span in spans_of(column))
    return _native._total_size(
        [
            *(buffer for array in arrays for buffer in buffers_of(array)),
            *(pa.foreign_buffer(*span, base=data) for span in spans),  # which nobody reads
        ]
    )


def arrays_of(data: Any) -> list[Any]:
    """The arrays that an array, a chunked array, a record batch or a table consists of."""
    if isinstance(data, pa.Array):
        return [data]
    data = as_numbers(data)
    if isinstance(data, pa.ChunkedArray):
        return list(data.chunks)
    return [array for column in data.columns for array in arrays_of(column)]


def devices_of(data: Any) -> list[int | None]:
    """The numbers of the devices that data lies on, in their order; None for the host, at the
    end."""
    numbers = {
        None if buffer.is_cpu else buffer.device.device_id
        for array in arrays_of(data)
        for buffer in buffers_of(array)
    }
    return sorted(numbers, key=lambda number: (number is None, number))


def _nbytes_of_array(array: Any) -> int:
    try:
        return _referenced(array, array.offset, len(array))
    except (NotImplementedError, KeyError):  # pyarrow has no class for intervals within others
        size: int = (to_host_whole(array) if _native._is_on_device(array) else array).nbytes
        return size


def _referenced(array: Any, offset: int, length: int) -> int:
    """The bytes of elements of an array, from one that is counted from the start of its buffers."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _referenced(array.storage, offset, length)
    if types.is_null(kind):
        return 0
    if types.is_struct(kind):  # libarrow leaves the validity bitmap out
        return _referenced_by_fields(array, offset, length)
    validity, *others = array.buffers()[: kind.num_buffers]
    count = 0 if validity is None else _bytes_of_bits(offset, length, 1)
    if types.is_dictionary(kind):
        dictionary = array.dictionary
        count += _referenced(dictionary, dictionary.offset, len(dictionary))
    if types.is_fixed_size_list(kind):
        size = kind.list_size
        return count + _referenced(array.values, offset * size, length * size)
    if (width := _offset_width(kind)) is None:
        return count + _bytes_of_bits(offset, length, _bit_width(kind))
    start, end = (_offset_at(others[0], place, width) for place in (offset, offset + length))
    count += width * length
    if types.is_nested(kind):
        return count + _referenced(array.values, start, end - start)
    return count + end - start


def _referenced_by_fields(array: Any, offset: int, length: int) -> int:
    count = 0
    for number in range(array.type.num_fields):
        child = array.field(number)  # pyarrow has sliced it like the struct
        count += _referenced(child, offset + child.offset - array.offset, length)
    return count


def _bytes_of_bits(offset: int, length: int, width: int) -> int:
    """How many bytes contain elements of so many bits each."""
    return -(-(offset + length) * width // 8) - offset * width // 8


def _bit_width(kind: Any) -> int:
    try:
        width: int = kind.bit_width
    except ValueError:
        raise NotImplementedError(str(kind)) from None
    return width


def _offset_width(kind: Any) -> int | None:
    """The bytes of an offset, of types with offsets."""
    if types.is_large_binary(kind) or types.is_large_string(kind) or types.is_large_list(kind):
        return 8
    has_offsets = types.is_binary(kind) or types.is_string(kind)
    return 4 if has_offsets or types.is_list(kind) or types.is_map(kind) else None


def _offset_at(offsets: Any, place: int, width: int) -> int:
    start = place * width
    if offsets is None or offsets.size < start + width:  # an array without elements
        return 0
    if not offsets.is_cpu:
        buffer = _native.CudaBuffer.from_buffer(offsets)
        return int.from_bytes(buffer.copy_to_host(start, width).to_pybytes(), "little", signed=True)
    return int.from_bytes(offsets.slice(start, width).to_pybytes(), "little", signed=True)


def buffers_of(array: Any) -> Iterator[Any]:
    yield from (buffer for buffer in array.buffers() if buffer is not None)
    for dictionary in _dictionaries_of(array):
        yield from buffers_of(dictionary)


def _dictionaries_of(array: Any) -> Iterator[Any]:
    """The dictionaries of an array, and of those within it."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        yield from _dictionaries_of(array.storage)
    elif types.is_dictionary(kind):
        yield array.dictionary
    elif types.is_struct(kind) or types.is_union(kind):
        for number in range(kind.num_fields):
            if _may_have_dictionary(kind.field(number).type):
                yield from _dictionaries_of(array.field(number))
    elif types.is_nested(kind) and _may_have_dictionary(kind.field(0).type):
        yield from _dictionaries_of(array.values)


def _may_have_dictionary(kind: Any) -> bool:
    is_extension = isinstance(kind, pa.BaseExtensionType)
    return is_extension or types.is_dictionary(kind) or types.is_nested(kind)
