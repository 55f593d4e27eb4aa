#!/usr/bin/env bash
# fastparquet reads dates that 64 bits of nanoseconds cannot hold as other dates: 9999-12-31 becomes a day of 1816.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check fastparquet==2026.9.0 pandas==3.1.1 pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import datetime
import sys

import fastparquet
import pyarrow as pa
import pyarrow.parquet as pq

print(f"fastparquet {fastparquet.__version__}, pyarrow {pa.__version__}")
print("expected: the same days as dates and as times, or an error")
days = [datetime.date(2026, 12, 31), datetime.date(9999, 12, 31), datetime.date(1600, 1, 1)]
dates = pa.array(days)
pq.write_table(pa.table({"date": dates, "time": dates.cast(pa.timestamp("us"))}), "until.parquet")
frame = fastparquet.ParquetFile("until.parquet").to_pandas()
print(frame)
years = {name: [int(text[:4]) for text in frame[name].astype(str)] for name in frame}
print("years:", years)
sys.exit(not years == {"date": [2026, 1816, 2184], "time": [2026, 9999, 1600]})
PROGRAM
