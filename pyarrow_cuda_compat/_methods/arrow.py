"""Arrow arrays as device arrays, and back: the bodies of `DeviceArray.from_arrow` and `to_arrow`.

Arrow says more of an array than NumPy does: that integers are dates, that booleans are bits, which
elements are null.  A `DeviceArray` keeps all of it.
"""

from math import prod
from typing import Any

import pyarrow as pa

from .. import _native
from .._native import Context, CudaBuffer, DeviceArray
from . import nulls as replaced

#: Values for which NumPy has no number: structures of integers, the lowest word first.
_WORDS_128 = [("low", "<u8"), ("high", "<i8")]
_WORDS_256 = [("low", "<u8"), ("second", "<u8"), ("third", "<u8"), ("high", "<i8")]
_INTERVAL = [("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")]
#: What Arrow counts times and durations in, one at a time; NumPy counts in any number of any unit.
_UNITS = ("s", "ms", "us", "ns")
_IF_CHUNKED = "of a chunked array those of combine_chunks()"


def array_from_arrow(
    array: Any, *, nulls: str = "keep", fill: Any = None, dtype: Any = None
) -> DeviceArray | tuple[DeviceArray, DeviceArray]:
    """View the values of an Arrow array on a device as an array.

    Parameters
    ----------
    array : pyarrow.Array or pyarrow.ChunkedArray
        An array on a device.  An array in host memory is copied to the first device.

        One chunk is viewed as an array is; several are combined on the device.

        Dates, times, durations and decimals of 32 and 64 bits are the integers that Arrow stores,
        wider decimals and intervals structures of integers, booleans the bytes of
        their bitmap.  Each level of fixed-size lists adds a dimension, and arrays
        of `pyarrow.fixed_shape_tensor` add those of the tensor, in the order that its
        `permutation` gives them.  Other extension arrays are treated as their storage.
    nulls : {'keep', 'mask', 'fill'}, default 'keep'
        What becomes of nulls.  'keep': the array knows its `validity`, and refuses what would show
        their values.  'mask': the result is the values and a mask, which is True where
        they are null, as in `numpy.ma` and pandas.  'fill': nulls have the value `fill`.
        With 'mask' and 'fill', booleans have a byte each.
    fill : scalar, optional
        With 'fill', the value for nulls, which the type of `array` must have.  By default NaN for
        floating-point numbers; others have no default.
    dtype : numpy.dtype, optional
        `bool` for booleans of a byte each, of an array without nulls or with `nulls`.  Other
        dtypes must be those that the values have: nothing is converted.

    Returns
    -------
    DeviceArray, or a tuple of two with ``nulls='mask'``
        The same memory, which it retains; read-only where Arrow's is.  `arrow_type` and
        `validity` keep what Arrow knows of it, so that `to_arrow` returns an equal array.

        The mask, booleans of a byte each, and values that were filled are in memory of their own.
        The values beside a mask are undefined where it is True.

    Raises
    ------
    TypeError
        If `array` is not an Arrow array, its values are not of a fixed size, or not of `dtype`.
    ValueError
        If `fill` is missing, or no value of the type; if whole lists of an array are null; if
        `nulls` is another word.

    Examples
    --------
    >>> days = pa.array([0, 365], pa.date32()).copy_to(cuda.Context(0).memory_manager)
    >>> array = DeviceArray.from_arrow(days)
    >>> array.dtype, array.copy_to_host()
    (dtype('int32'), array([  0, 365], dtype=int32))
    >>> array.to_arrow().type
    DataType(date32[day])
    >>> prices = pa.array([1.5, None, 4.0]).copy_to(cuda.Context(0).memory_manager)
    >>> DeviceArray.from_arrow(prices, nulls="fill").copy_to_host()
    array([1.5, nan, 4. ])
    >>> values, mask = DeviceArray.from_arrow(prices, nulls="mask")
    >>> np.ma.MaskedArray(values.copy_to_host(), mask.copy_to_host())
    masked_array(data=[1.5, --, 4.0],
                 mask=[False,  True, False],
           fill_value=1e+20)
    """
    is_kept = nulls == "keep" and fill is None
    if is_kept and dtype is None:
        numbers = _native._numbers(array)
        if numbers is not None:  # nothing has to be looked at
            return numbers
    if not isinstance(array, pa.Array | pa.ChunkedArray):
        raise TypeError(
            f"expected a pyarrow.Array or a pyarrow.ChunkedArray, got {type(array).__name__}"
            f"{_way_out(array)}"
        )
    _native._check_has_data(array)
    is_kept = is_kept and dtype is None
    kind = values_type(array.type, has_bytes=not is_kept)
    stored = dtype_of(kind)  # before anything is copied
    element = None if is_kept else replaced.check(kind, nulls, fill, dtype, stored)
    array = _there(array)
    if isinstance(array, pa.ChunkedArray):
        array = _there(array.combine_chunks())  # of no chunks, it lies on the host
    values, shape = _flattened(array)
    if is_kept:
        return _in_order(array.type, _kept(array.type, values, shape))
    found = _replaced(array.type, values, shape, nulls, element)
    if isinstance(found, tuple):
        return _in_order(array.type, found[0]), _in_order(array.type, found[1])
    return _in_order(array.type, found)


