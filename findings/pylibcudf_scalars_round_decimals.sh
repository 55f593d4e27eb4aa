#!/usr/bin/env bash
# pylibcudf's Scalar.to_py rounds a decimal of more than 28 digits to those of the thread's decimal context.
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "there is no GPU here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pylibcudf-cu13==26.10.2 pyarrow==25.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from decimal import Decimal
from importlib.metadata import version

import pyarrow as pa
import pylibcudf as plc

print(*(f"{name} {version(name)}" for name in ("pylibcudf-cu13", "pyarrow")))
total = Decimal("123456789012345678901234567890123456.78")
scalar = plc.Scalar.from_arrow(pa.scalar(total, pa.decimal128(38, 2)))
print("expected:", total)
print("to_py:   ", scalar.to_py())
print("to_arrow:", scalar.to_arrow().as_py())
sys.exit(scalar.to_py() == total or scalar.to_arrow().as_py() != total)
PROGRAM
