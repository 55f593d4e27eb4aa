#!/usr/bin/env bash
# pyarrow 21's filters compare decimals of two scales as if both had one scale; its functions do not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/program.py" <<'PROGRAM'
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

prices = pa.array([Decimal("1.25"), Decimal("24.00")], pa.decimal128(15, 2))
limits = pa.array([Decimal("1.3"), Decimal("24.1")], pa.decimal128(9, 1))
table = pa.table({"price": prices, "limit": limits})
kept = table.filter(pc.field("price") < pc.field("limit"))
print(pa.__version__, pc.less(prices, limits).to_pylist(), kept.num_rows)
PROGRAM
for version in 21.0.0 22.0.0; do
    python3 -m venv "$folder/$version"
    "$folder/$version/bin/pip" install --quiet --disable-pip-version-check "pyarrow==$version"
    (cd "$folder" && "$version/bin/python" program.py) | tee -a "$folder/seen"
done
echo "expected: both rows, as pc.less says"
diff "$folder/seen" - <<'SEEN'
21.0.0 [True, True] 0
22.0.0 [True, True] 2
SEEN
