"""`show_config`."""

from __future__ import annotations

from typing import Literal, overload

from .._start.extension import PACKAGE


@overload
def show_config(mode: Literal["stdout"] = "stdout") -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> dict[str, object]: ...
def show_config(mode: str = "stdout") -> dict[str, object] | None:
    """Show the driver, the devices, the installed versions and the settings, for bug reports.

    ``python -m pyarrow_cuda_compat info`` shows the same, and the free memory of each device,
    for which it makes a context on it; this function makes none.

    Parameters
    ----------
    mode : {'stdout', 'dicts'}, default 'stdout'
        Whether to print the text, or to return the facts, as `numpy.show_config` does.

    Returns
    -------
    dict or None
        The facts as plain values, which JSON can hold, if `mode` is ``'dicts'``.  A part that is
        missing has an ``error`` in its place.

    Raises
    ------
    ValueError
        If `mode` is neither.

    Examples
    --------
    >>> facts = show_config(mode="dicts")
    >>> facts["version"]
    '0.1.0'
    """
    if mode not in ("stdout", "dicts"):
        raise ValueError(f"mode must be 'stdout' or 'dicts', not {mode!r}")
    from . import info  # what it imports takes milliseconds

    facts = info.collect(free_memory=False)
    if mode == "dicts":
        return facts
    print(info.render(facts))
    return None


show_config.__module__ = PACKAGE
