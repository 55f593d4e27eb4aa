#!/usr/bin/env bash
# A filter of pyarrow with a time before 1970 raises an error for one microsecond in a thousand, and before 1970 it casts
# columns that it leaves as they are for later times.
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
print("expected: each filter gives the rows that the same comparison is true of")


def rows(table, literal):
    try:
        return len(table.filter(pc.field("at") >= literal))
    except pa.ArrowInvalid as error:
        return str(error)


# Of unsigned 64-bit numbers, those that end so are multiples of a thousand: 2**64 ends in 616.
table = pa.table({"at": pa.array([0, 5, -5], pa.timestamp("ms"))})
found = {}
for number in (-1384, -616, -615, 384):
    literal = pa.scalar(number, pa.timestamp("us"))
    found[number] = rows(table, literal)
    print(f"{number} us: compared {pc.sum(pc.greater_equal(table['at'], literal))}, filtered {found[number]}")
# A day that is far away, and literals of whole seconds before and after 1970.
far = pa.table({"at": pa.array([2**60], pa.timestamp("s"))})
whole = {second: rows(far, pa.scalar(second * 10**6, pa.timestamp("us"))) for second in (-1, 1)}
print("a far day:", whole)
loses = "Casting from timestamp[us] to timestamp[ms] would lose data: -616"
is_as_seen = (
    found == {-1384: 2, -616: loses, -615: 2, 384: 1}
    and "out of bounds" in str(whole[-1])
    and whole[1] == 1
)
sys.exit(not is_as_seen)
PROGRAM
