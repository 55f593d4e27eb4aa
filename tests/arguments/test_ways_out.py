"""Errors for what users try first say what to do instead: the call that does what was meant."""

import gzip
import io
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat import DeviceArray

#: Wrong uses, the class of the error, and what its text names: what was passed, the way out.
WRONG = {
    # Bytes are wanted.
    "ctx.buffer_from_data([1, 2])": ("TypeError", "'list'", "numpy.array(", ".copy_to(context)"),
    "ctx.buffer_from_data('text')": ("TypeError", "'str'", ".encode()", "buffer_from_file(path)"),
    "ctx.buffer_from_data(column)": ("TypeError", "ChunkedArray'", "array.copy_to(context)"),
    "ctx.buffer_from_data(batch)": ("TypeError", "RecordBatch'", "batch.copy_to(context)"),
    "ctx.buffer_from_data(table)": ("TypeError", "Table'", "table.copy_to(context)"),
    "ctx.buffer_from_data(5)": ("TypeError", "'int'", "Context.new_buffer(nbytes)"),
    "ctx.buffer_from_data(pathlib.Path('x'))": ("TypeError", "buffer_from_file(path)"),
    "ctx.buffer_from_data(tensor)": ("TypeError", "'Tensor'", "DeviceArray.from_host(tensor)"),
    "ctx.buffer_from_data(array)": ("TypeError", "on a device", "array.copy()"),
    "ctx.buffer_from_data(np.arange(9)[::2])": ("ValueError", "numpy.ascontiguousarray(array)"),
    "ctx.buffers_from_data([[1]])": ("TypeError", "'list'", "numpy.array("),
    "buf.copy_from_host([1, 2])": ("TypeError", "'list'", "numpy.array("),
    # Device memory is wanted.
    "ctx.buffer_from_object(np.arange(3))": ("ArrowTypeError", "ndarray", "buffer_from_data"),
    "ctx.buffer_from_object(table)": ("ArrowTypeError", "column(0)", "table.copy_to(context)"),
    "ctx.buffer_from_object(batch)": ("ArrowTypeError", "column(0)", "batch.copy_to(context)"),
    "cuda.CudaBuffer.from_buffer(host)": ("ArrowTypeError", "CudaBuffer", "buffer_from_data"),
    "cuda.CudaBuffer.from_buffer(column)": ("TypeError", "ChunkedArray", "array.buffers()"),
    "cuda.CudaBuffer()": ("TypeError", "Context.new_buffer(nbytes)"),
    "buf.copy_from_device(host)": ("TypeError", "got Buffer", "Context.buffer_from_data"),
    "cuda.BufferReader('x.arrow')": ("TypeError", "got str", "Context.buffer_from_file(path)"),
    "cuda.BufferWriter(host)": ("TypeError", "got Buffer", "Context.buffer_from_data"),
    "cuda.BufferWriter(buf).upload('x.arrow')": ("AttributeError", "'str'", "open(path, 'rb')"),
    "ctx.open_ipc_buffer(bytes(72))": ("TypeError", "got bytes", "IpcMemHandle.from_buffer"),
    # Host memory is wanted.
    "bytes(buf)": ("BufferError", "to_pybytes()", "copy_to_host()"),
    "buf.copy_to_host(buf=np.zeros(9))": ("TypeError", "got ndarray", "pyarrow.py_buffer("),
    "buf.copy_to_host(buf=bytes(9))": ("TypeError", "py_buffer(data)", "for reading only"),
    "buf.copy_to_host(buf=host)": ("ValueError", "not mutable", "new_host_buffer(nbytes)"),
    # Sizes, contexts.
    "ctx.new_buffer('1G')": ("TypeError", "'str'", "number of bytes", "1 << 30"),
    "ctx.new_buffer(1 << 70)": ("OverflowError", "number of bytes below 2**63"),
    "cuda.Context(1.5)": ("TypeError", "'float'", "number of a device", "'cuda:0'"),
    "cuda.new_host_buffer(1.5)": ("TypeError", "'float'", "number of bytes"),
    "cuda.set_cache_limit('1G')": ("TypeError", "'str'", "number of bytes"),
    "cuda.set_pinned_cache_limit('1G')": ("TypeError", "'str'", "number of bytes"),
    "cuda.serialize_record_batch(batch, 0)": ("TypeError", "got int", "Context(number)"),
    # Messages.
    "cuda.serialize_record_batch(table, ctx)": ("TypeError", "got Table", "table.to_batches()"),
    "cuda.read_record_batch(message, table)": ("TypeError", "got Table", "schema"),
    "cuda.read_record_batch(message, wide)": (
        "ArrowInvalid",
        "it has 2 arrays and 5 buffers, and this schema needs 3 and 8",
        "column 'z' of type string is the first that it lacks",
        "the schema of the batch that was written",
    ),
    "ctx.buffer_from_data(range(3))": ("TypeError", "not 'range'", "numpy.array(values)"),
    "ctx.buffer_from_data(x for x in [1])": ("TypeError", "numpy.fromiter(values"),
    # Arrays.
    "cuda.from_dlpack(table)": ("TypeError", "got Table", "table.column(0)"),
    "cuda.from_dlpack([1])": ("TypeError", "got list", "DeviceArray.from_host"),
    "DeviceArray([1])": ("TypeError", "list", "DeviceArray.from_host"),
    "DeviceArray(buf, 'i4', offset=1)": ("ValueError", "9 bytes", "pass the shape"),
    "DeviceArray.from_arrow(table)": ("TypeError", "got Table", "table['x']"),
    "DeviceArray.from_arrow(buf)": ("TypeError", "got CudaBuffer", "DeviceArray(buffer, dtype)"),
    "DeviceArray.from_arrow(array)": ("TypeError", "got DeviceArray", "DeviceArray(array)"),
    "array + 1": ("TypeError", "operator 'add'", "cupy.asarray(array)", "array.copy_to_host()"),
    "1 + array": ("TypeError", "operator 'add'", "cupy.asarray(array)"),
    "array * array": ("TypeError", "operator 'mul'", "cupy.asarray(array)"),
    "array @ array": ("TypeError", "operator 'matmul'", "cupy.asarray(array)"),
    "array ** 2": ("TypeError", "operator 'pow'", "cupy.asarray(array)"),
    "array == 1": ("TypeError", "operator 'eq'", "cupy.asarray(array)"),
    "array[[1]]": ("IndexError", "'list'", "cupy.asarray(array)[...]", "torch.from_dlpack"),
    "array.sum()": ("AttributeError", "'sum'", "cupy.asarray(array)", "array.copy_to_host()"),
    "array.numpy()": ("AttributeError", "'numpy'", "array.copy_to_host()"),
    "array.copy_to('cpu')": ("AttributeError", "array.copy_to_host()", "array.to_arrow().copy_to("),
    "array.device": ("AttributeError", "'device'", "array.context.device_number"),
    "DeviceArray.from_columns([column])": ("TypeError", "got list", "pyarrow.table(columns, "),
    # Tables on a device.
    "there.filter(pa.compute.field('x') > 1)": ("NotImplementedError", "pyarrow.Table.filter"),
    "there.group_by('y').aggregate([])": ("NotImplementedError", "TableGroupBy.aggregate"),
    "there.join(table, 'x')": ("NotImplementedError", "pyarrow.Table.join"),
    "there.sort_by('x')": ("NotImplementedError", "sort_by"),
    # Files.
    "buf.copy_to_file('http://x/y')": ("FileNotFoundError", "URI", "fsspec.open(uri, 'wb')"),
    "ctx.table_from_file('http://x/y')": ("ArrowInvalid", "http://x/y", "fsspec.open(uri)"),
    "ctx.table_from_file('file://x/y')": ("ArrowInvalid", "file://x/y", "file:///folder/name"),
    "ctx.table_from_file(b'ARROW1' + bytes(20))": ("OSError", "26 bytes is cut off", "again"),
    "ctx.table_from_file('arrow', columns=['z'])": ("ArrowKeyError", "no column 'z'", "x: int64"),
    "ctx.reader_from_file('arrow', batch_size='2')": ("TypeError", "number of rows", "not '2'"),
    "ctx.table_from_file('csv')": ("ArrowInvalid", "text, such as CSV", "pyarrow.csv.read_csv"),
    "ctx.reader_from_file('csv')": ("ArrowInvalid", "text, such as CSV", "pyarrow.csv.read_csv"),
    "ctx.table_from_file(b' {1: 2}')": ("ArrowInvalid", "JSON", "pyarrow.json.read_json"),
    "ctx.table_from_file(b'FEA1' + bytes(9))": ("ArrowInvalid", "Feather", "read_table(path)"),
    "ctx.table_from_file(b'PK\\3\\4' + bytes(9))": ("ArrowInvalid", "ZIP", "pandas.read_excel"),
    "ctx.table_from_file('gzip')": ("ArrowInvalid", "by gzip", "pyarrow.input_stream(path, "),
    "ctx.table_from_file('empty')": ("ArrowInvalid", "the source is empty", "write it again"),
    "ctx.reader_from_file('empty')": ("ArrowInvalid", "the source is empty"),
    "ctx.table_from_file('folder')": ("ArrowInvalid", "Parquet", "dataset(source, format='ipc')"),
    "ctx.table_from_file(['arrow'])": ("ArrowInvalid", "Parquet", "dataset(source, format='ipc')"),
    "ctx.table_from_file('*.arrow')": ("FileNotFoundError", "*.arrow", "glob.glob(pattern)"),
    "ctx.table_from_file(open('csv'))": ("TypeError", "text mode", "open(path, 'rb')"),
    "ctx.table_from_file(table)": ("TypeError", "not Table", "copy_to(context)"),
    "ctx.table_from_file(table.to_reader())": ("TypeError", "Reader", "method copy_to(context)"),
    "ctx.table_from_file(iter([]))": ("TypeError", "list(paths)", "RecordBatchReader.from_batches"),
    "ctx.reader_from_file('arrow', batch_size='9')": ("TypeError", "not '9'", "number of rows"),
    "ctx.table_from_file('arrow', columns='x')": ("TypeError", "not 'x'", "['x', 'y']"),
    "ctx.table_from_file('arrow', columns=5)": ("TypeError", "not 5", "['x', 'y']"),
    "ctx.table_from_file('arrow', filters='x > 5')": ("TypeError", "not 'x > 5'", "list of tuples"),
    "ctx.reader_from_file('arrow', filters=5)": ("TypeError", "not 5", "compute.field('x') > 5"),
    "ctx.table_from_file(at_end)": ("ArrowInvalid", "its end, 9 bytes", "source.seek(0)"),
    "ctx.reader_from_file(pa.BufferReader(b''))": ("ArrowInvalid", "the source is empty"),
    "ctx.table_from_file(scanner)": ("TypeError", "not Scanner", "method copy_to(context)"),
    "ctx.table_from_file(pa.parquet.ParquetFile('parquet'))": ("TypeError", "pass the path"),
    "ctx.buffer_from_file('http://x/y')": ("FileNotFoundError", "URI", "fsspec.open(uri)"),
    "ctx.buffer_from_file(open('csv'))": ("TypeError", "text mode", "open(path, 'rb')"),
    "ctx.buffer_from_file(gzip.open('gzip'))": ("TypeError", "buffer_from_data(file.read())"),
    "ctx.buffer_from_file(['arrow'])": ("TypeError", "not list", "for each file"),
    "ctx.buffer_from_file(b'ARROW1' and host)": ("TypeError", "not Buffer", "buffer_from_data"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One with a file of each kind, called like it."""
    folder, table = tmp_path_factory.mktemp("files"), pa.table({"x": [1, 2]})
    pyarrow.csv.write_csv(table, folder / "csv")
    pyarrow.feather.write_feather(table, folder / "arrow", compression="uncompressed")
    (folder / "gzip").write_bytes(gzip.compress((folder / "arrow").read_bytes()))
    (folder / "empty").touch()
    pyarrow.parquet.write_table(table, folder / "parquet")
    (folder / "folder").mkdir()
    pyarrow.feather.write_feather(table, folder / "folder" / "arrow")
    return folder


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("call", WRONG)
def test_an_error_says_what_to_do(call, ctx, folder, monkeypatch):
    monkeypatch.chdir(folder)
    table = pa.table({"x": [1, 2], "y": ["a", "b"]})
    batch = table.to_batches()[0]
    names = {"cuda": pyarrow_cuda_compat, "ctx": ctx, "table": table, "column": table["x"]}
    names |= {"batch": batch, "host": pa.py_buffer(b"0123"), "gzip": gzip, "pathlib": pathlib}
    names |= {"buf": ctx.buffer_from_data(bytes(10)), "DeviceArray": DeviceArray}
    names |= {"there": table.copy_to(ctx), "np": np, "pa": pa, "array": DeviceArray.empty(3)}
    names["message"] = pyarrow_cuda_compat.serialize_record_batch(batch, ctx)
    names["wide"] = table.schema.append(pa.field("z", pa.string()))
    names["scanner"] = pa.dataset.dataset(table).scanner()
    names["at_end"] = io.BytesIO(bytes(9))
    names["at_end"].read()
    names["tensor"] = type("Tensor", (), {"__module__": "torch"})()
    kind, *words = WRONG[call]
    with pytest.raises(Exception) as raised:  # noqa: PT011 - the table has its class
        eval(call, names)
    assert raised.type.__name__ == kind
    assert [word for word in words if word not in str(raised.value)] == []


def test_frames_of_pandas(ctx):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [1]})
    with pytest.raises(TypeError, match=r"Table.from_pandas\(frame\).copy_to\(context\)"):
        ctx.buffer_from_data(frame)
    with pytest.raises(TypeError, match=r"series.to_numpy\(\)"):
        ctx.buffer_from_data(frame["x"])
    with pytest.raises(TypeError, match=r"pyarrow.table\(data\).copy_to\(context\)"):
        ctx.table_from_file(frame)


@pytest.mark.simulator
def test_a_full_device_says_how_much_and_what_to_do(run_python):
    code = (
        "import pyarrow as pa\n"
        "from pyarrow import cuda\n"
        "try: pa.table({'x': [1.0] * 4096}).copy_to(cuda.Context(0))\n"
        "except MemoryError as error: print(error)"
    )
    status, out, _ = run_python(code, CUDA_SIM_MEMORY="4096")
    assert status == 0
    for words in ("32768 bytes were requested", "4096 bytes are free", "copy fewer columns"):
        assert words in out


def test_arrays_of_pyarrow_are_made_of_device_arrays(ctx):
    array = DeviceArray.from_host(np.arange(3.0), context=ctx)
    made = [
        pa.array(array),
        pa.table({"x": array})["x"].chunk(0),
        pa.chunked_array([array]).chunk(0),
    ]
    assert [each.buffers()[1].address for each in made] == [array.address] * 3
    assert [each.type for each in made] == [pa.float64()] * 3
    with pytest.raises(NotImplementedError, match=r"pyarrow\.compute\.cast"):
        pa.array(array, pa.float32())
