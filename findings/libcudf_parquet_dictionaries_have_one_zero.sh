#!/usr/bin/env bash
# A Parquet file that libcudf writes with a dictionary has 0.0 in the place of -0.0.
set -euo pipefail
nvidia-smi >/dev/null 2>&1 || { echo "there is no GPU here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check pylibcudf-cu13==26.10.2 pyarrow==25.0.1
cd "$folder" && bin/python - <<'PROGRAM'
import sys
from importlib.metadata import version

import pyarrow as pa
import pyarrow.parquet as pq
import pylibcudf as plc

print(f"pylibcudf {version('pylibcudf-cu13')}, pyarrow {pa.__version__}")
print("expected: the signs of the zeros that were written")
zeros = pa.table({"zero": [0.0, -0.0, 1.0] * 1000})
parquet = plc.io.parquet


def signs(encoding):
    """How many negative zeros a file has that is written with an encoding."""
    table = plc.Table.from_arrow(zeros)
    metadata = plc.io.types.TableInputMetadata(table)
    metadata.column_metadata[0].set_name("zero").set_encoding(encoding)
    sink = plc.io.SinkInfo(["zeros.parquet"])
    options = parquet.ParquetWriterOptions.builder(sink, table).metadata(metadata).build()
    parquet.write_parquet(options)
    texts = map(str, pq.read_table("zeros.parquet")["zero"].to_pylist())
    return sum(text == "-0.0" for text in texts)


encodings = plc.io.types.ColumnEncoding
plain, dictionary = signs(encodings.PLAIN), signs(encodings.DICTIONARY)
print(f"negative zeros of 1000: {plain} as plain values, {dictionary} in a dictionary")
sys.exit(not (plain == 1000 and dictionary == 0))
PROGRAM
