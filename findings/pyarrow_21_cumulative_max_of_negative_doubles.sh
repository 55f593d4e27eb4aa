#!/usr/bin/env bash
# In pyarrow 21, the running maximum of negative floating-point numbers is the smallest positive one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==21.0.0
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import pyarrow as pa
import pyarrow.compute as pc

print(f"pyarrow {pa.__version__}")
frost = [-3.5, -1.25, -2.0]
found = pc.cumulative_max(pa.array(frost)).to_pylist()
print("temperatures:", frost, "their maximum:", pc.max(pa.array(frost)).as_py())
print("expected: [-3.5, -1.25, -1.25]")
print("cumulative_max:", found)
sys.exit(found != [sys.float_info.min] * 3)
PROGRAM
