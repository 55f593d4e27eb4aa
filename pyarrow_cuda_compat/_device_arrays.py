"""What pyarrow's arrays and record batches lack in the C Device interface.

========================================================  ========================================
in pyarrow itself                                         here
========================================================  ========================================
an exported structure never has an event                  has one while work on the array goes on
an import of strings reads an offset before it knows of   waits for the event
the array's event
imports put host memory where an array has none, which    empty memory of the device
cannot be exported again
exports, and imports of batches, count the nulls of       counts them on a copy of the bitmap
slices and the like as if bitmaps were host memory: they
crash
so does whoever puts copies of slices together, as        counts them before the copy is made
``pa.chunked_array`` does
what is read of messages has empty buffers on the host,   is exported with empty memory of the
and cannot be exported                                    device
arrays that are none, or were never filled, crash         raises ``TypeError``
========================================================  ========================================

Other libraries call these methods on pyarrow's own objects, so nothing but the methods can be
changed.  The classes are compiled and take no new attributes, but their namespaces do: Cython
itself adds methods for pickling to them in this way when it has made a class.  Each replacement
goes on calling pyarrow's method.  Data on the CPU is only looked at: a call takes about half a
microsecond longer, and an export some nanoseconds more for each column.  With
``PYARROW_CUDA_COMPAT_HOOK=0`` nothing is replaced.

An event stands for the work that was queued before the export: on the default stream of the
device's primary context, on streams ordered with it, and for what the array itself was imported
with.  Streams made with ``CU_STREAM_NON_BLOCKING`` are not seen; have the default stream wait for
them, or synchronise.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import _pyarrow_cuda_compat_hook as _hook  # type: ignore[import-untyped,unused-ignore]
import pyarrow as pa

from . import _native

_Method = Callable[..., Any]
#: What an array can be copied to.
_PLACES = (pa.MemoryManager, pa.Device)


def _exports_capsules(original: _Method, is_batch: bool) -> _Method:
    @wraps(original)
    def __arrow_c_device_array__(self: Any, requested_schema: Any = None, **kwargs: Any) -> Any:
        prepared = _native._prepare(self, is_batch, to_host=False)
        schema, array = original(prepared, requested_schema, **kwargs)
        _native._finish_export(prepared, array, schema, in_capsules=True)
        return schema, array

    return __arrow_c_device_array__


def _exports(original: _Method, is_batch: bool) -> _Method:
    @wraps(original)
    def _export_to_c_device(self: Any, out_ptr: Any, out_schema_ptr: Any = 0) -> None:
        prepared = _native._prepare(self, is_batch, to_host=False)
        original(prepared, out_ptr, out_schema_ptr)
        _native._finish_export(prepared, out_ptr, out_schema_ptr, in_capsules=False)

    return _export_to_c_device


def _copies(original: _Method, is_batch: bool) -> _Method:
    @wraps(original)
    def copy_to(self: Any, destination: Any) -> Any:
        to_host = not isinstance(destination, _PLACES) or destination.is_cpu
        return original(_native._prepare(self, is_batch, to_host), destination)

    return copy_to


def _imports_capsules(original: _Method, is_batch: bool) -> _Method:
    @wraps(original)
    def _import_from_c_device_capsule(schema_capsule: Any, array_capsule: Any) -> Any:
        _native._prepare_import(array_capsule, schema_capsule, in_capsules=True, is_batch=is_batch)
        imported = original(schema_capsule, array_capsule)
        return _native._finish_import(imported, array_capsule, in_capsules=True)

    return staticmethod(_import_from_c_device_capsule)


def _imports(original: _Method, is_batch: bool) -> _Method:
    def take(in_ptr: Any, second: Any) -> Any:
        _native._prepare_import(in_ptr, second, in_capsules=False, is_batch=is_batch)
        imported = original(in_ptr, second)
        return _native._finish_import(imported, in_ptr, in_capsules=False)

    # The second parameter has a name of its own in each class.
    if is_batch:
        return staticmethod(wraps(original)(lambda in_ptr, schema: take(in_ptr, schema)))
    return staticmethod(wraps(original)(lambda in_ptr, type: take(in_ptr, type)))


def _replace(cls: type, name: str, make: Callable[..., _Method], is_batch: bool) -> None:
    original = getattr(cls, name)
    # What a mapping proxy shows is the one thing that it refers to.
    namespaces = gc.get_referents(cls.__dict__)
    if hasattr(original, "__wrapped__") or len(namespaces) != 1 or name not in namespaces[0]:
        return
    namespaces[0][name] = make(original, is_batch)
    _native._class_changed(cls)


def install() -> None:
    """Replaces the methods, once, unless the user wants pyarrow as it is."""
    if os.environ.get(_hook.VARIABLE) == "0":
        return
    for cls, is_batch in ((pa.lib.Array, False), (pa.lib.RecordBatch, True)):
        _replace(cls, "__arrow_c_device_array__", _exports_capsules, is_batch)
        _replace(cls, "_export_to_c_device", _exports, is_batch)
        _replace(cls, "copy_to", _copies, is_batch)
        _replace(cls, "_import_from_c_device_capsule", _imports_capsules, is_batch)
        _replace(cls, "_import_from_c_device", _imports, is_batch)
