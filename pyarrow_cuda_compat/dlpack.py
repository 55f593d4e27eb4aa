"""Arrow arrays on a device as tensors for other libraries.

Arrow's own arrays support DLPack in host memory only (apache/arrow#39296).
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ._native import Context, CudaBuffer, DeviceTensor


def to_dlpack(array: pa.Array) -> DeviceTensor:
    """View the values of an Arrow array on a device as a tensor.

    Parameters
    ----------
    array : pyarrow.Array
        Integers or floating-point numbers without nulls, on a CUDA device.
        Each level of fixed-size lists adds a dimension.  Arrays of
        `pyarrow.fixed_shape_tensor` add the dimensions of the tensor in memory
        order (the type's permutation is not applied).  Other extension arrays
        are treated as their storage arrays.

    Returns
    -------
    DeviceTensor
        A view of the same memory, for ``from_dlpack`` of other libraries.
        It retains the memory, and so do they.

    Raises
    ------
    BufferError
        If the array cannot be a tensor: it has nulls, or values of another
        type (booleans are single bits in Arrow), or is in host memory.
    TypeError
        If `array` is not an Arrow array.

    Notes
    -----
    Do not change Arrow's data.  If the memory is read-only, the tensor is marked
    as read-only.  Several libraries refuse such tensors; pass ``copy=True`` to
    them instead.

    If the array has a validity bitmap, the package copies the bitmap to the host
    to count the nulls.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from pyarrow import cuda
    >>> from pyarrow_cuda_compat import to_dlpack
    >>> array = pa.array([1.5, 2.5, 3.5]).copy_to(cuda.Context(0).memory_manager)
    >>> tensor = to_dlpack(array)
    >>> tensor.shape, tensor.typestr
    ((3,), '<f8')
    >>> np.from_dlpack(tensor, device="cpu")  # a GPU library would share it without a copy
    array([1.5, 2.5, 3.5])
    """
    if not isinstance(array, pa.Array):
        raise TypeError(f"expected a pyarrow.Array, got {type(array).__name__}")
    shape, kind = [len(array)], array.type
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    while pa.types.is_fixed_size_list(array.type):
        _check_no_nulls(array)
        size = array.type.list_size
        shape.append(size)
        array = array.values.slice(array.offset * size, len(array) * size)
    if isinstance(kind, pa.FixedShapeTensorType):
        shape[1:] = kind.shape  # as the elements lie in memory, whatever the order of dimensions
    typestr = _typestr(array.type)
    _check_no_nulls(array)
    values = _on_device(array.buffers()[1])
    if len(array) == 0:  # what is empty may end where the buffer ends, which is no place in it
        return DeviceTensor(values, typestr, shape)
    width = array.type.bit_width // 8
    return DeviceTensor(values.slice(array.offset * width), typestr, shape)


def _typestr(kind: Any) -> str:
    order = "|" if kind in (pa.int8(), pa.uint8()) else "<"
    for code, is_kind in (
        ("u", pa.types.is_unsigned_integer),
        ("i", pa.types.is_signed_integer),
        ("f", pa.types.is_floating),
    ):
        if is_kind(kind):
            return f"{order}{code}{kind.bit_width // 8}"
    raise BufferError(
        f"values of type {kind} cannot be a tensor: only integers and floating-point numbers can"
    )


def _check_no_nulls(array: pa.Array) -> None:
    bitmap = array.buffers()[0]
    if bitmap is None or len(array) == 0:
        return
    # pyarrow counts nulls on the host only.
    start, end = array.offset // 8, (array.offset + len(array) + 7) // 8
    bits = _on_device(bitmap).copy_to_host(start, end - start)
    valid = pa.Array.from_buffers(pa.bool_(), len(array), [None, bits], offset=array.offset % 8)
    nulls = len(array) - valid.true_count
    if nulls:
        raise BufferError(f"an array with nulls ({nulls} of {len(array)}) cannot be a tensor")


def _on_device(buffer: pa.Buffer | None) -> CudaBuffer:
    if buffer is None:
        return Context(0).new_buffer(0)  # of an empty array, which says nothing of its device
    try:
        return CudaBuffer.from_buffer(buffer)
    except TypeError:
        raise BufferError(
            "the array is in host memory, for which pyarrow's arrays support DLPack themselves"
        ) from None
