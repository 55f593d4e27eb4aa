#!/usr/bin/env bash
# pyarrow's ascii_lower, ascii_upper and ascii_swapcase of strings whose first offset is not 0 read from the first byte.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import pyarrow as pa
import pyarrow.compute as pc

print(f"pyarrow {pa.__version__}")
print("expected: the two functions differ only beyond ASCII")
streets = pa.array(["Elm", "Oak", "Ash", "Fir", "Yew"], pa.large_string())
middle = streets.slice(1, 3).cast(pa.string())
middle.validate(full=True)
again = pa.array(middle.to_pylist())
print("strings:", middle.to_pylist(), "equal to others:", middle.equals(again))
firsts = {}
for name in ("ascii_lower", "ascii_upper", "ascii_swapcase", "utf8_lower"):
    one, other = (pc.call_function(name, [strings])[0].as_py() for strings in (middle, again))
    print(f"{name}: the first element is {one}, that of equal strings {other}")
    firsts[name] = one, other
wrong = {name for name, (one, other) in firsts.items() if one != other}
sys.exit(not (middle.equals(again) and firsts["ascii_lower"] == ("ash", "oak")
              and wrong == {"ascii_lower", "ascii_upper", "ascii_swapcase"}))
PROGRAM
