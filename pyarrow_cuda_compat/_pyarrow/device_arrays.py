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

Each replacement calls pyarrow's method.  For data on the CPU, a call takes about half a microsecond
longer, and an export some nanoseconds more for each column.  With
``PYARROW_CUDA_HOOK=0`` this package does not replace the methods.

An event covers the work that was queued before the export: on the default stream of the device's
primary context, on streams ordered with it, and before the event of an imported array.  It does not
cover streams made with ``CU_STREAM_NON_BLOCKING``; make the default stream wait for them, or
synchronize.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import pyarrow as pa

from .. import _native
from .patching import wrap

_Method = Callable[..., Any]


def _exports_capsules(original: _Method, is_batch: bool) -> _Method:
    @wraps(original)
    def __arrow_c_device_array__(self: Any, requested_schema: Any = None, **kwargs: Any) -> Any:
        prepared = _native._prepare(self, is_batch)
        schema, array = original(prepared, requested_schema, **kwargs)
        _native._finish_export(prepared, array, schema, in_capsules=True)
        return schema, array

    return __arrow_c_device_array__


def _exports(original: _Method, is_batch: bool) -> _Method:
    @wraps(original)
    def _export_to_c_device(self: Any, out_ptr: Any, out_schema_ptr: Any = 0) -> None:
        prepared = _native._prepare(self, is_batch)
        out_ptr, out_schema_ptr = _native._export_places(out_ptr, out_schema_ptr)
        original(prepared, out_ptr, out_schema_ptr)
        _native._finish_export(prepared, out_ptr, out_schema_ptr, in_capsules=False)

    return _export_to_c_device


def _imports_capsules(original: _Method, is_batch: bool) -> _Method:
    @wraps(original)
    def _import_from_c_device_capsule(schema_capsule: Any, array_capsule: Any) -> Any:
        array_capsule, schema_capsule = _native._prepare_import(
            array_capsule, schema_capsule, in_capsules=True, is_batch=is_batch
        )
        imported = original(schema_capsule, array_capsule)
        return _native._finish_import(imported, array_capsule, in_capsules=True)

    return staticmethod(_import_from_c_device_capsule)


def _imports(original: _Method, is_batch: bool) -> _Method:
    def take(in_ptr: Any, second: Any) -> Any:
        in_ptr, second = _native._prepare_import(
            in_ptr, second, in_capsules=False, is_batch=is_batch
        )
        imported = original(in_ptr, second)
        return _native._finish_import(imported, in_ptr, in_capsules=False)

    # The second parameter has a name of its own in each class.
    if is_batch:
        return staticmethod(wraps(original)(lambda in_ptr, schema: take(in_ptr, schema)))
    return staticmethod(wraps(original)(lambda in_ptr, type: take(in_ptr, type)))


def _exports_tensor(original: _Method) -> _Method:
    @wraps(original)
    def __dlpack__(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _native._is_on_device(self):
            return _export_tensor(self, *args, **kwargs)
        return original(_on_host(self), *args, **kwargs)

    return __dlpack__


def _names_device(original: _Method) -> _Method:
    @wraps(original)
    def __dlpack_device__(self: Any) -> Any:
        if not _native._is_on_device(self):
            return original(_on_host(self))
        on_device = [it for it in self.buffers() if it is not None and not it.is_cpu]
        values = on_device[-1]  # a bitmap may lie on another device
        return _native.CudaBuffer.from_buffer(values).__dlpack_device__()

    return __dlpack_device__


def _on_host(array: Any) -> Any:
    """An array on the host as memory that pyarrow exports: it refuses pinned memory."""
    if array.is_cpu or not pa.types.is_primitive(array.type):
        return array
    buffers = [it if it is None else pa.py_buffer(it) for it in array.buffers()]
    return pa.Array.from_buffers(array.type, len(array), buffers, offset=array.offset)


def _export_tensor(array: Any, stream: Any = None, **kwargs: Any) -> Any:
    """With pyarrow 25's parameters and those of DLPack 1.0."""
    return _tensor(array).__dlpack__(stream=stream, **kwargs)


def _tensor(array: Any) -> _native.DeviceArray:
    """The values of an array on a device, if they are all that there is to it."""
    try:
        numbers = _native._numbers(array)
        return _with_its_dimensions(array) if numbers is None else numbers
    except (TypeError, ValueError) as error:
        raise BufferError(f"the array cannot be a tensor: {error}") from None


def _with_its_dimensions(array: Any) -> _native.DeviceArray:
    tensor = _checked(array)
    order = getattr(array.type, "permutation", None)  # of tensors of a fixed shape
    return tensor if order is None else tensor.transpose((0, *(axis + 1 for axis in order)))


def _checked(array: Any) -> _native.DeviceArray:
    from .._device_array.arrow import (  # not with the package: it has to load quickly
        dtype_of,
        values_type,
    )

    kind = values_type(array.type)
    dtype_of(kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        tensor = _native.DeviceArray.from_arrow(array)
        if tensor.null_count == 0:
            return tensor
        raise ValueError(
            f"it has nulls ({tensor.null_count} of {len(array)}); "
            "DeviceArray.from_arrow(array) has its values and their validity bitmap"
        )
    raise BufferError(
        f"values of type {array.type} cannot be a tensor, only integers and floating-point "
        "numbers: DeviceArray.from_arrow(array) is an array of what Arrow stores for them"
    )


def _imports_tensor(original: _Method) -> _Method:
    @wraps(original)
    def from_dlpack(data: Any) -> Any:
        try:
            return original(data)
        except NotImplementedError as error:
            way = "pyarrow_cuda_compat.DeviceArray(data).to_arrow() takes device memory"
            raise type(error)(f"{error} {way}") from None

    return staticmethod(from_dlpack)


def install() -> None:
    """Replaces the methods, once."""
    for cls, is_batch in ((pa.lib.Array, False), (pa.lib.RecordBatch, True)):
        wrap(cls, "__arrow_c_device_array__", partial(_exports_capsules, is_batch=is_batch))
        wrap(cls, "_export_to_c_device", partial(_exports, is_batch=is_batch))
        wrap(cls, "_import_from_c_device_capsule", partial(_imports_capsules, is_batch=is_batch))
        wrap(cls, "_import_from_c_device", partial(_imports, is_batch=is_batch))
    if hasattr(pa.lib.Array, "from_dlpack"):
        wrap(pa.lib.Array, "from_dlpack", _imports_tensor)
    for cls in (pa.lib.Array, pa.lib.FixedShapeTensorArray):
        wrap(cls, "__dlpack__", _exports_tensor)
        wrap(cls, "__dlpack_device__", _names_device)
