#!/usr/bin/env bash
# pyarrow's join_asof takes times before 1970, and negative numbers, for later ones than all others: it refuses sorted
# tables that begin before 1970, and loses matches if the right one does.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import pyarrow as pa

print(f"pyarrow {pa.__version__}")
print("expected: each time finds the last one of the right table that is not after it")


def joined(left, right):
    """The time that each one of the left table has found, at most five seconds earlier."""
    tables = [pa.table({"at": pa.array(it, pa.timestamp("s")), "of": ["x"] * len(it)}) for it in (left, right)]
    right = tables[1].append_column("found", pa.array(right))
    try:
        return tables[0].join_asof(right, on="at", by="of", tolerance=-5)["found"].to_pylist()
    except pa.ArrowInvalid as error:
        return str(error)


after = joined([11, 12], [9, 11])
around = joined([1, 2], [-1, 1])
across = joined([-1, 2], [-2, 1])
print("[11, 12] in [9, 11]:", after)
print("[1, 2] in [-1, 1]:  ", around)
print("[-1, 2] in [-2, 1]: ", across)
sys.exit(not (after == [11, 11] and around == [None, None] and "out-of-order" in across))
PROGRAM
