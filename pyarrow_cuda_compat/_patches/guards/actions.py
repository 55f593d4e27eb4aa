"""The actions of guards for each array, table, buffer or message on a device in a call's arguments.

An action gets the data and the first argument of the guarded call.  pyarrow's function gets the
action's result instead of the data.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from ... import _native
from ..._data import to_host

#: Files over device memory: their methods take device data.
_DEVICE_FILES: tuple[type, type] = (_native.BufferReader, _native.BufferWriter)
#: Calls every function of `pyarrow.compute`.
_COMPUTE = "pyarrow.compute.Function.call"

Action = Callable[[Any, Any], Any]


def refuse(name: str) -> Action:
    """The action that raises ``NotImplementedError``; `name` is that of the guarded function."""
    shown = name.replace("pyarrow.lib.", "pyarrow.").replace("pyarrow._", "pyarrow.")

    def refuse_data(data: Any, first: Any) -> None:
        _native._refuse(data, f"pyarrow.compute.{first.name}" if shown == _COMPUTE else shown)

    return refuse_data


def copy_to_host(data: Any, first: Any) -> Any:
    """Copies data to the host, except for methods of files over device memory."""
    return data if isinstance(first, _DEVICE_FILES) else to_host(data)


def count_nulls(data: Any, _first: Any = None) -> Any:
    """Counts the nulls of an array or a record batch; those of chunks are known."""
    if isinstance(data, pa.Array | pa.RecordBatch):
        _native._count_nulls(data)
    return data


def has_type(types: Iterable[Any], is_wanted: Callable[[Any], bool]) -> bool:
    """Whether some of the types, or of those within them, are of a kind."""
    for each in types:
        kind = each.storage_type if isinstance(each, pa.BaseExtensionType) else each
        fields = (kind.field(number) for number in range(kind.num_fields))
        if is_wanted(kind) or has_type((field.type for field in fields), is_wanted):
            return True
    return False
