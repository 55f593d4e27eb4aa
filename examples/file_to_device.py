"""Reads an Arrow file straight into device memory, and a part of it back into another file.

The whole file goes to the device by one copy; its batches are views of that memory.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
from pyarrow import cuda


def write(path: Path) -> None:
    """An Arrow file of four batches."""
    schema = pa.schema({"number": pa.int64()})
    with pa.ipc.new_file(path, schema) as writer:
        for begin in range(0, 4000, 1000):
            numbers = pa.array(range(begin, begin + 1000), pa.int64())
            writer.write_batch(pa.record_batch([numbers], schema=schema))


def main() -> None:
    ctx = cuda.Context(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "numbers.arrow")
        write(path)
        whole = ctx.buffer_from_file(path)
        reader = pa.ipc.open_file(cuda.BufferReader(whole))
        last = reader.get_batch(reader.num_record_batches - 1)
        assert not last.is_cpu

        values = cuda.CudaBuffer.from_buffer(last.column("number").buffers()[1])
        written = values.copy_to_file(Path(folder, "last.bin"))
    within = whole.address <= values.address < whole.address + whole.size
    print(f"{reader.num_record_batches} batches; the last one lies in the file's memory: {within}")
    print(f"{written} bytes of it were written to another file")


if __name__ == "__main__":
    main()
