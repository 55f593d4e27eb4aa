"""Pickles and copies objects in device memory.

This module has the bodies of methods such as `CudaBuffer.__reduce_ex__`.  It also has reducers for
pyarrow's own classes, so that record batches, tables, chunked arrays and arrays on a device can be
pickled.  Importing this package registers the reducers with `copyreg`.  For data on the host, they
call pyarrow's own reducers.

A pickle contains the number of the device and the bytes; of a slice, only the bytes that it
reaches.  Loading it copies the bytes into new memory on the device with that number, or on device 0
if that device does not exist.  With protocol 5 and a ``buffer_callback``, the bytes are out of
band: a single copy from the device.

Pickles name functions of the package itself, not of its modules.  So loading a pickle waits until
the whole package is imported, even if another thread is still importing it.

If the driver fails while a pickle is loaded, the load raises an `OSError`, as everywhere.  Dask
treats it as a failed connection and repeats the request until memory is free; with any other
exception the task would wait forever.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from .. import _native
from .._start.extension import PACKAGE

_NO_DEVICE = (
    "a pickle of device memory is loaded into device memory, and no CUDA device can be used here "
    "({}). Pickle a copy on the host: buffer.copy_to_host(), or "
    'batch.copy_to("cpu") of arrays, record batches and tables. '
    "With Dask, have a worker make it, and ask for the result of that task"
)

_device_count = _native.Context.get_num_devices

RESTORING: list[Callable[..., Any]] = []


def restores(function: Callable[..., Any]) -> Callable[..., Any]:
    """Has pickles name a function as one of the package, whose import they wait for."""
    function.__module__ = PACKAGE
    RESTORING.append(function)
    return function


# An array taken apart: its type, length and so on, with a `Part` for each of its buffers.
_Tree = Any


class Part:
    """A buffer of a device array, while it is pickled or copied.

    It becomes a generic buffer of an array again: when a pickle is loaded, or at once
    when an object is copied.
    """

    __slots__ = ("buffer",)

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _restore_part, (_contents(self.buffer, protocol), self.buffer.context.device_number)

    def __deepcopy__(self, memo: object) -> Part:
        part = _native._new_packed_buffer(self.buffer.context, self.buffer.size)
        part.copy_from_device(self.buffer)
        return Part(part)


def reduce_buffer(buffer: Any, protocol: int) -> tuple[Any, ...]:
    """A `CudaBuffer` for `pickle`."""
    number = buffer.context.device_number
    return _restore_buffer, (_contents(buffer, protocol), number, buffer.is_mutable)


@restores
def _restore_buffer(contents: Any, device_number: int, is_mutable: bool) -> Any:
    """A `CudaBuffer` from a pickle."""
    contents = pa.py_buffer(contents)
    buffer = context_for(device_number).new_buffer(contents.size)
    buffer.copy_from_host(contents)
    return _as_mutable(buffer, is_mutable)


@restores
def _restore_part(contents: Any, device_number: int) -> Any:
    """A buffer of an array, from a pickle."""
    contents = pa.py_buffer(contents)
    buffer = _native._new_packed_buffer(context_for(device_number), contents.size)
    buffer.copy_from_host(contents)
    return buffer


def context_for(device_number: int) -> Any:
    """The context of the device of that number, or of device 0 if no device has it."""
    try:
        count = _device_count()
    except OSError as error:
        raise OSError(_NO_DEVICE.format(error)) from error
    return _native.Context(device_number if device_number < count else 0)


def _as_mutable(buffer: Any, is_mutable: bool) -> Any:
    return buffer if is_mutable else _native._read_only(buffer)


def _contents(buffer: Any, protocol: int) -> Any:
    """The bytes, for a pickle of that protocol."""
    if protocol >= 5:
        return pickle.PickleBuffer(buffer.copy_to_host())
    return buffer.to_pybytes()


# --- arrays and what is made of them -------------------------------------------------------------


def _reduce_device_batch(batch: Any) -> Any:
    return _restore_batch, (list(_trees(batch.columns)), batch.schema)


def _reduce_device_table(table: Any) -> Any:
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    counts = [column.num_chunks for column in table.columns]
    return _restore_table, (list(_trees(chunks)), counts, table.schema)


def _reduce_device_chunked_array(array: Any) -> Any:
    return _restore_chunked_array, (list(_trees(array.chunks)), array.type)


def _reduce_device_array(array: Any) -> Any:
    return _restore_array, tuple(_trees([array]))


def _unless_on_host(cls: type, reduce_there: Callable[[Any], Any]) -> Callable[..., Any]:
    """A reducer that leaves what is plain host memory to pyarrow's own."""

    def reduce(value: Any, original: Callable[[Any], Any] | None = None) -> Any:
        if not _native._is_on_device(value):
            try:
                return value.__reduce__() if original is None else original(value)
            except NotImplementedError:
                pass  # pinned memory
        part = _native._copy_slice(value, cls)
        return reduce_there(value if part is None else part)

    return reduce


