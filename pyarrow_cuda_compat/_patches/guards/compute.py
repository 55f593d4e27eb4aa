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

_DATA = pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table
_Original = Callable[..., Any]


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
        f"pyarrow.acero.{name}",
        found,
        lambda cudf: cudf.QUERIES[name](original, *arguments, **keywords),
    )


def _answered(
    name: str, arguments: Any, answer: Callable[[Any], Any], is_entered: bool = False
) -> Any:
    """The answer of the engine, which is recorded if the program has asked for records."""
    if not _tracing.traced:
        return _computed(name, arguments, answer, is_entered)
    rows = max((len(it) for it in arguments if isinstance(it, _DATA)), default=0)
    made = partial(_computed, name, arguments, answer, is_entered)
    return _native._recorded("compute", name, made, rows=rows)


def _computed(name: str, arguments: Any, answer: Callable[[Any], Any], is_entered: bool) -> Any:
    """The answer of the engine, or the refusal with the reason why it gives no answer."""
    try:
        return attempt(arguments, answer, is_entered)
    except Refusal as refusal:
        reason = str(refusal)
    return _native._refuse(_data_of(arguments), name, reason)


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
