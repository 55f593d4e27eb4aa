"""Calls as programs write them, which say more than one argument at a time does.

Each takes a `Place` and returns what can be compared, or raises.
"""

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.acero as acero
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.interchange
import pyarrow.ipc as ipc
import pyarrow.json as json
import pyarrow.orc as orc
import pyarrow.parquet as pq
from pyarrow import cuda

from .values import ARRAYS, Place, written

TYPICAL: dict[str, Callable[[Place], Any]] = {}


def typical(function: Callable[[Place], Any]) -> Callable[[Place], Any]:
    TYPICAL[function.__name__.replace("_", " ").strip()] = function
    return function


def _add(**calls: Callable[[Place], Any]) -> None:
    for name, call in calls.items():
        TYPICAL[name.replace("_", " ")] = call


def _numbers_table(place: Place) -> Any:
    return pa.Table.from_batches([place.numbers(), place.numbers()])


# Slices, whose nulls nobody has counted.
_add(
    chunked_array_of_a_slice=lambda p: pa.chunked_array([p.array("ints").slice(1, 2)]),
    chunked_array_of_nested_slices=lambda p: pa.chunked_array([p.array("structs").slice(1, 2)]),
    chunked_array_with_a_type=lambda p: pa.chunked_array(p.slices(), type=pa.int64()),
    slice_of_a_chunked_array=lambda p: p.chunked().slice(1, 3),
    index_of_a_chunked_array=lambda p: p.chunked()[1:4],
    item_of_a_chunked_array=lambda p: p.chunked()[0],
    slice_of_a_table=lambda p: p.table().slice(1, 3),
    index_of_a_table=lambda p: p.table()[1:3],
    table_of_slices=lambda p: pa.table({"a": p.array("ints").slice(1, 2)}),
    table_of_arrays=lambda p: pa.Table.from_arrays(p.slices()[:1] * 2, names=["a", "b"]),
    table_of_sliced_batches=lambda p: pa.Table.from_batches([p.batch().slice(1, 2)]),
    table_of_pylists=lambda p: pa.Table.from_pydict({"a": p.array("ints").slice(1)}),
    reader_of_a_table=lambda p: p.table().to_reader(max_chunksize=2),
    add_a_sliced_column=lambda p: _numbers_table(p).append_column(
        "z", pa.chunked_array(p.slices() * 2)
    ),
    concat_tables=lambda p: pa.concat_tables([p.table(), p.table().slice(1)]),
    deep_copy=lambda p: copy.deepcopy(p.table().slice(1)),
)

# NumPy and Python.
_add(
    iterated_chunks=lambda p: list(p.chunked()),
    compared_chunks=lambda p: p.chunked() == p.chunked(),
    compared_batches_with_the_host=lambda p: Place(False).batch().equals(p.batch()),
    array_of_chunks=lambda p: pa.array(p.chunked()),
    table_of_mixed_columns=lambda p: pa.table({"a": p.array("ints"), "b": ARRAYS["ints"]()}).slice(
        1
    ),
)

# Computing.
_add(
    host_filtered=lambda p: ARRAYS["ints"]().filter(p.array("mask")),
    host_taken=lambda p: Place(False).table().take(p.array("indices")),
    host_joined=lambda p: Place(False).table().select(["a", "s"]).join(p.table(), "s"),
    called_by_name=lambda p: pc.call_function("add", [p.array("ints"), 1]),
    called_with_a_tuple=lambda p: pc.get_function("sum").call((p.array("ints"),)),
    called_with_an_iterator=lambda p: pc.get_function("sum").call(iter([p.array("ints")])),
    coalesced=lambda p: pc.coalesce(p.array("ints"), 0),
    is_in=lambda p: pc.is_in(ARRAYS["ints"](), value_set=p.array("ints")),
    expression_is_in=lambda p: Place(False).table().filter(pc.field("a").isin(p.array("ints"))),
    replaced_with_mask=lambda p: pc.replace_with_mask(
        ARRAYS["unsliced"](), ARRAYS["mask"](), p.array("unsliced").slice(2)
    ),
    declared_reader=lambda p: acero.Declaration(
        "record_batch_reader_source", acero.RecordBatchReaderSourceNodeOptions(p.reader())
    ).to_table(),
    declared_filter=lambda p: acero.Declaration.from_sequence(
        [
            p.declaration(),
            acero.Declaration("filter", acero.FilterNodeOptions(pc.field("a") > 1)),
        ]
    ).to_table(),
)

# Datasets.
_add(
    dataset_of_a_batch=lambda p: ds.dataset(p.batch()).to_table(),
    dataset_of_tables=lambda p: ds.dataset([p.table(), p.table()]).to_table(),
    dataset_of_a_reader=lambda p: ds.InMemoryDataset(p.reader()).to_table(),
    scanner_of_a_reader=lambda p: ds.Scanner.from_batches(p.reader()).to_table(),
    dataset_taken=lambda p: ds.dataset(Place(False).table()).take(p.array("indices")),
)


