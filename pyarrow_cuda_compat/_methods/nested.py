"""The values that lists on a device lead to, and the fields under the nulls of structs.

The host reads where the lists are, and which elements are null.
"""

from typing import Any

import numpy as np  # takes milliseconds, as does the import of this module
import pyarrow as pa
from pyarrow import compute

from .. import _native
from .._data import beside, to_host
from .pickling import with_validity

_is = pa.types
#: Parts, which are joined on the device.
_FEW = 100


def values_of(array: Any) -> Any:
    """The values of all lists that are not null."""
    if len(array) == 0:
        return array.values.slice(0, 0)
    if not (_is_of_views(array) or array.null_count):
        first, end = _ends(array)
        _check(array.values, np.array(first), np.array(end))
        return array.values.slice(first, end - first)
    if not _is_of_views(array):
        try:
            return compute.list_flatten(array)
        except NotImplementedError:
            pass  # the host reads where the lists are
    parts = _parts(array)
    if len(parts) > _FEW:
        return beside(array, to_host(array).flatten())
    found = [array.values.slice(*part) for part in parts or [(0, 0)]]
    return pa.concat_arrays(found) if len(found) > 1 else found[0]


def _is_of_views(array: Any) -> bool:
    return isinstance(array, pa.ListViewArray | pa.LargeListViewArray)


def _ends(array: Any) -> tuple[int, int]:
    """The first value of all lists, and the place after the last one."""
    if isinstance(array, pa.FixedSizeListArray):
        size = array.type.list_size
        return array.offset * size, (array.offset + len(array)) * size
    ends = pa.concat_arrays([array.offsets.slice(0, 1), array.offsets.slice(len(array))])
    first, end = ends.copy_to("cpu").to_pylist()
    return first, end


def _parts(array: Any) -> list[tuple[int, int]]:
    """The first value and the number of values of lists that are not null; neighbours are one."""
    if _is_of_views(array):
        starts, counts = _numbers(array.offsets), _numbers(array.sizes)
    elif isinstance(array, pa.FixedSizeListArray):
        size = array.type.list_size
        starts = (np.arange(len(array)) + array.offset) * size
        counts = np.full(len(array), size)
    else:
        offsets = _numbers(array.offsets)
        starts, counts = offsets[:-1], np.diff(offsets)
    is_used = _bits(array) & (counts != 0)
    starts, counts = starts[is_used], counts[is_used]
    ends = starts + counts
    _check(array.values, starts, ends)
    is_first = np.append(True, starts[1:] != ends[:-1])[: len(starts)]
    is_last = np.append(is_first[1:], True)[: len(starts)]
    starts, ends = starts[is_first], ends[is_last]
    return list(zip(starts.tolist(), (ends - starts).tolist(), strict=True))


def _check(values: Any, starts: Any, ends: Any) -> None:
    if np.any((starts < 0) | (ends < starts) | (ends > len(values))):
        raise pa.ArrowInvalid(f"lists lead outside their {len(values)} values")


def _numbers(array: Any) -> Any:
    return array.copy_to("cpu").to_numpy().astype(np.int64)


def _bits(array: Any) -> Any:
    """Which elements are not null, on the host."""
    validity = array.buffers()[0]
    if validity is None:
        return np.ones(len(array), bool)
    bits = pa.Array.from_buffers(pa.bool_(), len(array), [None, validity], 0, array.offset)
    return bits.copy_to("cpu").to_numpy(zero_copy_only=False)


def field_under(array: Any, field: Any) -> Any:
    """A field whose elements are null where the struct is."""
    if _is.is_null(field.type):
        return field
    if _is.is_union(field.type) or _is.is_run_end_encoded(field.type):
        _native._refuse(
            array,
            "pyarrow.StructArray.flatten",
            f"the struct has nulls, {field.type} has no bitmap",
        )
    bits = _bits(array) & _bits(field)
    packed = np.packbits(np.append(np.zeros(field.offset % 8, bool), bits), bitorder="little")
    skipped = bytes(field.offset // 8)
    validity = pa.py_buffer(skipped + packed.tobytes()).copy(array.buffers()[0].memory_manager)
    return with_validity(field, validity, len(bits) - int(np.count_nonzero(bits)))
