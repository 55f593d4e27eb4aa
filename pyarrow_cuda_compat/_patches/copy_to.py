"""Copies of pyarrow data between the host and devices.

=======================================  =========================================================
pyarrow itself                           this package
=======================================  =========================================================
``copy_to`` of arrays and batches        allocates and copies all of them together, and of
allocates and copies each whole buffer   slices what they reach; with ``stream=``, in the order
by itself                                of a stream.  A context, a device's number and names
                                         such as ``"cuda:0"`` are destinations, too
``ChunkedArray`` and ``Table`` have no   have one, for all chunks together: memory that chunks
``copy_to``                              share is copied once
``RecordBatchReader`` has no             has one, which returns a reader of copies that reads
``copy_to``                              ahead: see `read_ahead`
``Buffer`` has no ``copy`` or ``view``   has both
=======================================  =========================================================

For data on the CPU, a call takes about half a microsecond longer.  With
``PYARROW_CUDA_HOOK=0`` this package does not change pyarrow's classes.
"""

from __future__ import annotations

from functools import partial
from inspect import signature
from typing import Any

import pyarrow as pa

from .. import _native
from .._methods.pickling import reduce_array
from .._progress import Progress, reporting
from .patching import DESCRIBED, Method, add, named, override
from .read_ahead import reader_of_copies

_STREAM = """stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
    Makes the copy in the order of that stream.  Copies of device memory to a
    device, and of pinned memory if all of the data is pinned, return at once, and
    are complete when the stream is synchronized.  For others the call waits for
    the stream and the default stream, and they are complete on return."""


_PROGRESS = """progress : callable or bool, optional
    Is called on this thread as ``progress(done, total)``, numbers of bytes: every
    64 MiB or less of host memory, and at the end.  If it raises, nothing more is
    copied, and the exception goes on to the caller.  True shows a bar: of tqdm where
    that is installed, else a line on standard error."""


def _copy(
    cls: type,
    original: Method,
    data: Any,
    destination: Any,
    *,
    stream: Any = None,
    progress: Progress = None,
) -> Any:
    copied = _copied(data, cls, destination, stream, progress)
    return original(data, _native._destination(destination)) if copied is None else copied


def _copied(data: Any, cls: type, destination: Any, stream: Any, progress: Progress) -> Any:
    if progress is None:
        return _native._copy_to(data, cls, destination, stream)
    with reporting(progress, "copy_to") as report:
        return _native._copy_to(data, cls, destination, stream, report)


_EXAMPLES = """

Examples
--------
>>> {name} = {make}
>>> there = {name}.copy_to(ctx)
>>> there.is_cpu
False
>>> there.copy_to("cpu").equals({name})
True"""


def _describe(copy_to: Any, name: str, make: str) -> None:
    """Adds our parameters and examples to the documentation of a method, once."""
    parameters, returns, rest = (copy_to.__doc__ or "").partition("Returns\n")
    if returns and "stream :" not in parameters:
        indent = parameters.rpartition("\n")[2]
        ours = f"{_STREAM}\n{_PROGRESS}".replace("\n", f"\n{indent}")
        examples = _EXAMPLES.format(name=name, make=make).replace("\n", f"\n{indent}")
        parameters = parameters.replace(
            "destination)", "destination, *, stream=None, progress=None)", 1
        )
        parameters = parameters.replace("r pyarrow.Device\n", "r pyarrow.Device, Context or int\n")
        parameters = f"{parameters.rstrip()}\n{indent}{ours}\n\n{indent}"
        copy_to.__doc__ = f"{parameters}{returns}{rest.rstrip()}{examples}\n"


def _copies_chunks(cls: type, name: str, make: str) -> Method:
    def copy_to(
        self: Any, destination: Any, *, stream: Any = None, progress: Progress = None
    ) -> Any:
        return _copied(self, cls, destination, stream, progress)

    copy_to.__doc__ = f"""
        Copy the entire {cls.__name__} to destination device.

        The memory of all chunks is allocated and copied together.  Memory that chunks
        share is copied once.

        Parameters
        ----------
        destination : pyarrow.MemoryManager, pyarrow.Device, Context, int or str
            The destination device to copy the data to: an int is its number; ``"cuda:0"``,
            ``"cuda"`` (the first device) and ``"cpu"`` (host memory) are names.

        Returns
        -------
        {cls.__name__}
            With the same chunks.
        """
    _describe(copy_to, name, make)
    return named(copy_to, cls, "copy_to")


