#!/usr/bin/env bash
# Polars and DataFusion take NaN for the largest number. They hand a filter of a pyarrow dataset to pyarrow, which does not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check polars==2.1.0 datafusion==55.0.0 pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from importlib.metadata import version
from math import nan

import datafusion
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

print(f"polars {version('polars')}, datafusion {version('datafusion')}, pyarrow {pa.__version__}")
print("expected: a filter leaves the same rows of a dataset and of the same rows in memory")
table = pa.table({"reading": [0.5, 2.0, nan, None, 1.0], "row": range(5)})
dataset = ds.dataset(table)
wanted = pl.col("reading") > 1
of_polars = [
    frame.filter(wanted).collect()["row"].to_list()
    for frame in (pl.from_arrow(table).lazy(), pl.scan_pyarrow_dataset(dataset))
]
context = datafusion.SessionContext()
context.register_record_batches("memory", [table.to_batches()])
context.register_dataset("dataset", dataset)
of_datafusion = []
for source in ("memory", "dataset"):
    batches = context.sql(f"SELECT row FROM {source} WHERE reading > 1 ORDER BY row").collect()
    of_datafusion.append([row for batch in batches for row in batch.column(0).to_pylist()])
for name, (memory, scanned) in {"polars": of_polars, "datafusion": of_datafusion}.items():
    print(f"{name}: reading > 1 of rows in memory: {memory}, of a dataset: {scanned}")
sys.exit(not of_polars == of_datafusion == [[1, 2], [1]])
PROGRAM
