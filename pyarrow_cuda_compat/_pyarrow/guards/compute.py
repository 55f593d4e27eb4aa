"""Functions that an engine answers on the device, if there is one.

Each function here takes the guarded function and its arguments.
"""

from collections.abc import Callable, Iterable
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from ... import _native
from ..._compute import engine
from ..._compute.known import known

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
    """`Function.call` with data on a device."""
    return _answered(
        f"pyarrow.compute.{function.name}",
        args,
        lambda rows: rows.run(original, function, args, options),
    )


def query(original: _Original, *arguments: Any, **keywords: Any) -> Any:
    """A function of `pyarrow.acero`, which may have data on a device."""
    found: list[Any] = []
    _native._map_device_data((arguments, keywords), lambda data, _: found.append(data))
    if not found:
        return original(*arguments, **keywords)
    name = original.__name__
    return _answered(
        f"pyarrow.acero.{name}",
        found,
        lambda rows: rows.QUERIES[name](original, *arguments, **keywords),
    )


def method(original: _Original, data: Any, *arguments: Any, **keywords: Any) -> Any:
    """A method that begins by the check of its object, and hands it to guarded functions."""
    before = _native._trust(id(data))
    try:
        return original(data, *arguments, **keywords)
    finally:
        _native._trust(before)


def check(_original: _Original, data: Any) -> None:
    """pyarrow's check that a chunked array lies on the host, of one on a device."""
    if not _native._take_trust(data):
        _native._refuse(data, "pyarrow.lib.ChunkedArray._assert_cpu")


def _answered(name: str, arguments: Any, answer: Callable[[Any], Any]) -> Any:
    """The answer of the engine, which is recorded if the program has asked for records."""
    traced = engine.traced
    if not traced:
        return _computed(name, arguments, answer)
    from time import perf_counter

    from ..._runtime import tracing

    rows = max((len(it) for it in arguments if isinstance(it, _DATA)), default=0)
    error = None
    tracing.begin_call(traced, "compute", name)
    start = perf_counter()
    try:
        return _computed(name, arguments, answer)
    except BaseException as raised:
        error = raised
        raise
    finally:
        seconds = perf_counter() - start
        tracing.end_call(traced, "compute", name, None, None, seconds, error, rows)


def _computed(name: str, arguments: Any, answer: Callable[[Any], Any]) -> Any:
    """The answer of the engine, or the refusal with the reason why it gives no answer."""
    rows = engine.rows()
    before = _native._trust(0)
    try:
        if not isinstance(rows, str):
            try:
                context = _context_of(arguments)
                engine.share_memory(context)
                return rows.in_context(context, lambda: answer(rows))
            except engine.Elsewhere as reason:
                rows = str(reason)
            except rows.NotCovered as reason:
                rows = f"libcudf does not answer this call: {reason}"
            except MemoryError as error:
                raise _native.OutOfMemoryError(str(error)) from error
            except (RuntimeError, ValueError) as error:
                if "CUDF failure" not in str(error):
                    raise
                rows = f"libcudf refuses this call: {error}"  # by a check of its own
        return _native._refuse(_data_of(arguments), name, rows)
    finally:
        _native._trust(before)


def _context_of(arguments: Any) -> Any:
    """The context of the one device on which all data among the arguments lies."""
    contexts = {context: None for each in arguments for context in _contexts_of(each)}
    if len(contexts) != 1:
        raise engine.Elsewhere(
            "its arguments lie on several devices; copy them to one of them first"
            if contexts
            else "libcudf computes with arrays and tables only"
        )
    return next(iter(contexts))


def _contexts_of(data: Any) -> Iterable[Any]:
    """The contexts of arrays, of columns or of chunks; none for buffers and messages."""
    found = known(data)
    if found is not None:
        return (found.context,)
    if isinstance(data, pa.Array):
        there = (it for it in data.buffers() if it is not None and not it.is_cpu)
        return (_native.CudaBuffer.from_buffer(it).context for it in islice(there, 1))
    parts = data.columns if isinstance(data, pa.RecordBatch | pa.Table) else ()
    parts = data.chunks if isinstance(data, pa.ChunkedArray) else parts
    return chain.from_iterable(map(_contexts_of, parts))


def _data_of(arguments: Any) -> Any:
    """The first argument with data on a device."""
    found: list[Any] = []
    _native._map_device_data(arguments, lambda data, _: found.append(data))
    return found[0] if found else None
