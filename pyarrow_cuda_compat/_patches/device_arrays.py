"""Completes pyarrow's C Device interface of arrays and record batches.

========================================================  ========================================
pyarrow itself                                            this package
========================================================  ========================================
exports structures without an event                       adds one while work is in flight
reads an offset of imported strings before it waits for   waits for the event first
the array's event
imports empty buffers as host memory, which cannot be     imports them as empty device memory
exported again
counts the nulls of slices as if bitmaps were host        counts them on a copy of the bitmap
memory, when it exports arrays or imports batches, and
crashes
``pa.chunked_array`` crashes on copies of slices, for     counts them before the copy is made
the same reason (of slices themselves: `guards`)
arrays read from messages have empty buffers on the       exports them with empty device memory
host, and cannot be exported
``__dlpack__`` refuses arrays on a device and in pinned    exports numbers, without a copy
memory
objects of other types, and arrays made by ``__new__``    raises ``TypeError``
alone, crash
pointers to memory that cannot be read crash              raises ``ValueError``
null pointers in structures, negative numbers and maps'    raises ``ArrowInvalid``
keys that are null crash
========================================================  ========================================

For data on the CPU, an export takes about half a microsecond longer, and some nanoseconds more for
each column.  With ``PYARROW_CUDA_HOOK=0`` this package does not change the methods.

An event covers the work that was queued before the export: on the default stream of the device's
primary context, on streams ordered with it, and before the event of an imported array.  It does not
cover streams made with ``CU_STREAM_NON_BLOCKING``; make the default stream wait for them, or
synchronize.
"""

from functools import partial
from typing import Any

import pyarrow as pa

from .. import _native
from .patching import Method, override


def _export_capsules(
    is_batch: bool, export: Method, data: Any, requested_schema: Any = None, **kwargs: Any
) -> Any:
    prepared = _native._prepare(data, is_batch)
    schema, array = export(prepared, requested_schema, **kwargs)
    _native._finish_export(prepared, array, schema, in_capsules=True)
    return schema, array


def _export(
    is_batch: bool, export: Method, data: Any, out_ptr: Any, out_schema_ptr: Any = 0
) -> None:
    prepared = _native._prepare(data, is_batch)
    out_ptr, out_schema_ptr = _native._export_places(out_ptr, out_schema_ptr)
    export(prepared, out_ptr, out_schema_ptr)
    _native._finish_export(prepared, out_ptr, out_schema_ptr, in_capsules=False)


def _import_capsules(is_batch: bool, take: Method, schema_capsule: Any, array_capsule: Any) -> Any:
    array_capsule, schema_capsule = _native._prepare_import(
        array_capsule, schema_capsule, in_capsules=True, is_batch=is_batch
    )
    imported = take(schema_capsule, array_capsule)
    return _native._finish_import(imported, array_capsule, in_capsules=True)


def _import_array(take: Method, in_ptr: Any, type: Any) -> Any:
    return _import(take, in_ptr, type, is_batch=False)


def _import_batch(take: Method, in_ptr: Any, schema: Any) -> Any:
    return _import(take, in_ptr, schema, is_batch=True)


def _import(take: Method, in_ptr: Any, second: Any, is_batch: bool) -> Any:
    in_ptr, second = _native._prepare_import(in_ptr, second, in_capsules=False, is_batch=is_batch)
    imported = take(in_ptr, second)
    return _native._finish_import(imported, in_ptr, in_capsules=False)


def _tensor_of(original: Method, array: Any, *args: Any, **kwargs: Any) -> Any:
    capsule = _native._numbers_as_tensor(array, args, kwargs)
    if capsule is not None:
        return capsule
    if _native._is_on_device(array):
        return _export_tensor(_tensor(array), *args, **kwargs)
    return original(_on_host(array), *args, **kwargs)


def _device_of(original: Method, array: Any) -> Any:
    if not _native._is_on_device(array):
        return original(_on_host(array))
    on_device = [it for it in array.buffers() if it is not None and not it.is_cpu]
    values = on_device[-1]  # a bitmap may lie on another device
    return _native.CudaBuffer.from_buffer(values).__dlpack_device__()


def _on_host(array: Any) -> Any:
    """An array on the host as memory that pyarrow exports: it refuses pinned memory."""
    if array.is_cpu or not pa.types.is_primitive(array.type):
        return array
    buffers = [it if it is None else pa.py_buffer(it) for it in array.buffers()]
    return pa.Array.from_buffers(array.type, len(array), buffers, offset=array.offset)


def _export_tensor(tensor: _native.DeviceArray, stream: Any = None, **kwargs: Any) -> Any:
    """With pyarrow 25's parameters and those of DLPack 1.0."""
    return tensor.__dlpack__(stream=stream, **kwargs)


def _tensor(array: Any) -> _native.DeviceArray:
    """The values of an array on a device, if they are all that there is to it."""
    try:
        return _checked(array)
    except (TypeError, ValueError) as error:
        raise BufferError(f"the array cannot be a tensor: {error}") from None


def _checked(array: Any) -> _native.DeviceArray:
    from .._methods.arrow import dtype_of, values_type

    kind = values_type(array.type)
    dtype_of(kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        tensor = _native.DeviceArray.from_arrow(array)
        if tensor.null_count == 0:
            return tensor
        raise ValueError(
            f"it has nulls ({tensor.null_count} of {len(array)}); "
            "DeviceArray.from_arrow(array, nulls='fill', fill=...) replaces them, and nulls='mask' "
            "returns the values and a mask"
        )
    raise BufferError(
        f"values of type {array.type} cannot be a tensor, only integers and floating-point "
        "numbers: DeviceArray.from_arrow(array) is an array of what Arrow stores for them"
    )


#: The calls that take device memory, where `from_dlpack` of these classes does not.
_WAYS_OUT = {
    "Array": "pyarrow_cuda_compat.DeviceArray(data).to_arrow() takes device memory",
    "Tensor": "pyarrow_cuda_compat.DeviceArray(data).copy_to_host() copies device memory, "
    "and pyarrow.Tensor.from_numpy takes the copy",
    "FixedShapeTensorArray": "pyarrow_cuda_compat.DeviceArray(data).to_arrow("
    "pyarrow.fixed_shape_tensor(type, shape)) takes device memory",
}


def _import_tensor(way_out: str, original: Method, *args: Any, **kwargs: Any) -> Any:
    try:
        return original(*args, **kwargs)
    except NotImplementedError as error:
        # `FixedShapeTensorArray` calls `Tensor`.
        text = str(error).removesuffix(f" {_WAYS_OUT['Tensor']}")
        raise type(error)(f"{text} {way_out}") from None


def install() -> None:
    """Answers for the methods."""
    lib = pa.lib
    for cls, is_batch in ((lib.Array, False), (lib.RecordBatch, True)):
        override(cls, "__arrow_c_device_array__", partial(_export_capsules, is_batch))
        override(cls, "_export_to_c_device", partial(_export, is_batch))
        override(cls, "_import_from_c_device_capsule", partial(_import_capsules, is_batch))
        override(cls, "_import_from_c_device", _import_batch if is_batch else _import_array)
    for name, way_out in _WAYS_OUT.items():
        override(getattr(lib, name), "from_dlpack", partial(_import_tensor, way_out))
    for cls in (lib.Array, lib.FixedShapeTensorArray):
        override(cls, "__dlpack__", _tensor_of)
        override(cls, "__dlpack_device__", _device_of)
