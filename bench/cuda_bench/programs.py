"""Two programs, written once in pyarrow's names: TPC-H's queries 1 and 6 over generated data."""

from __future__ import annotations

from datetime import date

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


def revenue_change(items: pa.Table) -> pa.Scalar:
    """Query 6."""
    field = pc.field
    chosen = items.filter(
        (field("shipped") >= pa.scalar(date(1994, 1, 1)))
        & (field("shipped") < pa.scalar(date(1995, 1, 1)))
        & (field("discount") >= 0.05)
        & (field("discount") <= 0.07)
        & (field("quantity") < 24)
    )
    return pc.sum(pc.multiply(chosen["price"], chosen["discount"]))
