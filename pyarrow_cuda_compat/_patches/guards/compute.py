"""Has the compute engine answer calls with data on a device; without one, refuses them.

`call` and `query` take the guarded function and its arguments.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa

from ... import _native, _tracing
from ..._cudf import rmm_resource
from ..._cudf.library import attempted
from ..._cudf.refusals import Refusal, UnsupportedLocation
from ..._methods import sizes

_DATA = pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table
_Original = Callable[..., Any]
#: The callers of functions of `pyarrow.acero` and of `device_datasets`, as refusals name them.
_METHODS = {
    "_project": "dataset.Dataset.to_table",
    "_filter_table": "Table.filter",
    "_group_by": "TableGroupBy.aggregate",
    "_perform_join": "Table.join",
    "_perform_join_asof": "Table.join_asof",
}
#: Functions that methods of other names call, as the refusal names them.
_CALLERS = {"pyarrow.compute.sort_indices": "pyarrow.compute.sort_indices, as in sort_by,"}


def call(
    original: _Original,
    function: Any,
    args: Any,
    options: Any = None,
    memory_pool: Any = None,
    length: int | None = None,
) -> Any:
    """`Function.call` with arguments that may contain data on a device.  The guard has made the
    list, and has entered the context of the data if an engine is loaded."""
    is_entered = _native._here() is not None
    if not is_entered and _data_of(args) is None:
        return original(function, args, options, memory_pool, length)
    return _answered(
        f"pyarrow.compute.{function.name}",
        args,
        lambda cudf: cudf.run(original, function, args, options, length),
        is_entered,
    )


def query(original: _Original, *arguments: Any, **keywords: Any) -> Any:
    """A function of `pyarrow.acero`, which may have data on a device."""
    given = (*arguments, *keywords.values())
    found = [it for it in given if isinstance(it, _DATA) and _native._is_on_device(it)]
    if not found:
        return original(*arguments, **keywords)
    name = original.__name__
    return _answered(
        f"pyarrow.{_METHODS[name]}",
        found,
        lambda cudf: cudf.QUERIES[name](original, *arguments, **keywords),
    )


def _answered(
    name: str, arguments: Any, answer: Callable[[Any], Any], is_entered: bool = False
) -> Any:
    """The answer of the engine, which is recorded if the program has asked for records."""
    if not _tracing.traced:
        return _computed(name, arguments, answer, is_entered)
    data = [it for it in arguments if isinstance(it, _DATA)]
    made = partial(_computed, name, arguments, answer, is_entered)
    return _native._recorded(
        "compute", name, made, lambda _: _facts(data), max(map(len, data), default=0)
    )


def _facts(data: list[Any]) -> tuple[int, int | None]:
    """The bytes of arguments, and the device that they lie on."""
    numbers = [number for it in data for number in sizes.devices_of(it) if number is not None]
    return sum(map(sizes.total_buffer_size, data)), numbers[0] if numbers else None


def _computed(name: str, arguments: Any, answer: Callable[[Any], Any], is_entered: bool) -> Any:
    """The answer of the engine, or the refusal with the reason why it gives no answer."""
    try:
        return attempt(arguments, answer, is_entered)
    except Refusal as refusal:
        reason = str(refusal)
    return _native._refuse(_data_of(arguments), _CALLERS.get(name, name), reason)


def attempt(arguments: Any, answer: Callable[[Any], Any], is_entered: bool = False) -> Any:
    """The answer of the engine to a call with data on a device.

    Raises
    ------
    Refusal
        If the engine does not answer the call.
    """

    def answered(cudf: Any) -> Any:
        made = partial(_in_context, cudf, arguments, answer)
        return made() if is_entered else _native._computing(arguments, made)

    return attempted(answered)


def _in_context(cudf: Any, arguments: Any, answer: Callable[[Any], Any]) -> Any:
    """The answer in the one context in which all data among the arguments lies."""
    context = _native._here()
    if context is not None:
        rmm_resource.share_memory(context)
        return answer(cudf)
    if not any(isinstance(it, _DATA) for it in arguments):
        raise UnsupportedLocation("libcudf computes with arrays and tables only")
    raise UnsupportedLocation(
        "its arguments lie on several devices, or in several contexts; copy them to one of them "
        "first"
    )


def _data_of(arguments: Any) -> Any:
    """The first argument with data on a device."""
    found: list[Any] = []
    _native._map_device_data(arguments, lambda data, _: found.append(data))
    return found[0] if found else None
