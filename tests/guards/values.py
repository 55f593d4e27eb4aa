"""Data to call pyarrow's functions with, on the host or on a device.

A `Place` makes values by name; what lies on the device holds the same as what lies on the host.
"""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.acero as acero
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as pq
from pyarrow import cuda

from support.samples import ALL

#: Array of each kind that libarrow treats differently.
ARRAYS: dict[str, Callable[[], Any]] = {
    "ints": lambda: pa.array([3, 1, None, 2], pa.int64()),
    "strings": lambda: pa.array(["b", "a", None, "c"]),
    "dictionary": lambda: pa.array(["x", "y", None, "x"]).dictionary_encode(),
    "lists": lambda: pa.array([[1, 2], [3], None, []]),
    "structs": lambda: pa.array([{"x": 1, "y": "a"}, None, {"x": 2, "y": "b"}, {"x": 3, "y": "c"}]),
    "sliced": lambda: pa.array([9, 3, 1, None, 2, 7], pa.int64())[1:5],
    "bools": lambda: pa.array([True, False, None, True]),
    "floats": lambda: pa.array([1.5, 0.5, 2.5, 3.5]),
    "bytes": lambda: pa.array([b"b", b"a", None, b"c"]),
    "wide": lambda: pa.array([b"bb", b"aa", None, b"cc"], pa.binary(2)),
    "pairs": lambda: pa.array([[1, 2], [3, 4], None, [5, 6]], pa.list_(pa.int32(), 2)),
    "maps": lambda: pa.array([[("k", 1)], [], None, [("k", 2)]], pa.map_(pa.string(), pa.int64())),
    "times": lambda: pa.array([3, 1, None, 2], pa.timestamp("us")),
    "intervals": lambda: pa.array(
        [(1, 2, 3), None, (0, 1, 0), (2, 0, 0)], pa.month_day_nano_interval()
    ),
    "decimals": lambda: pa.array([3, 1, None, 2], pa.int64()).cast(pa.decimal128(21, 2)),
    "views": lambda: pa.array(["b", "a", None, "a view that is not in line"], pa.string_view()),
    "large": lambda: pa.array(["b", "a", None, "c"], pa.large_string()),
    "dense": lambda: pa.UnionArray.from_dense(
        pa.array([0, 1, 0, 1], pa.int8()),
        pa.array([0, 0, 1, 1], pa.int32()),
        [pa.array([1, 2]), pa.array(["a", "b"])],
    ),
    "runs": lambda: pa.RunEndEncodedArray.from_arrays(
        pa.array([2, 4], pa.int32()), pa.array([1, 2])
    ),
    "tensors": lambda: pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.int32(), (2,)),
        pa.array([[1, 2], [3, 4], [5, 6], [7, 8]], pa.list_(pa.int32(), 2)),
    ),
    "indices": lambda: pa.array([1, 0, 3, 2], pa.int32()),
    "offsets": lambda: pa.array([0, 1, 3, 4], pa.int32()),
    "long offsets": lambda: pa.array([0, 1, 3, 4], pa.int64()),
    "codes": lambda: pa.array([0, 1, 0, 1], pa.int8()),
    "mask": lambda: pa.array([True, False, True, False]),
    "unsliced": lambda: pa.array([4, 3, 2, 1], pa.int64()),
}


#: Every type of column besides.
MORE = {f"{name} column": lambda array=array: array for name, array in ALL.items()}


def _batch() -> Any:
    return pa.record_batch(
        {"a": ARRAYS["ints"](), "s": ARRAYS["strings"](), "d": ARRAYS["dictionary"]()}
    )


def _numbers() -> Any:
    return pa.record_batch({"a": ARRAYS["unsliced"](), "b": ARRAYS["unsliced"]()})


def written(write: Callable[[Any], Any]) -> bytes:
    """What a function writes to a sink."""
    to = sink()
    write(to)
    return to.getvalue().to_pybytes()


def _stream(open_writer: Callable[..., Any], sink: Any) -> None:
    with open_writer(sink, _numbers().schema) as writer:
        writer.write(_numbers())