def _in_order(kind: Any, stored: DeviceArray) -> DeviceArray:
    """The elements of an array of a type, with the dimensions in the type's order."""
    order = _permutation(kind)
    return stored if order is None else stored.transpose((0, *(axis + 1 for axis in order)))


def _as_stored(kind: Any, array: DeviceArray) -> DeviceArray | None:
    """The elements as arrays of a type with a permutation store them; None if they lie in another
    order."""
    order = [0, *(axis + 1 for axis in _permutation(kind))]
    if len(order) != array.ndim:
        return None
    stored = array.transpose(sorted(range(array.ndim), key=order.__getitem__))
    return stored if stored.shape[1:] == tuple(kind.shape) and stored.is_c_contiguous() else None


def lies_permuted(array: DeviceArray) -> bool:
    """Whether the elements lie as a type with a permutation stores them, not in C order."""
    kind = array.arrow_type
    return _permutation(kind) is not None and _as_stored(kind, array) is not None


def _without_permutation(kind: Any, array: DeviceArray) -> Any:
    """The type of tensors, in the order of their dimensions, for elements in C order."""
    order = _permutation(kind)
    if array.ndim != len(order) + 1:
        return kind.value_type
    names = kind.dim_names and [kind.dim_names[axis] for axis in order]
    return pa.fixed_shape_tensor(kind.value_type, list(array.shape[1:]), dim_names=names)


def _permutation(kind: Any) -> Any:
    """The order of a tensor's dimensions; None if they are stored in that order."""
    order = kind.permutation if isinstance(kind, pa.FixedShapeTensorType) else None
    return None if order is None or order == sorted(order) else order


def _kept(kind: Any, values: Any, shape: list[int]) -> DeviceArray:
    """The elements of an array, of that type and shape, with their nulls."""
    has_nulls = values.buffers()[0] is not None
    if has_nulls and len(shape) > 1:
        _check_no_nulls(values)  # a bitmap for each element has no place in several dimensions
        has_nulls = False
    return _view(kind, values, shape, has_nulls)


def _replaced(
    kind: Any, values: Any, shape: list[int], nulls: str, element: bytes | None
) -> DeviceArray | tuple[DeviceArray, DeviceArray]:
    """The elements without nulls, in one dimension until these are replaced."""
    is_flat = len(shape) == 1
    flat = _view(kind if is_flat else values.type, values, [prod(shape)], True)
    if nulls == "mask":
        found, mask = replaced.masked(flat)
        return _shaped(found, kind, shape), mask.reshape(shape)
    made = replaced.forbidden(flat) if element is None else replaced.filled(flat, element)
    return _shaped(made, kind, shape)


def _shaped(flat: DeviceArray, kind: Any, shape: list[int]) -> DeviceArray:
    if len(shape) == 1:
        return flat
    shaped = flat.reshape(shape)
    is_arrows = flat.arrow_type is not None  # as booleans of a byte are not
    return _native._with_arrow_type(shaped, kind, None) if is_arrows else shaped


def _view(kind: Any, values: Any, shape: list[int], has_nulls: bool) -> DeviceArray:
    validity, data = values.buffers()
    return _native._array_of_arrow(
        kind,
        _on_device(data),
        dtype_of(values.type),
        shape,
        values.offset,
        _on_device(validity) if has_nulls and validity is not None else None,
        pa.types.is_boolean(values.type),
    )


def _way_out(value: Any) -> str:
    """What to do with an object that is not an Arrow array."""
    if isinstance(value, pa.Table | pa.RecordBatch):
        return "; each of its columns can be one: table['x']"
    if isinstance(value, pa.Buffer) and not value.is_cpu:
        return "; DeviceArray(buffer, dtype) has its bytes as elements"
    if hasattr(value, "__cuda_array_interface__"):
        return "; DeviceArray(array) shows the same memory"
    return "; DeviceArray.from_host copies what NumPy takes" if hasattr(value, "__len__") else ""


def _there(array: Any) -> Any:
    on_device = _native._is_on_device(array)
    return array if on_device else array.copy_to(Context(0).memory_manager)


