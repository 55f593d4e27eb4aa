#!/usr/bin/env bash
# pyarrow's drop_null keeps values that is_null calls null and count does not count: those that a dictionary holds.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import pyarrow as pa
import pyarrow.compute as pc

print(f"pyarrow {pa.__version__}")
print("expected: drop_null leaves as many elements as count counts")
sizes = pa.array(["S", None, "L"])
worn = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1, None], pa.int8()), sizes)
worn.validate(full=True)
left = worn.drop_null()
print("elements:", worn.to_pylist())
print("is_null:", pc.is_null(worn).to_pylist(), "null_count:", worn.null_count)
print("count:", pc.count(worn).as_py(), "drop_null:", left.to_pylist())
print("filtered by is_valid:", worn.filter(pc.is_valid(worn)).to_pylist())
sys.exit(not (len(left) == 4 and pc.count(worn).as_py() == 2 and worn.null_count == 1))
PROGRAM
