#!/usr/bin/env bash
# Without threads, groups of pyarrow come in nearly the order of their first rows: some come later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import random
import sys

import pyarrow as pa

print("pyarrow", pa.__version__)
others = {"strings": [], "integers": []}
for seed in range(300):
    letters = random.Random(seed).choices("abcdefghijklmnop", k=60)
    for kind, keys in (("strings", letters), ("integers", list(map(ord, letters)))):
        groups = pa.table({"k": keys}).group_by("k", use_threads=False).aggregate([])
        if groups["k"].to_pylist() != list(dict.fromkeys(keys)):
            others[kind].append((keys, groups["k"].to_pylist()))
keys, found = others["strings"][0]
print("keys:", "".join(keys))
print("expected groups:", "".join(dict.fromkeys(keys)))
print("received groups:", "".join(found))
print("in another order, of 300:", {kind: len(each) for kind, each in others.items()})
sys.exit(not others["strings"] or bool(others["integers"]))
PROGRAM