def values_type(kind: Any, has_bytes: bool = False) -> Any:
    """The type of the elements behind extensions and fixed-size lists; `has_bytes` says that
    booleans become bytes."""
    if isinstance(kind, pa.BaseExtensionType):
        return values_type(kind.storage_type, has_bytes)
    if pa.types.is_fixed_size_list(kind):
        values = values_type(kind.value_type, has_bytes)
        if pa.types.is_boolean(values) and not has_bytes:
            raise _refused(kind, "bits in lists have no strides, dtype=bool makes bytes of them")
        return values
    return kind


def _flattened(array: Any) -> tuple[Any, list[int]]:
    """The elements behind extensions and fixed-size lists, and their shape."""
    shape, kind = [len(array)], array.type
    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif pa.types.is_fixed_size_list(array.type):
            _check_no_nulls(array)
            size = array.type.list_size
            shape.append(size)
            array = array.values.slice(array.offset * size, len(array) * size)
        else:
            break
    if isinstance(kind, pa.FixedShapeTensorType):
        shape[1:] = kind.shape  # as the elements lie in memory
    return array, shape


def dtype_of(kind: Any) -> Any:
    types = pa.types
    if types.is_boolean(kind):
        return "|u1"  # the bytes of the bitmap
    if types.is_integer(kind) or types.is_floating(kind):
        letter = "f" if types.is_floating(kind) else "i" if types.is_signed_integer(kind) else "u"
        return f"<{letter}{kind.bit_width // 8}"
    if types.is_interval(kind):
        return _INTERVAL
    if types.is_temporal(kind) or types.is_decimal(kind):
        return {32: "<i4", 64: "<i8", 128: _WORDS_128, 256: _WORDS_256}[kind.bit_width]
    if types.is_fixed_size_binary(kind) and kind.byte_width > 0:
        return f"|V{kind.byte_width}"
    if types.is_null(kind) or types.is_fixed_size_binary(kind):
        raise _refused(kind, "they have no bytes")
    if types.is_dictionary(kind):
        raise _refused(kind, f"its .indices can, {_IF_CHUNKED}")
    if types.is_struct(kind):
        raise _refused(kind, f"its .field(name) can, {_IF_CHUNKED}")
    if types.is_list(kind) or types.is_large_list(kind):
        raise _refused(
            kind,
            f"its .values and .offsets can, {_IF_CHUNKED}; lists of one length can after "
            "column.cast(pyarrow.list_(type, length)) on the host",
        )
    if types.is_nested(kind):
        raise _refused(kind, "its fields or values are arrays of their own")
    raise _refused(
        kind,
        "they are not of a fixed size; column.dictionary_encode() on the host numbers them, and "
        "buffers() has their offsets and bytes",
    )


def _refused(kind: Any, why: str) -> TypeError:
    return TypeError(f"values of type {kind} cannot be a device array: {why}")


def _check_no_nulls(array: Any) -> None:
    bitmap = array.buffers()[0]
    if bitmap is None or len(array) == 0:
        return
    # pyarrow counts nulls on the host only.
    start, end = array.offset // 8, (array.offset + len(array) + 7) // 8
    bits = _on_device(bitmap).copy_to_host(start, end - start)
    valid = pa.Array.from_buffers(pa.bool_(), len(array), [None, bits], offset=array.offset % 8)
    nulls = len(array) - valid.true_count
    if nulls:
        raise ValueError(
            f"lists with nulls ({nulls} of {len(array)}) cannot be a device array: its elements "
            "have no validity bitmap in several dimensions, and nulls='mask' or 'fill' is for the "
            "elements of lists that are not null themselves"
        )


def _on_device(buffer: Any) -> CudaBuffer:
    if buffer is None:
        return Context(0).new_buffer(0)  # of an empty array, which says nothing of its device
    return CudaBuffer.from_buffer(buffer)


def array_to_arrow(self: DeviceArray, type: Any = None) -> Any:
    """Turn the array into an Arrow array over the same memory.

    Parameters
    ----------
    type : pyarrow.DataType, optional
        The Arrow type of the elements: any type whose values have their size.  By default
        the type that the array came with, or the one that NumPy's dtype corresponds to.
        Further dimensions become fixed-size lists.

    Returns
    -------
    pyarrow.Array
        On the device, without a copy.  It retains the memory.

    Raises
    ------
    TypeError
        If Arrow has no such type, or its values have another size.
    ValueError
        If the elements are not contiguous in C order.

    Examples
    --------
    >>> seconds = DeviceArray.from_host(np.array([0, 60]))
    >>> array = seconds.to_arrow(pa.timestamp("s"))
    >>> array.copy_to("cpu")[1].as_py()
    datetime.datetime(1970, 1, 1, 0, 1)
    """
    if type is not None and not isinstance(type, pa.DataType):
        raise TypeError(f"type must be a pyarrow.DataType, not {type!r}")
    kind = type or self.arrow_type
    if _permutation(kind) is not None:
        stored = _as_stored(kind, self)
        if stored is not None:
            return _built_as(kind, stored)
        if type is not None:
            raise ValueError(
                f"elements of shape {self.shape} and strides {self.strides} do not lie as {kind} "
                "stores them: pass a type without permutation"
            )
        kind = _without_permutation(kind, self)
    if not self.is_c_contiguous():
        raise ValueError(
            "Arrow's elements are contiguous in C order, those of the array are not: "
            "array.copy().to_arrow() copies them first"
        )
    return _built_as(kind or _arrow_type(self), self)


