"""Why a call with data on a device gets no answer there; the text says it."""

from __future__ import annotations


class Refusal(Exception):
    """A call that no engine answers; it becomes the `NotImplementedError` of data on a device."""


class EngineUnavailable(Refusal):
    """No function runs on devices."""


class UnsupportedLocation(Refusal):
    """The data lies where libcudf cannot compute."""


class NotCovered(Refusal):
    """libcudf would not answer this call as pyarrow does."""

    def __str__(self) -> str:
        return f"libcudf does not answer this call: {super().__str__()}"


class RefusedByLibrary(Refusal):
    """libcudf refuses this call, by a check of its own."""

    def __str__(self) -> str:
        return f"libcudf refuses this call: {super().__str__()}"


#: Of sums of decimals, of which pyarrow's wrap to other numbers.
TOO_MANY_DIGITS = "a sum of more than 38 digits: on the host, cast to decimal256 before"


def need(condition: object, reason: str) -> None:
    """Refuses a call unless the condition holds: its row covers nothing else."""
    if not condition:
        raise NotCovered(reason)
