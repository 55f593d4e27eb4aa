#!/usr/bin/env bash
# pyarrow calls an empty slice of a string view or binary view array damaged once it has passed through the C interface.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import pyarrow as pa

print("pyarrow", pa.__version__)
print("expected: an empty slice is valid, wherever it begins and whoever has passed it on")
seen = {}
for kind in (pa.string(), pa.list_(pa.int64()), pa.list_view(pa.int64()), pa.string_view(), pa.binary_view()):
    values = [[1], [2]] if pa.types.is_nested(kind) else ["a", "b"]
    empty = pa.array(values, kind).slice(1, 0)
    empty.validate(full=True)
    passed = pa.Array._import_from_c_capsule(*empty.__arrow_c_array__())
    try:
        passed.validate(full=True)
        seen[str(kind)] = "valid"
    except pa.ArrowInvalid as error:
        seen[str(kind)] = str(error)
    print(f"{kind}, offset {passed.offset}, {len(passed)} rows: {seen[str(kind)]}")
damaged = "View buffer size (bytes): 0 isn't large enough for length: 0 and offset: 1"
sys.exit(seen["string_view"] != damaged or seen["binary_view"] != damaged or seen["string"] != "valid")
PROGRAM
