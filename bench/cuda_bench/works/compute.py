"""pyarrow's functions over data on the device, and whole programs."""

import math
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

from ..measure import Case, WrongResult
from ..peers import NotOffered
from ..peers.calls import CALLS
from ..programs import line_items
from .base import Setup

# Results of this many rows are compared with those on the host, which takes seconds for large ones.
CHECKED = 1000
# This many calls are enough for work that takes seconds on the host.
MOST = 5
WORDS = 100_000


@cache
def columns(rows: int) -> pa.Table:
    """Doubles with nulls, keys of 1,000 groups, indices, and strings."""
    random = np.random.default_rng(0)
    words = pa.array([f"Word Number {number}" for number in range(WORDS)])
    return pa.table(
        {
            "number": pa.array(random.random(rows), mask=random.random(rows) < 0.1),
            "key": random.integers(0, 1000, rows),
            "index": random.integers(0, rows, rows),
            "word": words.take(pa.array(random.integers(0, WORDS, rows))),
            "row": random.permutation(rows),
        }
    )


items = cache(line_items)


class Compute(Setup):
    def compute(self, size: int, *, call: str) -> Case:
        """A function with a column or two, which lie where the peer computes."""
        return self.computed(call, columns, size, copies=False)

    def program(self, size: int, *, call: str, copies: bool = False) -> Case:
        """One of the programs; with the copy of its table to the device, if there is one."""
        return self.computed(call, items, size, copies=copies)

    def computed(self, call: str, make: Any, rows: int, *, copies: bool) -> Case:
        if find_spec("pylibcudf") is None:
            raise NotOffered("pylibcudf is not installed")
        run, there, back = self.peer.compute(call), self.peer.table_up, self.peer.result_down

        def check() -> None:
            small = make(CHECKED)
            expect_same(back(run(there(small))), CALLS[call](small))

        data = make(rows)
        names = {"run": run, "wait": self.peer.wait, "up": there}
        statement, data = ("run(up(data))", data) if copies else ("run(data)", there(data))
        most = MOST if rows > CHECKED else Case.most
        return Case(f"{statement}; wait()", names | {"data": data}, check, most=most)


def expect_same(found: Any, wanted: Any) -> None:
    """Raises WrongResult unless results are equal but for the last digits."""
    for one, other in zip(values(found), values(wanted), strict=True):
        is_close = isinstance(one, float) and math.isclose(one, other, rel_tol=1e-9)
        if one != other and not is_close:
            raise WrongResult(f"{one!r} was computed, not {other!r}")


def values(result: Any) -> list[Any]:
    """Those of a table in the order of its rows, so that groups and joins compare."""
    if isinstance(result, pa.Table):
        order = [(name, "ascending") for name in result.column_names]
        return [value for row in result.sort_by(order).to_pylist() for value in row.values()]
    return result.to_pylist() if hasattr(result, "to_pylist") else [result.as_py()]
