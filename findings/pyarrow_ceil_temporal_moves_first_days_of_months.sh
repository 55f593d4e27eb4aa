#!/usr/bin/env bash
# ceil_temporal leaves a time that begins a day or a week, and moves one that begins a month, quarter or year.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

print(f"pyarrow {pa.__version__}")
print("expected: each unit begins at 2024-01-01, a Monday, so that ceil_temporal changes nothing")
begin = datetime(2024, 1, 1)
units = ("hour", "day", "week", "month", "quarter", "year")
found = {unit: pc.ceil_temporal(pa.array([begin]), unit=unit)[0].as_py() for unit in units}
for unit, time in found.items():
    print(f"{unit}: {time}")
moved = [unit for unit in units if found[unit] != begin]
sys.exit(moved != ["month", "quarter", "year"])
PROGRAM
