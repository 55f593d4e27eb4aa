"""The process in which libcudf decodes Parquet files.

    python -m pyarrow_cuda_compat._cudf.parquet.worker DESCRIPTOR DEVICE

A damaged file can end the CUDA context in which it is decoded, and all data there with it.  So this
process has a context of its own.  It packs each table into one allocation, which the other process
copies by CUDA IPC.  `process` is the other end.
"""

from __future__ import annotations

import sys
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from .messages import Packed, Refused, Request

#: Seconds without a request, after which the process ends and gives back its context's memory.
_IDLE = 60


def decoded(context: Any, request: Request) -> Any:
    """libcudf's table of the columns, in the order of the names."""
    import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

    from .sources import given

    parquet = plc.io.parquet
    sources = given(context, request.sources)
    options = (
        parquet.ParquetReaderOptions.builder(plc.io.SourceInfo(sources))
        .column_names(request.names)
        .use_pandas_metadata(False)
        .use_arrow_schema(False)
        .decimal_width(plc.TypeId.DECIMAL128)
        .build()
    )
    options.set_row_groups(request.row_groups)
    found = parquet.read_parquet(options)
    if found.column_names() != request.names:
        raise ValueError(f"libcudf reads the columns {found.column_names()}")
    context.synchronize()  # before the memory of the sources is used again
    return found.tbl


def _packed(context: Any, request: Request) -> tuple[Packed, Any]:
    """A packed table, and what owns its memory: exported memory would not be released."""
    import pylibcudf as plc

    from ... import _native

    metadata, data = plc.contiguous_split.pack(decoded(context, request)).release()
    if not data.size:
        return Packed(bytes(metadata), b"", 0), data
    context.synchronize()
    buffer = context.foreign_buffer(data.ptr, data.size, data)
    handle = _native._lend(buffer).serialize().to_pybytes()
    return Packed(bytes(metadata), handle, data.size), buffer


def _serve(connection: Connection, device: int) -> None:
    from pyarrow import cuda

    from ... import _native, empty_cache
    from ..rmm_resource import share_memory

    context = cuda.Context(device)
    share_memory(context)
    connection.send(_native._uuid(device))
    while connection.poll(_IDLE):
        request = connection.recv()
        try:
            answer, owner = _native._computing_in(context, partial(_packed, context, request))
        except Exception as error:  # libcudf's are of many classes
            connection.send(Refused(str(error), isinstance(error, MemoryError)))
        else:
            connection.send(answer)
            connection.recv()  # once the table is copied
            del owner
        empty_cache(context)
        context.synchronize()  # raises if the file has ended the context


def main() -> None:
    connection = Connection(int(sys.argv[1]))
    try:
        _serve(connection, int(sys.argv[2]))
    except (EOFError, OSError):  # the other process has ended, or the context has
        sys.exit(1)


if __name__ == "__main__":
    main()