def _dataset(data: Any, name: str, format: str, **more: Any) -> Any:
    ds.write_dataset(
        data, name, format=format, existing_data_behavior="overwrite_or_ignore", **more
    )
    return ds.dataset(name, format=format).to_table()


_add(
    write_dataset=lambda p: _dataset(p.table(), "written table", "parquet"),
    write_dataset_of_a_reader=lambda p: _dataset(p.reader(), "written reader", "feather"),
    write_dataset_of_batches=lambda p: _dataset(
        iter([p.numbers()]), "written batches", "csv", schema=p.numbers().schema
    ),
)


@typical
def write_partitioned(place: Place) -> Any:
    pq.write_to_dataset(
        place.table().select(["a", "s"]),
        "written parts",
        partition_cols=["s"],
        existing_data_behavior="delete_matching",
    )
    return ds.dataset("written parts").to_table().sort_by("a")


# Writers.
_add(
    write_parquet=lambda p: pq.read_table(
        pa.py_buffer(written(lambda s: pq.write_table(p.table(), s)))
    ),
    write_parquet_in_groups=lambda p: pq.read_table(
        pa.py_buffer(written(lambda s: pq.write_table(p.table().slice(1), s, row_group_size=3)))
    ),
    write_csv=lambda p: written(lambda s: csv.write_csv(_numbers_table(p), s)),
    write_csv_of_a_batch=lambda p: written(lambda s: csv.write_csv(p.numbers(), s)),
    write_feather=lambda p: feather.read_table(
        pa.py_buffer(written(lambda s: feather.write_feather(p.table(), s)))
    ),
    write_feather_1=lambda p: feather.read_table(
        pa.py_buffer(written(lambda s: feather.write_feather(_numbers_table(p), s, version=1)))
    ),
    write_orc=lambda p: orc.read_table(
        pa.py_buffer(written(lambda s: orc.write_table(_numbers_table(p), s)))
    ),
    write_to_python=lambda p: (
        lambda f: (pa.PythonFile(f, "w").write(p.buffer()), f.getvalue())[1]
    )(io.BytesIO()),
    write_lines=lambda p: written(lambda s: s.writelines([p.buffer(), p.generic_buffer()])),
    write_generic_buffer=lambda p: written(lambda s: s.write(p.generic_buffer())),
    upload=lambda p: written(lambda s: s.upload(pa.BufferReader(p.buffer()))),
    write_compressed=lambda p: pa.CompressedInputStream(
        pa.BufferReader(
            written(lambda s: _closed(pa.CompressedOutputStream(s, "gzip"), p.buffer()))
        ),
        "gzip",
    ).read(),
    compress=lambda p: pa.decompress(pa.compress(p.buffer(), "lz4"), 12, "lz4"),
    decompress=lambda p: pa.decompress(p.buffer("compressed"), 12, "zstd"),
    codec=lambda p: pa.Codec("zstd").decompress(p.buffer("compressed"), 12),
    write_into_a_buffer=lambda p: (lambda b: (pa.FixedSizeBufferWriter(b).write(p.buffer()), b)[1])(
        pa.allocate_buffer(12)
    ),
)


def _closed(stream: Any, data: Any) -> None:
    with stream:
        stream.write(data)


def _stream(place: Place, how: Callable[[Any], Any], opens: Any = ipc.new_stream) -> Any:
    sink = pa.BufferOutputStream()
    with opens(sink, place.batch().schema) as writer:
        how(writer)
    reader = ipc.open_stream if opens is ipc.new_stream else ipc.open_file
    return reader(sink.getvalue()).read_all()


_add(
    stream_of_a_batch=lambda p: _stream(p, lambda w: w.write_batch(p.batch())),
    stream_of_a_slice=lambda p: _stream(p, lambda w: w.write_batch(p.batch().slice(1, 2))),
    stream_of_metadata=lambda p: _stream(
        p, lambda w: w.write_batch(p.batch(), custom_metadata={"a": "b"})
    ),
    stream_of_a_table=lambda p: _stream(p, lambda w: w.write_table(p.table())),
    stream_of_pieces=lambda p: _stream(p, lambda w: w.write_table(p.table(), max_chunksize=1)),
    stream_of_either=lambda p: _stream(p, lambda w: w.write(p.table())),
    file_of_a_batch=lambda p: _stream(p, lambda w: w.write(p.batch()), ipc.new_file),
    file_of_a_table=lambda p: _stream(p, lambda w: w.write_table(p.table()), ipc.new_file),
)

