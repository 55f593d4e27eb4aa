"""User-defined functions, which pyarrow calls: their results are copied to the host."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from ... import _native
from .actions import copy_to_host


def with_host_results(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Calls a function with callables in its arguments whose results are copied."""
    arguments, keywords = _native._map_device_data((arguments, keywords), copy_to_host)
    named = {key: _returning_host_data(value) for key, value in keywords.items()}
    return function(*map(_returning_host_data, arguments), **named)


def _returning_host_data(function: Any) -> Any:
    from inspect import signature

    if not callable(function):
        return function
    try:
        # pyarrow takes the number of arguments from it.
        arguments_of = signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return function  # pyarrow refuses it
    call: Callable[..., Any] = function

    @wraps(call)
    def returning(*arguments: Any, **keywords: Any) -> Any:
        result = call(*arguments, **keywords)
        # A tabular function returns a function that returns one batch after the other.
        if callable(result):
            return _returning_host_data(result)
        return _native._map_device_data(result, copy_to_host)

    vars(returning)["__signature__"] = arguments_of
    return returning
