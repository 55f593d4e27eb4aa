#!/usr/bin/env bash
# A buffer over an array in Fortran order has other bytes than the array.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import numpy as np
import pyarrow as pa

print("pyarrow", pa.__version__, "numpy", np.__version__)
array = np.asfortranarray(np.arange(6, dtype="u1").reshape(2, 3))
contents = {
    "bytes(memoryview(array))": bytes(memoryview(array)),
    "array.tobytes()": array.tobytes(),
    "py_buffer(array)": pa.py_buffer(array).to_pybytes(),
    "py_buffer(array) by memoryview": bytes(memoryview(pa.py_buffer(array))),
}
for name, each in contents.items():
    print(f"{name}: {list(each)}")
print("expected: the same bytes from each")
sys.exit([list(each) for each in contents.values()] != [[0, 1, 2, 3, 4, 5]] * 2 + [[0, 3, 1, 4, 2, 5]] * 2)
PROGRAM
