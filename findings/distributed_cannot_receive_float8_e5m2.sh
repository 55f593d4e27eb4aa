#!/usr/bin/env bash
# Of the small floating-point types of ml_dtypes, Dask sends one that no worker can receive.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check dask==2026.8.0 distributed==2026.8.0 numpy==2.4.6 ml_dtypes==0.6.0
cd "$folder" && bin/python - <<'PROGRAM'
import logging
import sys

import distributed
import ml_dtypes
import numpy as np
from distributed.protocol import deserialize, serialize

logging.disable()  # distributed logs the failure, too
print("distributed", distributed.__version__, "ml_dtypes", ml_dtypes.__version__)
print("expected: each type arrives as itself")
failures = []
for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
    array = np.array([1, 2]).astype(getattr(ml_dtypes, name))
    header, frames = serialize(array)
    try:
        print(name, array.dtype.kind, array.dtype.str, deserialize(header, frames).tolist())
    except TypeError as error:
        print(name, array.dtype.kind, array.dtype.str, repr(error))
        failures.append(name)
sys.exit(failures != ["float8_e5m2"])
PROGRAM
