#!/usr/bin/env bash
# A stream of dictionaries whose values are dictionaries, too, comes back with the inner indices as values.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys

import pyarrow as pa


def sent(column):
    batch = pa.record_batch([column], ["x"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    table = pa.ipc.open_stream(sink.getvalue()).read_all()
    table.validate(full=True)
    return table["x"]


print("pyarrow", pa.__version__)
sizes = pa.array([100, 200, 100], pa.int32()).dictionary_encode()
column = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1], pa.int8()), sizes)
found = sent(column)
print("sent:", column.type)
print("expected:", column.to_pylist(), "or a refusal; received:", found.to_pylist())
print("received:", found.type)
told = (column.to_pylist(), found.to_pylist(), str(found.type.value_type))
sys.exit(told != ([100, 100, 200], [0, 0, 1], "int32"))
PROGRAM
