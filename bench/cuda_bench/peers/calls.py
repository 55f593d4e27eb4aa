"""Functions and programs in pyarrow's names, of tables on the host or on a device.

`works/compute.py` makes their tables.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .. import programs

Compute = Callable[[pa.Table], Any]

CALLS: dict[str, Compute] = {
    "add": lambda table: pc.add(table["number"], table["number"]),
    "sum": lambda table: pc.sum(table["number"]),
    "greater and filter": lambda table: pc.filter(
        table["number"], pc.greater(table["number"], 0.5)
    ),
    "sort_indices": lambda table: pc.sort_indices(table["number"]),
    "take": lambda table: pc.take(table["number"], table["index"]),
    "cast": lambda table: pc.cast(table["key"], pa.float64()),
    "utf8_upper": lambda table: pc.utf8_upper(table["word"]),
    "match_substring": lambda table: pc.match_substring(table["word"], "77"),
    "group_by": lambda table: (
        table.select(["key", "number"])
        .group_by("key")
        .aggregate([("number", "sum"), ("number", "mean")])
    ),
    "join": lambda table: table.select(["row"]).join(
        table.select(["key"]), "row", "key", join_type="left semi"
    ),
    "query 1": programs.pricing_summary,
    "query 6": programs.revenue_change,
}