#: Bytes that some function reads.
CONTENTS: dict[str, Callable[[], bytes]] = {
    "text": lambda: b"a,b\n1,2\n3,4\n",
    "stream": lambda: written(partial(_stream, pa.ipc.new_stream)),
    "file": lambda: written(partial(_stream, pa.ipc.new_file)),
    "message": lambda: _numbers().serialize().to_pybytes(),
    "schema": lambda: _numbers().schema.serialize().to_pybytes(),
    "tensor": lambda: written(
        partial(pa.ipc.write_tensor, pa.Tensor.from_numpy(np.arange(6).reshape(2, 3)))
    ),
    "compressed": lambda: pa.compress(b"a,b\n1,2\n3,4\n", "zstd", asbytes=True),
    "parquet": lambda: written(partial(pq.write_table, pa.table(_batch()))),
    "feather": lambda: written(partial(feather.write_feather, pa.table(_batch()))),
    "orc": lambda: written(partial(orc.write_table, pa.table(_numbers()))),
    "json": lambda: b'{"a": 1}\n{"a": 2}\n',
    "int64s": lambda: np.arange(4).tobytes(),
}


class Place:
    """Makes values on the host, or on the device."""

    def __init__(self, on_device: bool) -> None:
        self.is_on_device = on_device
        self._manager = cuda.Context(0).memory_manager if on_device else None

    def put(self, value: Any) -> Any:
        """An array or batch, there."""
        return value if self._manager is None else value.copy_to(self._manager)

    def array(self, kind: str) -> Any:
        value = (ARRAYS | MORE)[kind]()
        if self._manager is not None and kind == "sliced":
            return self.put(pa.array([9, 3, 1, None, 2, 7], pa.int64()))[1:5]
        return self.put(value)

    def chunked(self, kind: str = "ints") -> Any:
        return pa.chunked_array([self.array(kind), self.array(kind).slice(1, 2)])

    def batch(self) -> Any:
        return self.put(_batch())

    def numbers(self) -> Any:
        return self.put(_numbers())

    def table(self) -> Any:
        return pa.Table.from_batches([self.batch(), self.batch()])

    def buffer(self, contents: str = "text") -> Any:
        data = CONTENTS[contents]()
        if self._manager is None:
            return pa.py_buffer(data)
        return cuda.Context(0).buffer_from_data(data)

    def generic_buffer(self) -> Any:
        """A buffer of an array: on the device a `pyarrow.Buffer`, no `CudaBuffer`."""
        return self.array("unsliced").buffers()[1]

    def reader(self) -> Any:
        batch = self.batch()
        return pa.RecordBatchReader.from_batches(batch.schema, iter([batch, batch]))

    def message(self) -> Any:
        if self._manager is None:
            return pa.ipc.read_message(_numbers().serialize())
        buffer = cuda.serialize_record_batch(_numbers(), cuda.Context(0))
        return cuda.read_message(buffer)

    def slices(self) -> Any:
        """Chunks of one array, whose nulls nobody has counted."""
        array = self.array("ints")
        return [array.slice(0, 2), array.slice(2)]

    # --- what holds data, lazily -----------------------------------------------------------------

    def dataset(self) -> Any:
        return ds.dataset(self.table())

    def scanner(self) -> Any:
        return ds.Scanner.from_batches(iter([self.batch()]), schema=_batch().schema)

    def fragment(self) -> Any:
        return next(iter(self.dataset().get_fragments()))

    def declaration(self) -> Any:
        return acero.Declaration("table_source", acero.TableSourceNodeOptions(self.table()))

    def grouped(self) -> Any:
        return self.table().group_by("s")

    def column(self) -> Any:
        return self.table().__dataframe__().get_column(0)

    def frame(self) -> Any:
        return self.table().__dataframe__()


def sink() -> Any:
    return pa.BufferOutputStream()


def writer_of(name: str) -> Any:
    """A writer of some kind, for batches like `Place.batch`, into memory of the host."""
    schema = _batch().schema
    return {
        "ParquetWriter": lambda: pq.ParquetWriter(sink(), schema),
        "CSVWriter": lambda: csv.CSVWriter(sink(), schema),
        "ORCWriter": lambda: orc.ORCWriter(sink()),
        "stream": lambda: pa.ipc.new_stream(sink(), schema),
        "file": lambda: pa.ipc.new_file(sink(), schema),
    }[name]()


def stream_of(name: str) -> Any:
    """A writable stream of some kind."""
    return {
        "BufferOutputStream": pa.BufferOutputStream,
        "PythonFile": lambda: pa.PythonFile(io.BytesIO(), "w"),
        "OSFile": lambda: pa.OSFile("written", "w"),
        "CompressedOutputStream": lambda: pa.CompressedOutputStream(sink(), "gzip"),
        "BufferedOutputStream": lambda: pa.BufferedOutputStream(sink(), 64),
        "FixedSizeBufferWriter": lambda: pa.FixedSizeBufferWriter(pa.allocate_buffer(64)),
        "MockOutputStream": pa.MockOutputStream,
    }[name]()
