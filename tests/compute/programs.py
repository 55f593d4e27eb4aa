"""Two whole programs, written once in pyarrow's names: TPC-H's queries 1 and 6 over generated data.

    python -m compute.programs [ROWS]

Runs each on the host, on the device, and on the device with the copies, and prints the times.
"""

from __future__ import annotations

import statistics
import sys
import time
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_DAY = np.datetime64("1992-01-02", "D")


def line_items(rows: int) -> pa.Table:
    """The columns that the queries read, with the values' ranges of the benchmark."""
    r = np.random.default_rng(0)
    flags, status = np.array(["A", "N", "R"]), np.array(["F", "O"])
    return pa.table(
        {
            "quantity": r.integers(1, 51, rows).astype(np.float64),
            "price": r.integers(90_000, 10_500_000, rows) / 100,
            "discount": r.integers(0, 11, rows) / 100,
            "tax": r.integers(0, 9, rows) / 100,
            "flag": pa.array(flags[r.integers(0, 3, rows)]),
            "status": pa.array(status[r.integers(0, 2, rows)]),
            "shipped": pa.array(_DAY + r.integers(0, 2526, rows).astype("timedelta64[D]")),
        }
    )


def pricing_summary(items: pa.Table) -> pa.Table:
    """Query 1."""
    items = items.filter(pc.less_equal(items["shipped"], pa.scalar(date(1998, 9, 2))))
    discounted = pc.multiply(items["price"], pc.subtract(1.0, items["discount"]))
    charged = pc.multiply(discounted, pc.add(items["tax"], 1.0))
    items = items.append_column("discounted", discounted).append_column("charged", charged)
    groups = items.group_by(["flag", "status"]).aggregate(
        [
            ("quantity", "sum"),
            ("price", "sum"),
            ("discounted", "sum"),
            ("charged", "sum"),
            ("quantity", "mean"),
            ("price", "mean"),
            ("discount", "mean"),
            ([], "count_all"),
        ]
    )
    return groups.sort_by([("flag", "ascending"), ("status", "ascending")])


def revenue_change(items: pa.Table) -> float:
    """Query 6."""
    field = pc.field
    chosen = items.filter(
        (field("shipped") >= pa.scalar(date(1994, 1, 1)))
        & (field("shipped") < pa.scalar(date(1995, 1, 1)))
        & (field("discount") >= 0.05)
        & (field("discount") <= 0.07)
        & (field("quantity") < 24)
    )
    return pc.sum(pc.multiply(chosen["price"], chosen["discount"])).as_py()


def milliseconds(call: Any, times: int = 5) -> float:
    """The median, after one call that is not measured."""
    call()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return statistics.median(found) * 1e3


def rounded(result: Any) -> Any:
    if isinstance(result, pa.Table):
        rows = result.copy_to(pa.default_cpu_memory_manager()).to_pylist()
        return [
            {k: v if isinstance(v, str) else float(f"{v:.9g}") for k, v in row.items()}
            for row in rows
        ]
    return float(f"{result:.9g}")


def main(rows: int) -> None:
    from pyarrow import cuda

    context = cuda.Context(0)
    items = line_items(rows)
    there = items.copy_to(context)
    for query in (pricing_summary, revenue_change):
        assert rounded(query(items)) == rounded(query(there)), query
        host = milliseconds(partial(query, items))
        device = milliseconds(partial(query, there))
        copied = milliseconds(partial(_with_copies, query, items, context))
        print(
            f"{query.__name__}: host {host:.1f} ms, device {device:.2f} ms ({host / device:.0f} "
            f"times), with copies {copied:.2f} ms ({host / copied:.1f} times)"
        )


def _with_copies(query: Any, items: pa.Table, context: Any) -> Any:
    return query(items.copy_to(context))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