# Readers of device memory.
_add(
    open_stream_of_a_slice=lambda p: ipc.open_stream(p.buffer("stream").slice(0)).read_all(),
    open_file=lambda p: ipc.open_file(p.buffer("file")).read_all(),
    open_file_batch=lambda p: ipc.open_file(p.buffer("file")).get_batch(0),
    read_message=lambda p: ipc.read_message(p.buffer("message")).body,
    read_messages=lambda p: [m.type for m in ipc.MessageReader.open_stream(p.buffer("stream"))],
    read_schema=lambda p: str(ipc.read_schema(p.buffer("schema"))),
    read_tensor=lambda p: ipc.read_tensor(p.buffer("tensor")),
    read_record_batch=lambda p: ipc.read_record_batch(
        p.buffer("message"), Place(False).numbers().schema
    ),
    read_parquet=lambda p: pq.read_table(p.buffer("parquet")),
    read_parquet_file=lambda p: pq.ParquetFile(p.buffer("parquet")).read(),
    read_parquet_reader=lambda p: pq.read_table(pa.BufferReader(p.buffer("parquet"))),
    read_parquet_metadata=lambda p: pq.read_metadata(p.buffer("parquet")).num_rows,
    read_parquet_schema=lambda p: str(pq.read_schema(p.buffer("parquet"))),
    read_feather=lambda p: feather.read_table(p.buffer("feather")),
    read_orc=lambda p: orc.read_table(p.buffer("orc")),
    read_json=lambda p: json.read_json(p.buffer("json")),
    fragment_of_a_buffer=lambda p: (
        ds.ParquetFileFormat().make_fragment(p.buffer("parquet")).to_table()
    ),
    fragment_of_csv=lambda p: ds.CsvFileFormat().make_fragment(p.buffer("text")).to_table(),
    inspected_buffer=lambda p: str(ds.IpcFileFormat().inspect(p.buffer("file"))),
    input_stream_compressed=lambda p: pa.input_stream(
        p.buffer("compressed"), compression="zstd"
    ).read(),
    read_at=lambda p: pa.BufferReader(p.buffer("text")).read_at(3, 2),
    read_into=lambda p: pa.BufferReader(p.buffer("text")).readinto(bytearray(3)),
    transcoded=lambda p: pa.transcoding_input_stream(
        pa.BufferReader(p.buffer("text")), "utf8", "utf16"
    ).read(),
    read_generic_buffer=lambda p: pa.BufferReader(p.generic_buffer()).read(),
)


def _cuda_reader(contents: str) -> Callable[[Place], Any]:
    """A file that the host reads from, in either place."""

    def open_(place: Place) -> Any:
        buffer = place.buffer(contents)
        return cuda.BufferReader(buffer) if not buffer.is_cpu else pa.BufferReader(buffer)

    return open_


_add(
    cuda_stream=lambda p: ipc.open_stream(_cuda_reader("stream")(p)).read_all(),
    cuda_stream_summed=lambda p: pc.sum(ipc.open_stream(_cuda_reader("stream")(p)).read_all()["a"]),
    cuda_stream_printed=lambda p: str(ipc.open_stream(_cuda_reader("stream")(p)).read_all()),
    cuda_stream_exported=lambda p: pa.table(ipc.open_stream(_cuda_reader("stream")(p))),
    cuda_stream_cast=lambda p: (
        ipc.open_stream(_cuda_reader("stream")(p))
        .cast(pa.schema([("a", pa.float64()), ("b", pa.int64())]))
        .read_all()
    ),
    cuda_stream_written=lambda p: written(
        lambda s: csv.write_csv(ipc.open_stream(_cuda_reader("stream")(p)), s)
    ),
    cuda_stream_in_a_dataset=lambda p: ds.Scanner.from_batches(
        ipc.open_stream(_cuda_reader("stream")(p)), filter=pc.field("a") > 1
    ).to_table(),
    cuda_file=lambda p: ipc.open_file(_cuda_reader("file")(p)).read_all(),
    cuda_tensor=lambda p: ipc.read_tensor(_cuda_reader("tensor")(p)),
    cuda_tensor_as_numpy=lambda p: np.asarray(ipc.read_tensor(_cuda_reader("tensor")(p))),
    cuda_message=lambda p: ipc.read_message(_cuda_reader("message")(p)).body,
    cuda_message_aligned=lambda p: p.message().serialize(alignment=64),
    cuda_message_compared=lambda p: p.message().equals(p.message()),
    cuda_message_batch=lambda p: ipc.read_record_batch(p.message(), Place(False).numbers().schema),
    cuda_parquet=lambda p: pq.read_table(_cuda_reader("parquet")(p)),
    cuda_csv=lambda p: csv.read_csv(_cuda_reader("text")(p)),
    cuda_json=lambda p: json.read_json(_cuda_reader("json")(p)),
    cuda_orc=lambda p: orc.read_table(_cuda_reader("orc")(p)),
    cuda_feather=lambda p: feather.read_table(_cuda_reader("feather")(p)),
    cuda_compressed=lambda p: pa.CompressedInputStream(
        _cuda_reader("compressed")(p), "zstd"
    ).read(),
    cuda_buffered=lambda p: pa.BufferedInputStream(_cuda_reader("text")(p), 4).read(),
    cuda_read_buffer=lambda p: _cuda_reader("text")(p).read_buffer(),
    cuda_copied_to_a_file=lambda p: written(lambda s: s.upload(_cuda_reader("text")(p))),
    reader_exported=lambda p: pa.RecordBatchReader.from_stream(p.reader()).read_all(),
)


