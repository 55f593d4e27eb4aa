#!/usr/bin/env bash
# A NumPy time unit may be a multiple, such as 10 seconds. pyarrow takes each for one second: 2024 becomes 1975.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import numpy as np
import pyarrow as pa

print(f"pyarrow {pa.__version__}, numpy {np.__version__}")
print("expected: the same times, or an error as for units that pyarrow lacks")
right = 0
for unit, plain in (("10s", "s"), ("5D", "D"), ("100ns", "ns")):
    times = np.array(["2024-01-01", "2024-01-11"], f"datetime64[{unit}]")
    found = np.asarray(pa.array(times))
    print(f"datetime64[{unit}]: {times.astype(f'datetime64[{plain}]')} became {found}")
    right += (found == times.astype(f"datetime64[{plain}]")).any()
periods = np.array([6, 360], "timedelta64[10s]")
lengths = pa.array(periods)
print(f"timedelta64[10s]: {periods.astype('timedelta64[s]')} became {np.asarray(lengths)}")
named = pa.array(np.array(["2024-01-01"], "datetime64[10s]"), pa.timestamp("ms"))
print("with a type:", named[0])
try:
    pa.array(np.array(["2024-01-01"], "datetime64[h]"))
    is_refused = False
except pa.ArrowNotImplementedError as error:
    print("datetime64[h]:", error)
    is_refused = True
is_short = lengths.cast(pa.int64()).to_pylist() == [6, 360]
sys.exit(not (right == 0 and is_short and named[0].as_py().year == 1975 and is_refused))
PROGRAM
