#!/usr/bin/env bash
# Masked numbers become values where masked arrays are the elements of a list or a tensor.
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
row = np.ma.masked_array([1, 2, 3], [False, True, False])
alone = pa.array(row).to_pylist()
within = pa.array([row]).to_pylist()
table = np.ma.masked_array([[1, 2], [3, 4]], [[False, True], [False, False]])
tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(table).to_numpy_ndarray().tolist()
print("a masked array:", alone)
print("expected in a list: [[1, None, 3]], received:", within)
print("expected of tensors: [[1, None], [3, 4]] or a refusal, received:", tensors)
sys.exit((alone, within, tensors) != ([1, None, 3], [[1, 2, 3]], [[1, 2], [3, 4]]))
PROGRAM
