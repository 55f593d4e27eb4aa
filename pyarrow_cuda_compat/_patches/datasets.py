"""``copy_to`` of datasets, their fragments and scanners: readers of batches on a device."""

from __future__ import annotations

import sys
from typing import Any

from .._methods.scanners import scanner_of
from .._start.import_hooks import follow
from .patching import Method, add, named

_MODULE = "pyarrow._dataset"


def _method(cls: type) -> Method:
    def copy_to(self: Any, destination: Any, **options: Any) -> Any:
        """
        Return a reader of the rows, in batches that are copied to destination device.

        pyarrow scans the files on the host, and reads batches ahead while earlier ones are copied
        and used.  ``read_all()`` of the reader makes a table.  `Context.table_from_file` reads a
        dataset into a table at once, and has libcudf decode Parquet files where it can.

        Parameters
        ----------
        destination : pyarrow.MemoryManager, pyarrow.Device, Context, int or str
            The destination device to copy the batches to; an int is its number, and ``"cuda:0"``
            and ``"cpu"`` are names.
        **options : optional
            The options of `RecordBatchReader.copy_to`: `stream`, `read_ahead` and `progress`.

        Returns
        -------
        RecordBatchReader
            Of the columns and rows of the scanner; ``dataset.scanner(columns=, filter=)`` makes one
            of some of them.

        Examples
        --------
        >>> import pyarrow.dataset
        >>> dataset = pyarrow.dataset.dataset(pa.table({"x": [1, 2, 3]}))
        >>> dataset.scanner(filter=pyarrow.dataset.field("x") > 1).copy_to(ctx).read_all().num_rows
        2
        """
        is_scanner = isinstance(self, sys.modules[_MODULE].Scanner)
        scanner = self if is_scanner else scanner_of(self)
        return scanner.to_reader().copy_to(destination, **options)

    return named(copy_to, cls, "copy_to")


def add_methods(module: str) -> None:
    """To be called once the module is imported."""
    for name in ("Dataset", "Fragment", "Scanner"):
        cls = getattr(sys.modules[module], name)
        add(cls, "copy_to", _method(cls))


def install() -> None:
    """Adds the methods when a program imports `pyarrow.dataset`."""
    follow(_MODULE, __name__, "add_methods", reloads=True)
