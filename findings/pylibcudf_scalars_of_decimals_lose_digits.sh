#!/usr/bin/env bash
# The Python value of a decimal scalar has 28 digits at most, and the others are rounded away.
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "there is no GPU here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pylibcudf-cu13==26.10.2 pyarrow==25.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from importlib.metadata import version

from decimal import Decimal

import pyarrow as pa
import pylibcudf as plc

print(f"pylibcudf {version('pylibcudf-cu13')}, pyarrow {pa.__version__}")
print("expected: the number itself, as to_arrow gives it")
number = Decimal("1234567890123456789012345678901234.5678")
scalar = plc.Scalar.from_arrow(pa.scalar(number, pa.decimal128(38, 4)))
found = scalar.to_py()
print("to_arrow:", scalar.to_arrow().as_py())
print("to_py:   ", found)
sys.exit(not (scalar.to_arrow().as_py() == number and found != number and abs(found - number) < 10**8))
PROGRAM
