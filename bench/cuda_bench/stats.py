"""Statistics of a measurement's values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass


def quantile(ordered: Sequence[float], part: float) -> float:
    """The value below which `part` (0 to 1) of the ordered values lie, between neighbours."""
    if not ordered:
        raise ValueError("there are no values")
    place = part * (len(ordered) - 1)
    below = min(int(place), len(ordered) - 1)
    above = min(below + 1, len(ordered) - 1)
    # Not a weighted sum, which can leave the range of its terms by rounding.
    value = ordered[below] + (ordered[above] - ordered[below]) * (place - below)
    return min(max(value, ordered[below]), ordered[above])


@dataclass(frozen=True)
class Summary:
    """Of times in seconds, for one call each, or of what is counted in their place."""

    median: float
    low: float
    """A tenth of the values is less."""
    high: float
    """A tenth of the values is more."""
    best: float
    count: int
    """How many values there are."""
    loops: int
    """How many calls each of them is the mean of."""
    p99: float
    """A hundredth of the calls takes longer."""

    @classmethod
    def of(cls, values: Iterable[float], loops: int = 1) -> Summary:
        ordered = sorted(values)
        median, low, high, p99 = (quantile(ordered, part) for part in (0.5, 0.1, 0.9, 0.99))
        return cls(median, low, high, ordered[0], len(ordered), loops, p99)

    @property
    def spread(self) -> float:
        """Half the range between `low` and `high`, as a share of the median."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0

    def as_dict(self) -> dict[str, float]:
        return asdict(self)
