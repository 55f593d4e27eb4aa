#!/usr/bin/env bash
# pyarrow cuts the bytes and texts of NumPy arrays at their first zero, so digests lose their rest.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from hashlib import sha256

import numpy as np
import pyarrow as pa

print(f"pyarrow {pa.__version__}, numpy {np.__version__}")
print("expected: the items of the array, as NumPy has them; it leaves out zeros at the end only")
digests = [sha256(str(number).encode()).digest() for number in range(1000)]
array = np.array(digests, "S32")
found = pa.array(array).to_pylist()
cut = [one for one, other in zip(found, array.tolist(), strict=True) if one != other]
print(f"of {len(array)} digests, {len(cut)} were cut, one of them to {min(map(len, cut))} bytes")
listed = pa.array(array.tolist()).to_pylist()
print("the same items as a list:", "right" if listed == array.tolist() else "cut")
texts = np.array(["a\0b"], "U3")
print(f"texts: {texts.tolist()} became {pa.array(texts).to_pylist()}")
is_cut = len(cut) > 50 and all(len(one) < 32 and b"\0" not in one for one in cut)
sys.exit(not (is_cut and listed == array.tolist() and pa.array(texts).to_pylist() == ["a"]))
PROGRAM
