#!/usr/bin/env bash
# A record batch of int64 and uint64 becomes a tensor of int64, in which the largest numbers are negative.
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
print("expected: an error, or float64 as NumPy makes of both types")
batch = pa.record_batch(
    {"delta": pa.array([-1, 2], pa.int64()), "hash": pa.array([2**64 - 1, 3], pa.uint64())}
)
tensor = batch.to_tensor()
print("the batch:", batch.to_pydict())
print("to_tensor():", tensor.type, tensor.to_numpy().tolist())
print("NumPy's type:", np.result_type(np.int64, np.uint64))
try:
    batch["hash"].cast(pa.int64())
    message = None
except pa.ArrowInvalid as error:
    message = str(error)
print("a cast:", message)
is_wrapped = tensor.to_numpy().tolist() == [[-1, -1], [2, 3]]
sys.exit(not (tensor.type == pa.int64() and is_wrapped and message is not None))
PROGRAM