def _built_as(kind: Any, array: DeviceArray) -> Any:
    values, validity, offset, length = _native._arrow_parts(array)
    return _built(kind, array, length, [validity, values], offset, array.shape[1:])


def array_for_pyarrow(self: DeviceArray, type: Any = None) -> Any:
    """Return `to_arrow()`, for `pyarrow.array` and what it makes: tables, for example.

    Another type than the array's is cast to, as pyarrow casts.
    """
    array = self.to_arrow()
    return array if type is None or type == array.type else array.cast(type)


def _built(
    kind: Any, array: DeviceArray, length: int, buffers: list[Any], offset: int, rest: Any
) -> Any:
    """An Arrow array of a type, with a dimension for each of its fixed-size lists."""
    if isinstance(kind, pa.BaseExtensionType):
        if isinstance(kind, pa.FixedShapeTensorType) and list(kind.shape) == list(rest):
            rest = [prod(rest)]
        storage = _built(kind.storage_type, array, length, buffers, offset, rest)
        return pa.ExtensionArray.from_storage(kind, storage)
    if not rest:
        if pa.types.is_fixed_size_list(kind) and array.dtype.kind == "c":
            order = array.dtype.str[0]
            half = array.view(f"{order}f{array.itemsize // 2}").reshape(*array.shape, 2)
            return _built(kind, half, length, buffers, offset, [2])
        _check_width(kind, array)
        return pa.Array.from_buffers(kind, length, buffers, offset=offset)
    is_list = pa.types.is_fixed_size_list(kind)
    values = kind.value_type if is_list else kind
    child = _built(values, array, length * rest[0], buffers, offset, rest[1:])
    lists = kind if is_list else pa.list_(child.type, rest[0])
    if lists.list_size != rest[0] or lists.value_type != child.type:
        raise TypeError(f"an array of shape {array.shape} cannot be lists of type {kind}")
    return pa.Array.from_buffers(lists, length, [None], children=[child])


def _check_width(kind: Any, array: DeviceArray) -> None:
    bits = 1 if array.bit_length is not None else 8 * array.itemsize
    try:
        width = kind.bit_width
    except ValueError:  # of no fixed width
        width = None
    if width != bits or pa.types.is_nested(kind) or pa.types.is_dictionary(kind):
        raise TypeError(
            f"elements of dtype {array.dtype} cannot be values of type {kind}, which have "
            f"{width or 'no fixed number of'} bits"
        )
    if not array.dtype.isnative and not pa.types.is_fixed_size_binary(kind):
        raise TypeError(
            f"elements of dtype {array.dtype} cannot be values of type {kind}, whose bytes are in "
            f"this machine's order: to_arrow(pyarrow.binary({array.itemsize})) keeps their bytes"
        )


def _arrow_type(array: DeviceArray) -> Any:
    dtype = array.dtype
    if dtype.kind == "b":
        raise TypeError(
            "NumPy's booleans are bytes, Arrow's are bits: "
            "to_arrow(pyarrow.uint8()) keeps the bytes"
        )
    if dtype.kind in "Mm" and dtype.str[4:-1] not in _UNITS:
        raise TypeError(
            f"Arrow has no values of dtype {dtype}, only counts of {', '.join(_UNITS)}: "
            "to_arrow(pyarrow.int64()) keeps the numbers"
        )
    if dtype.kind == "c" and dtype.itemsize <= 16:
        raise TypeError(
            f"Arrow has no complex numbers: to_arrow(pyarrow.list_(pyarrow.float"
            f"{4 * dtype.itemsize}(), 2)) has pairs of their parts"
        )
    if dtype.kind == "V" and dtype.names is None:
        return pa.binary(dtype.itemsize)
    if not dtype.isnative or dtype.kind in "Vc" or (dtype.kind, dtype.itemsize) == ("f", 16):
        raise TypeError(
            f"Arrow has no values of dtype {dtype}: to_arrow(pyarrow.binary({dtype.itemsize})) "
            "keeps their bytes"
        )
    return pa.from_numpy_dtype(dtype)
