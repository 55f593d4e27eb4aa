#!/usr/bin/env bash
# A masked element that cannot be overwritten can be, after a pickle.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
cd "$folder" && bin/python - <<'PROGRAM'
import pickle
import sys

import numpy as np

print("numpy", np.__version__)
array = np.ma.masked_array([1, 2, 3], [False, True, False], hard_mask=True)
copies = {
    "copied": array.copy(),
    "pickled": pickle.loads(pickle.dumps(array)),
}
print("expected: after a write of 99, [1, None, 3] for each")
found = {}
for name, each in copies.items():
    each[1] = 99
    found[name] = each.tolist()
    print(f"{name}: hard mask {each.hardmask}, after the write {found[name]}")
sys.exit((found["copied"], found["pickled"]) != ([1, None, 3], [1, 99, 3]))
PROGRAM
