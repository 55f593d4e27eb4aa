#!/usr/bin/env bash
# A Parquet time of 96 bits beyond 2262, as Spark writes them, becomes one wrong time in pyarrow and another in libcudf.
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "there is no GPU here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pylibcudf-cu13==26.10.2 pyarrow==25.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from datetime import datetime
from importlib.metadata import version

import pyarrow as pa
import pyarrow.parquet as pq
import pylibcudf as plc

print(*(f"{name} {version(name)}" for name in ("pylibcudf-cu13", "pyarrow")))
print("expected: an error, or the same time from both readers")
times = [datetime(2024, 5, 6), datetime(2400, 1, 1), datetime(9999, 12, 31)]
table = pa.table({"until": pa.array(times, pa.timestamp("us"))})
pq.write_table(table, "x.parquet", use_deprecated_int96_timestamps=True)
options = plc.io.parquet.ParquetReaderOptions.builder(plc.io.SourceInfo(["x.parquet"])).build()
theirs = plc.io.parquet.read_parquet(options).tbl.to_arrow().column(0)
ours = pq.read_table("x.parquet")["until"]
found = [it.cast(pa.int64()).to_pylist() for it in (ours, theirs)]
for time, *numbers in zip(times, *found):
    print(time, "pyarrow:", numbers[0], "libcudf:", numbers[1])
differ = [one != other for one, other in zip(*found)]
print("the same:", [not it for it in differ])
sys.exit(differ[0] or not any(differ))
PROGRAM