def _copy_reader(
    self: Any,
    destination: Any,
    *,
    stream: Any = None,
    read_ahead: int = 64 << 20,
    progress: Progress = None,
) -> Any:
    """
    Return a reader of the same batches, copied to destination device.

    A thread reads batches ahead, beginning with the first one that is asked for.  All that it
    has read is copied together when the next batch is asked for, up to 32 MiB or one batch,
    and shares an allocation.  The result has taken the batches over: this reader is not to be
    read any more.  Closing the result ends the thread.

    Parameters
    ----------
    destination : pyarrow.MemoryManager, pyarrow.Device, Context, int or str
        The destination device to copy the batches to; an int is its number, and ``"cuda:0"``
        and ``"cpu"`` are names.
    stream : Stream, CuPy's or PyTorch's, or object with ``__cuda_stream__``, optional
        Makes the copies on that stream.
    read_ahead : int, default 64 MiB
        The thread waits while it has read this many bytes, or one batch, that nobody has asked
        for.  0 reads each batch when it is asked for, in the thread that asks.
    progress : callable or bool, optional
        Is called as ``progress(done, total)`` after each copy: with the bytes that have been
        copied so far, and None, since nobody knows how many follow.  An exception from it reaches
        the caller who asks for the batch; the next call returns that batch.  True shows a
        bar, which ends with the reader.

    Returns
    -------
    RecordBatchReader
        Raises what this reader raises, after the batches before that.

    Examples
    --------
    >>> table = pa.table({"x": [1, 2]})
    >>> for batch in table.to_reader(max_chunksize=1).copy_to(ctx):
    ...     print(batch.num_rows, batch.is_cpu)
    1 False
    1 False
    """
    _native._check_has_data(self)
    # Wrong arguments raise now, not when the first batch is read.
    pa.RecordBatch.from_arrays([], []).copy_to(destination, stream=stream)
    return reader_of_copies(self, destination, stream, read_ahead, progress)


def _copy_buffer(self: Any, destination: Any) -> Any:
    """
    Copy the buffer to destination device.

    Parameters
    ----------
    destination : pyarrow.MemoryManager, pyarrow.Device, Context, int or str
        The destination device to copy the buffer to; an int is its number, and ``"cuda:0"`` and
        ``"cpu"`` are names.

    Returns
    -------
    Buffer
        A CudaBuffer, if the destination is a CUDA device.

    Examples
    --------
    >>> pa.py_buffer(b"bytes").copy(ctx).to_pybytes()
    b'bytes'
    """
    return _native._buffer_to(self, destination, is_view=False)


def _view_buffer(self: Any, destination: Any) -> Any:
    """
    View the buffer's memory from destination device, without a copy.

    A CUDA device sees its own memory and pinned memory of the host.  The host sees its
    own memory, and device memory that is a view of pinned memory.

    Parameters
    ----------
    destination : pyarrow.MemoryManager, pyarrow.Device, Context, int or str
        The device to view the buffer from; an int is its number, and ``"cuda:0"`` and ``"cpu"``
        are names.

    Returns
    -------
    Buffer
        A CudaBuffer, if the destination is a CUDA device.  Retains the memory.

    Raises
    ------
    NotImplementedError
        If the destination does not see the memory.

    Examples
    --------
    >>> pinned = cuda.new_host_buffer(8)
    >>> pinned.view(ctx).size
    8
    """
    return _native._buffer_to(self, destination, is_view=True)


def _reduce(original: Method, array: Any) -> Any:
    """For `pickle` and `copy`, which know no reducer of a user's class of extension arrays."""
    return reduce_array(array, original)


def install() -> None:
    """Answers for methods, and adds others."""
    lib = pa.lib
    for cls, name, make in (
        (lib.Array, "array", "pa.array([1, 2, None])"),
        (lib.RecordBatch, "batch", 'pa.record_batch({"x": [1, 2]})'),
    ):
        override(cls, "copy_to", partial(_copy, cls))
        copy_to = vars(cls)["copy_to"]
        copy_to.__signature__ = signature(
            lambda self, destination, *, stream=None, progress=None: None
        )
        _describe(copy_to, name, make)
        DESCRIBED.add(f"{cls.__name__}.copy_to")
    override(lib.Array, "__reduce__", _reduce)
    for cls, name, make in (
        (lib.ChunkedArray, "column", "pa.chunked_array([[1], [2]])"),
        (lib.Table, "table", 'pa.table({"x": [1, 2]})'),
    ):
        add(cls, "copy_to", _copies_chunks(cls, name, make))
    add(lib.RecordBatchReader, "copy_to", named(_copy_reader, lib.RecordBatchReader, "copy_to"))
    add(lib.Buffer, "copy", named(_copy_buffer, lib.Buffer, "copy"))
    add(lib.Buffer, "view", named(_view_buffer, lib.Buffer, "view"))
