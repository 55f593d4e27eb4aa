"""Writes the corpora that the fuzzers begin with, from the arrays of the tests: seeds.py FOLDER"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.fuzz import batch_of  # noqa: E402
from support.samples import ARRAYS, written  # noqa: E402
from support.written import Written  # noqa: E402


def stream_of(name: str, opener: Callable[..., pa.RecordBatchWriter], codec: str | None) -> bytes:
    batch = batch_of(name)
    return written([batch, batch], opener, compression=codec).to_pybytes()


def messages() -> dict[str, bytes]:
    """The metadata of schemas, dictionaries and batches, plain and compressed."""
    found = {}
    for name in [*ARRAYS, "dictionary"]:
        for codec in (None, "lz4"):
            stream = pa.BufferReader(stream_of(name, pa.ipc.new_stream, codec))
            for number, message in enumerate(pa.ipc.MessageReader.open_stream(stream)):
                found[f"{name}-{codec}-{number}"] = message.metadata.to_pybytes()
    return found


def footers() -> dict[str, bytes]:
    """The footers of files, which lie before their length and the format's six letters."""
    found = {}
    for name in ("int64", "dictionary", "struct"):
        file = stream_of(name, pa.ipc.new_file, None)
        size = int.from_bytes(file[-10:-6], "little")
        found[f"footer-{name}"] = file[-10 - size : -10]
    return found


def streams() -> dict[str, bytes]:
    """Streams and files, each after a byte that says how the target reads it."""
    found = {}
    for name in [*ARRAYS, "dictionary"]:
        for codec in (None, "lz4"):
            stream = stream_of(name, pa.ipc.new_stream, codec)
            file = stream_of(name, pa.ipc.new_file, codec)
            for how, data in enumerate((stream, stream, stream, file)):
                found[f"{name}-{codec}-{how}"] = bytes([how]) + data
    return found


def files() -> dict[str, bytes]:
    """Files and streams, plain and compressed, also as other libraries write them."""
    views = batch_of("string_view")
    others = {
        "moved": Written(views, "file").with_moved_counts(),
        "no-version": Written(views, "file").without_version(),
        "frames": Written(batch_of("int64"), "file", "zstd").with_body(*[_FRAMES] * 4),
    }
    found = {f"{name}-others": bytes(written.data) for name, written in others.items()}
    return found | {
        f"{name}-{codec}-{opener.__name__}": stream_of(name, opener, codec)
        for name in [*ARRAYS, "dictionary"]
        for codec in (None, "lz4", "zstd")
        for opener in (pa.ipc.new_file, pa.ipc.new_stream)
    }


#: 64 bytes in two frames of ZSTD, behind their number.
_FRAMES = (64).to_bytes(8, "little") + pa.compress(bytes(32), "zstd", asbytes=True) * 2


def handles() -> dict[str, bytes]:
    memory = bytes(range(64))
    sizes = {"none": 0, "some": 100, "most": 2**63 - 1, "negative": -1}
    found = {name: size.to_bytes(8, sys.byteorder, signed=True) for name, size in sizes.items()}
    found |= {f"{name}-memory": size + memory for name, size in found.items()}
    return found | {"offset": found["some-memory"] + bytes([8, *bytes(7)])}


def main(folder: Path) -> None:
    inputs = {
        "metadata": messages() | footers(),
        "stream": streams(),
        "file": files(),
        "handle": handles(),
        "array_interface": {"number": b"<f4", "date": b"<M8[ns]"},
        # Of these, the fuzzer describes structures by numbers.
        "dlpack": {"empty": b""},
        "layout": {"empty": b""},
        "strided": {"empty": b""},
        "c_device": {"empty": b""},
    }
    for target, seeds in inputs.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, seed in seeds.items():
            (folder / target / f"seed-{name.replace(' ', '_')}").write_bytes(seed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
