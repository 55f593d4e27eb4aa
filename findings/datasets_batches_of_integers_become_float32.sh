#!/usr/bin/env bash
# datasets gives a row's integer exactly and, in a batch with one null, as a float32 that is another number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check datasets==5.2.0 pyarrow==26.0.1
cd "$folder" && HF_HOME="$folder" bin/python - <<'PROGRAM'
import sys

import datasets
import pyarrow as pa

print(f"datasets {datasets.__version__}, pyarrow {pa.__version__}")
print("expected: a row has the same number alone and in a batch, or float64 as in pandas")
orders = pa.array([16_777_217, 20_000_001, None])
waits = pa.array([90, 75, 60], pa.duration("s"))
rows = datasets.Dataset(pa.table({"order": orders, "wait": waits})).with_format("numpy")
alone, batch = rows[0], rows[:]
print("order, alone:", repr(alone["order"]), "in a batch:", batch["order"].dtype, batch["order"])
print("order, a batch without the null:", rows[:2]["order"].dtype, rows[:2]["order"])
print("wait, alone:", repr(alone["wait"]), "in a batch:", batch["wait"].dtype, batch["wait"])
found = [int(number) for number in batch["order"][:2]]
sys.exit(not (alone["order"] == 16_777_217 and found == [16_777_216, 20_000_000]
              and str(batch["order"].dtype) == "float32" and rows[:2]["order"].dtype == "int64"
              and str(batch["wait"].dtype) == "int64"))
PROGRAM
