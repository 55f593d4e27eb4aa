"""Functions of the user's that pyarrow calls: what they return is copied to the host."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from .host_copies import bring


def with_host_results(function: Any) -> Any:
    """The same function; what it is called with and can be called, copies its results."""

    @wraps(function)
    def wrapped(*arguments: Any, **keywords: Any) -> Any:
        taken = [_returning(each) if callable(each) else each for each in arguments]
        named = {
            key: _returning(each) if callable(each) else each for key, each in keywords.items()
        }
        return function(*taken, **named)

    return wrapped


def _returning(function: Callable[..., Any]) -> Callable[..., Any]:
    from inspect import signature

    try:
        # pyarrow takes the number of arguments from it.
        arguments_of = signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return function  # pyarrow refuses it

    @wraps(function)
    def returning(*arguments: Any, **keywords: Any) -> Any:
        result = function(*arguments, **keywords)
        # Of a tabular function: what gives one batch after the other.
        return _returning(result) if callable(result) else bring(result, "")

    vars(returning)["__signature__"] = arguments_of
    return returning
