"""Measures a row in a process of its own, where nothing was copied before."""

import gc
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from .machine import Driver
from .measure import Budget, measured
from .peers import PEERS
from .rows import Row
from .space import Space
from .works import Works
from .works.together import SPAWN


def first_of_all(row: Row, name: str, size: int, budget: Budget) -> dict[str, Any]:
    """In that process: the cell of a peer."""
    driver = Driver()
    peer = PEERS[name]()
    driver.enter()
    gc.disable()
    prepare = getattr(Works(peer, Space(driver, size), budget), row.work)
    return measured(prepare(size, **row.options), budget)


def in_fresh_process(row: Row, name: str, size: int, budget: Budget) -> dict[str, Any]:
    with ProcessPoolExecutor(1, SPAWN) as pool:
        return pool.submit(first_of_all, row, name, size, budget).result()
