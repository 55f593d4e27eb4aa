#!/usr/bin/env bash
# A memoryview in Fortran order arrives at another Dask worker with its elements permuted.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check dask==2026.8.0 distributed==2026.8.0 numpy==2.4.6
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import distributed
import numpy as np
from distributed.protocol import deserialize, serialize

print("distributed", distributed.__version__, "numpy", np.__version__)
array = np.asfortranarray(np.arange(6).reshape(2, 3))
sent = memoryview(array)
received = deserialize(*serialize(sent))
print("expected:", sent.tolist())
print("received:", received.tolist())
print("the array itself:", deserialize(*serialize(array)).tolist())
is_permuted = sent.tolist() == [[0, 1, 2], [3, 4, 5]] and received.tolist() == [[0, 3, 1], [4, 2, 5]]
sys.exit(not is_permuted)
PROGRAM