def _batch_of_a_stream(place: Place) -> Any:
    """On the device a batch that libarrow takes for one on the host."""
    batch = Place(False).batch()
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, batch.schema) as writer:
        writer.write(batch)
    data = sink.getvalue()
    if place is not None and place.is_on_device:
        return next(ipc.open_stream(cuda.BufferReader(cuda.Context(0).buffer_from_data(data))))
    return next(ipc.open_stream(data))


def _mixed(place: Place) -> Any:
    """A struct, a part of which lies on the host."""
    return pa.StructArray.from_arrays([ARRAYS["ints"](), place.array("strings")], ["a", "b"])


def _mixed_lists(place: Place) -> Any:
    return pa.ListArray.from_arrays([0, 1, 4], place.array("unsliced"))


for _kind, _make in {
    "streamed batch": _batch_of_a_stream,
    "mixed struct": _mixed,
    "mixed lists": _mixed_lists,
    "mixed batch": lambda p: pa.record_batch({"a": ARRAYS["ints"](), "b": p.array("strings")}),
    "mixed table": lambda p: pa.table({"a": ARRAYS["ints"](), "b": p.array("strings")}),
    "mixed chunks": lambda p: pa.chunked_array([ARRAYS["ints"](), p.array("ints")]),
}.items():
    for _what, _use in {
        "is listed": lambda v: v.to_pylist(),
        "is validated": lambda v: v.validate(full=True),
        "is checked": lambda v: v.validate(),
        "is printed": str,
        "is shown": repr,
        "is counted": lambda v: v.nbytes,
        "is measured": lambda v: v.get_total_buffer_size(),
        "is sliced": lambda v: v.slice(1, 2),
        "is item": lambda v: v[0],
        "is iterated": list,
        "is pickled": lambda v: pickle.loads(pickle.dumps(v)),
        "is copied": copy.copy,
        "is copied deeply": copy.deepcopy,
        "is copied to the host": lambda v: v.copy_to(pa.default_cpu_memory_manager()),
        "is copied to the device": lambda v: v.copy_to(cuda.Context(0).memory_manager).copy_to(
            pa.default_cpu_memory_manager()
        ),
        "is exported": lambda v: (
            pa.record_batch(v) if isinstance(v, pa.RecordBatch) else pa.array(v)
        ),
        "is a capsule": lambda v: [type(x).__name__ for x in v.__arrow_c_array__()],
        "is a device capsule": lambda v: [type(x).__name__ for x in v.__arrow_c_device_array__()],
        "is serialized": lambda v: v.serialize(),
        "is filtered": lambda v: v.filter(ARRAYS["mask"]()),
        "is taken from": lambda v: v.take([0]),
        "is compared": lambda v: v.equals(v),
        "is an array": np.asarray,
        "is a tensor": lambda v: v.to_tensor(),
        "is flattened": lambda v: v.flatten(),
        "is a struct": lambda v: v.to_struct_array(),
        "is in a table": lambda v: pa.Table.from_batches([v.slice(1)]),
        "is in a chunked array": lambda v: pa.chunked_array([v.slice(1)]),
        "is written": lambda v: written(lambda s: ipc.new_stream(s, v.schema).write(v)),
        "is in parquet": lambda v: written(lambda s: pq.write_table(pa.table(v), s)) is None,
        "is in batches": lambda v: v.to_batches(),
        "is combined": lambda v: v.combine_chunks(),
        "is cast": lambda v: v.cast(v.schema if hasattr(v, "schema") else v.type),
        "is nulls": lambda v: v.null_count,
        "is null": lambda v: v.is_null(),
        "is a frame": lambda v: v.__dataframe__().get_column(0).size(),
        "is sorted": lambda v: v.sort_by("a"),
        "is hashed": lambda v: pc.count(v),
        "is struct field": lambda v: v.field(0),
        "is of columns": lambda v: v.columns,
        "is sent": lambda v: cuda.read_record_batch(
            cuda.serialize_record_batch(v, cuda.Context(0)), v.schema
        ),
    }.items():
        TYPICAL[f"{_kind} {_what}"] = lambda p, make=_make, use=_use: use(make(p))
