#!/usr/bin/env bash
# A list of half-precision numbers and Python integers becomes an array of integers: 1.5 becomes 1.
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
print("expected: floating-point numbers, as with float32 and float64")
found = {}
for kind in (np.float16, np.float32, np.float64):
    array = pa.array([kind(1.5), kind(0.25), 0])
    found[kind.__name__] = array.type, array.to_pylist()
    print(f"[{kind.__name__}(1.5), {kind.__name__}(0.25), 0] became {array.type}", array.to_pylist())
table = pa.Table.from_pylist([{"step": 0, "loss": 1}, {"step": 1, "loss": np.float16(0.75)}])
print("losses of 1 and float16(0.75):", table["loss"].to_pylist())
is_right = all(found[name][1] == [1.5, 0.25, 0.0] for name in ("float32", "float64"))
is_cut = found["float16"] == (pa.int64(), [1, 0, 0]) and table["loss"].to_pylist() == [1, 0]
sys.exit(not (is_cut and is_right))
PROGRAM
