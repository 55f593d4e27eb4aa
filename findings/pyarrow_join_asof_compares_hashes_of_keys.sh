#!/usr/bin/env bash
# pyarrow's join_asof takes two keys for one if their hashes are equal: a text, and the same text with NUL at its end.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import pyarrow as pa

print(f"pyarrow {pa.__version__}")
print("expected: each key finds its own value, as join does")
left = pa.table({"at": [1, 1], "key": ["a", "a\0"]})
right = pa.table({"at": [1, 1], "key": ["a", "a\0"], "value": ["of a", "of a and NUL"]})
joined = left.join(right.drop_columns("at"), "key").sort_by("key")["value"].to_pylist()
as_of = left.join_asof(right, on="at", by="key", tolerance=0)["value"].to_pylist()
print("join:     ", joined)
print("join_asof:", as_of)
sys.exit(not (joined == ["of a", "of a and NUL"] and as_of == ["of a and NUL"] * 2))
PROGRAM
