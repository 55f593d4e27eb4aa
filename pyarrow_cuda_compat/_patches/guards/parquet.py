"""Has libcudf write Parquet files of large tables on a device.  pyarrow writes all others."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pyarrow as pa

from ... import _native
from ..._cudf.refusals import Refusal
from .compute import attempt


def write_table(original: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """`pyarrow.parquet.write_table`, which may have a table on a device."""
    if not _is_written_by(*arguments, **options):
        return original(*arguments, **options)
    return None


def _is_written_by(
    table: Any = None,
    where: Any = None,
    *arguments: Any,
    compression: Any = "snappy",
    **options: Any,
) -> bool:
    """Whether libcudf has written the file."""
    is_path = isinstance(where, str | os.PathLike) and "://" not in str(where)
    if arguments or options or not is_path or not isinstance(compression, str):
        return False
    if not isinstance(table, pa.Table) or not _native._is_on_device(table):
        return False
    path, name = os.path.expanduser(where), compression.lower()  # noqa: PTH111
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
        return False  # which may keep what libcudf writes before it fails
    try:
        attempt([table], lambda cudf: cudf.write_parquet(table, path, name))
    except Refusal:
        return False
    except Exception:
        with suppress(OSError):
            os.unlink(path)  # noqa: PTH108 - as pyarrow does
        raise
    return True