@restores
def _restore_batch(trees: list[_Tree], schema: Any) -> Any:
    return _native._assemble(schema, [_restore_array(tree) for tree in trees])


@restores
def _restore_table(trees: list[_Tree], counts: list[int], schema: Any) -> Any:
    chunks = iter([_restore_array(tree) for tree in trees])
    columns = [
        pa.chunked_array([next(chunks) for _ in range(count)], type)
        for count, type in zip(counts, schema.types, strict=True)
    ]
    return _native._assemble(schema, columns)


@restores
def _restore_chunked_array(trees: list[_Tree], type: Any) -> Any:
    return pa.chunked_array([_restore_array(tree) for tree in trees], type)


@restores
def _restore_array(tree: _Tree) -> Any:
    restore, data = tree
    return restore(_replaced(data, Part, lambda part: part.buffer))


def tree_of(array: Any) -> _Tree:
    """An array as pyarrow takes it apart: type, length, count of nulls, offset, buffers, children
    and dictionary, with a `Part` for each buffer on a device."""
    [(_restore, tree)] = _trees([array])
    return tree


def with_validity(array: Any, validity: Any, null_count: int) -> Any:
    """An array over the same memory, but for another bitmap, whose bits have the array's offset."""
    [(restore, tree)] = _trees([array])
    kind, length, _nulls, offset, buffers, *inner = tree
    return _restore_array(
        (restore, (kind, length, null_count, offset, [validity, *buffers[1:]], *inner))
    )


def _trees(arrays: list[Any]) -> Iterator[_Tree]:
    """Each array as pyarrow's own function for its pickle and that one's argument, with a `Part`
    for each buffer that pyarrow cannot pickle.

    Memory that several arrays share is one part, which travels once.
    """
    parts: dict[tuple[int, int, Any], Part] = {}

    def part(placeholder: Any) -> Any:
        original = placeholder.parent
        if placeholder.size or original is None:
            return placeholder  # it is plain host memory itself
        try:
            buffer = _native.CudaBuffer.from_buffer(original)
        except TypeError:
            return original  # pinned memory, which the host reads like any other
        # After a reset of the device, the next context has the same handle and addresses.
        key = buffer.address, buffer.size, buffer.context
        return parts.setdefault(key, Part(buffer))

    for array in arrays:
        restore, (data,) = pa.Array.__reduce__(_native._skeleton(array))
        yield restore, _replaced(data, pa.Buffer, part)


def _replaced(tree: Any, kind: type, replace: Callable[[Any], Any]) -> Any:
    """A copy of nested tuples and lists, with all values of a class replaced."""
    if isinstance(tree, tuple | list):
        return type(tree)(_replaced(branch, kind, replace) for branch in tree)
    return replace(tree) if isinstance(tree, kind) else tree


def _array_classes(base: Any) -> Iterator[Any]:
    for each in base.__subclasses__():
        # The classes of users' extension types are theirs: `_patches.copy_to` sees to them.
        if each.__module__ == "pyarrow.lib":
            yield each
            yield from _array_classes(each)


reduce_array = _unless_on_host(pa.Array, _reduce_device_array)


def register() -> None:
    """Lets `pickle` and `copy` take pyarrow's objects that lie on a device."""
    copyreg.pickle(pa.RecordBatch, _unless_on_host(pa.RecordBatch, _reduce_device_batch))
    copyreg.pickle(pa.Table, _unless_on_host(pa.Table, _reduce_device_table))
    copyreg.pickle(pa.ChunkedArray, _unless_on_host(pa.ChunkedArray, _reduce_device_chunked_array))
    for each in _array_classes(pa.Array):
        copyreg.pickle(each, reduce_array)
