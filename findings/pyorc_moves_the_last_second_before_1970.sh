#!/usr/bin/env bash
# pyorc writes times of the last second before 1970 that are not whole seconds as times one second later.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pyorc==0.12.0 pyarrow==26.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import datetime
import io
import sys

import pyarrow as pa
import pyarrow.orc
import pyorc

print(f"pyorc {pyorc.__version__}, pyarrow {pa.__version__}")
print("expected: both read the times that were written")
midnight = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
steps = [datetime.timedelta(milliseconds=step) for step in (-1500, -500, -1, 500)]
written = [midnight + step for step in steps]
file = io.BytesIO()
with pyorc.Writer(file, "struct<at:timestamp>") as writer:
    for time in written:
        writer.write((time,))
by_pyorc = [row[0] for row in pyorc.Reader(file)]
by_pyarrow = pyarrow.orc.read_table(pa.BufferReader(file.getvalue()))["at"]
for time, read, other in zip(written, by_pyorc, by_pyarrow.cast(pa.timestamp("us")).to_pylist()):
    print(time.time(), "is read as", read.time(), "and by pyarrow as", other.time())
moved = [read - time for time, read in zip(written, by_pyorc)]
second, zero = datetime.timedelta(seconds=1), datetime.timedelta()
own = pa.table({"at": pa.array(written, pa.timestamp("us"))})
pyarrow.orc.write_table(own, "own.orc")
back = pyarrow.orc.read_table("own.orc")["at"].cast(pa.timestamp("us"))
print("pyarrow reads its own file rightly:", back.equals(own["at"]))
sys.exit(not (moved == [zero, second, second, zero] and back.equals(own["at"])))
PROGRAM
