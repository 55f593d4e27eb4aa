#!/usr/bin/env bash
# Dask gives one token to Arrow arrays whose dictionaries differ, so the second of two pure calls gets the first answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check dask==2026.8.0 pyarrow==25.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import dask
import pyarrow as pa
from dask.base import tokenize

print("dask", dask.__version__, "pyarrow", pa.__version__)
print("expected: a token for each of two arrays, and each answer from its own array")


def categories(array):
    return array.to_pylist()


pairs = {
    "dictionaries": [pa.array(words).dictionary_encode() for words in (["a", "b"], ["a", "c"])],
    "children that begin elsewhere": [
        pa.StructArray.from_arrays([pa.array([1, 2, 3, 4]).slice(at, 3)], ["x"]) for at in (0, 1)
    ],
}
seen = []
for name, (one, other) in pairs.items():
    task = dask.delayed(categories, pure=True)
    answers = dask.compute(task(one), task(other))
    is_same = tokenize(one) == tokenize(other)
    print(f"{name}: equal arrays: {one.equals(other)}, equal tokens: {is_same}, answers: {answers}")
    seen.append((is_same, answers[0] == answers[1], one.equals(other)))
sys.exit(seen != [(True, True, False)] * 2)
PROGRAM
