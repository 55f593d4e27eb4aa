"""Packages that are optional: programs install those that they use."""

from importlib import import_module
from typing import Any


def required(module: str, message: str) -> Any:
    """A module of an optional package, or the error with that message if the package is missing."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        # Modules that the package itself lacks have an error of their own.
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise ImportError(message, name=module.partition(".")[0]) from error
