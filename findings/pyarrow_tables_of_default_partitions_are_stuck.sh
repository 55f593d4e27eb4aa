#!/usr/bin/env bash
# pyarrow reads a folder with Hive's default partition into a table that it can neither join, take from nor write.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq

print(f"pyarrow {pa.__version__}")
print("expected: the rows of a partition without a value have null there, and the table works")
for value in ("oslo", "__HIVE_DEFAULT_PARTITION__"):
    os.makedirs(f"sales/city={value}")
    pq.write_table(pa.table({"sum": [1, 2]}), f"sales/city={value}/part.parquet")
table = pq.read_table("sales")
print(table.schema.field("city").type, table["city"].to_pylist(), "nulls:", table["city"].null_count)
calls = {
    "combine_chunks": table.combine_chunks,
    "take": lambda: table.take([0, 3]),
    "unify_dictionaries": table.unify_dictionaries,
    "group_by": lambda: table.group_by("city").aggregate([("sum", "sum")]),
    "write_table": lambda: pq.write_table(table, "copy.parquet"),
}
raised = 0
for name, call in calls.items():
    try:
        call()
        print(f"{name}: works")
    except pa.ArrowException as error:
        raised += 1
        print(f"{name}: {type(error).__name__}: {error}")
sys.exit(raised != len(calls) or table["city"].null_count != 0)
PROGRAM
