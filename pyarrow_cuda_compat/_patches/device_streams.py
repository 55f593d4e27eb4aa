"""Streams of batches between libraries: the C Device interface's ``ArrowDeviceArrayStream``.

pyarrow exports and imports single arrays and batches on a device, but streams of the host only.
This package adds ``__arrow_c_device_stream__`` to tables, record batches, readers and chunked
arrays, and ``_import_from_c_device_capsule`` to readers and chunked arrays.
``RecordBatchReader.from_stream`` takes objects of any library that have the method.

A stream has one device, and raises an error when it reaches data on another one.  ``copy_to``
copies all data to one device.  Each array has an event while work on it is in flight, as an array
that is exported alone does.

With ``PYARROW_CUDA_HOOK=0`` this package does not change pyarrow's classes.
"""

from itertools import chain
from typing import Any

import pyarrow as pa

from .. import _native
from .._data import lies_on_host
from .patching import Method, add, named, override


def _exports(describe: Method, prepare: Method) -> Method:
    """The method for a class.  `describe` makes a schema or type of a capsule, and `prepare` casts
    the data to it."""

    def __arrow_c_device_stream__(self: Any, requested_schema: Any = None, **kwargs: Any) -> Any:
        """
        Export to a C ArrowDeviceArrayStream PyCapsule.

        Parameters
        ----------
        requested_schema : PyCapsule, default None
            A C ArrowSchema of the schema that data on the CPU is to be cast to.
        kwargs
            For later versions of the protocol; each has to be None.

        Returns
        -------
        PyCapsule
            Retains the data.
        """
        unknown = [name for name, value in kwargs.items() if value is not None]
        if unknown:
            raise NotImplementedError(f"Received unsupported keyword argument(s): {unknown}")
        _native._check_has_data(self)
        requested = None if requested_schema is None else describe(requested_schema)
        return _native._export_stream(prepare(self, requested))

    return __arrow_c_device_stream__


def _cast(data: Any, current: Any, requested: Any) -> Any:
    """The data as the consumer asks for it."""
    if requested is None or requested == current:
        return data
    if _native._is_on_device(data):
        raise NotImplementedError(
            "Casting to a requested schema is only supported for CPU data, and this "
            'is on a device: copy_to("cpu") copies it to the host'
        )
    return data.cast(requested)


def _table(table: Any, requested: Any) -> Any:
    return _cast(table, table.schema, requested)


def _batch(batch: Any, requested: Any) -> Any:
    return _cast(pa.Table.from_batches([batch]), batch.schema, requested)


def _chunks(array: Any, requested: Any) -> Any:
    return _cast(array, array.type, requested)


def _reader(reader: Any, requested: Any) -> Any:
    """A reader that has read its first batch with rows: the caller gets what that raises."""
    schema = reader.schema

    def cast(batch: Any) -> Any:
        return _cast(batch, schema, requested)

    ahead = []
    for batch in reader:
        ahead.append(cast(batch))
        if batch.num_rows:
            break
    asked = schema if requested is None else requested
    return pa.RecordBatchReader.from_batches(asked, chain(ahead, map(cast, reader)))


def _from_stream(original: Method, data: Any, schema: Any = None) -> Any:
    is_host_data = isinstance(data, pa.Table | pa.RecordBatch) and lies_on_host(data)
    if is_host_data or not hasattr(data, "__arrow_c_device_stream__"):
        return original(data, schema)
    if schema is not None and not hasattr(schema, "__arrow_c_schema__"):
        raise TypeError(
            "Expected an object implementing the Arrow PyCapsule Protocol for schema "
            f"(i.e. having a `__arrow_c_schema__` method), got {type(schema)!r}."
        )
    requested = None if schema is None else schema.__arrow_c_schema__()
    return _native._import_stream(data.__arrow_c_device_stream__(requested))


def _imports(cls: type, take: Method, parts: str) -> Method:
    """The method for a class, whose objects `take` makes of capsules."""

    def _import_from_c_device_capsule(capsule: Any) -> Any:
        return take(capsule)

    _import_from_c_device_capsule.__doc__ = f"""
        Import {cls.__name__} from a C ArrowDeviceArrayStream PyCapsule.

        Parameters
        ----------
        capsule : PyCapsule
            A capsule containing a C ArrowDeviceArrayStream, which is taken over.

        Returns
        -------
        {cls.__name__}
            Its {parts} lie where the stream's arrays do.
        """
    return _import_from_c_device_capsule


def install() -> None:
    """Adds the methods, once."""
    lib = pa.lib
    of_schema, of_type = pa.Schema._import_from_c_capsule, pa.DataType._import_from_c_capsule
    for cls, describe, prepare in (
        (lib.Table, of_schema, _table),
        (lib.RecordBatch, of_schema, _batch),
        (lib.RecordBatchReader, of_schema, _reader),
        (lib.ChunkedArray, of_type, _chunks),
    ):
        export = _exports(describe, prepare)
        add(cls, export.__name__, named(export, cls, export.__name__))
    for cls, take, parts in (
        (lib.RecordBatchReader, _native._import_stream, "batches"),
        (lib.ChunkedArray, _native._import_chunks, "chunks"),
    ):
        method = _imports(cls, take, parts)
        add(cls, method.__name__, staticmethod(named(method, cls, method.__name__)))
    override(lib.RecordBatchReader, "from_stream", _from_stream)
