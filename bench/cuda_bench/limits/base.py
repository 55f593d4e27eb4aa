"""What a limit is, and what it is measured with."""

from __future__ import annotations

from dataclasses import dataclass

from ..driver import Driver
from ..measure import Budget
from ..space import Space
from ..stats import Summary


@dataclass(frozen=True)
class Bench:
    driver: Driver
    space: Space
    budget: Budget
    cores: int
    is_quick: bool

    def device(self, size: int) -> DeviceMemory:
        return DeviceMemory(self.driver, size)


@dataclass(frozen=True)
class Limit:
    """The best that was found, and how it was reached."""

    times: Summary
    how: str


class DeviceMemory:
    """An allocation for the length of a `with`."""

    def __init__(self, driver: Driver, size: int) -> None:
        self._driver, self._size = driver, size

    def __enter__(self) -> int:
        self._address = self._driver.allocate(self._size)
        return self._address

    def __exit__(self, *_: object) -> None:
        self._driver.free(self._address)
