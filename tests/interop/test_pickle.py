"""Pickles and copies of what lies on a device."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, new_host_buffer
from pyarrow_cuda_compat._methods import pickling
from support.driver import DOWN
from support.pickles import EVERY_WAY, PROTOCOLS, in_band, out_of_band
from support.samples import ARRAYS, CPU, buffers_of

CUDA = pa.DeviceAllocationType.CUDA
BYTES = b"0123456789"


@EVERY_WAY
@pytest.mark.parametrize("size", [0, 1, 10, 100_000])
def test_buffers(cuda, ctx, allocated, way, size):
    buffer = ctx.buffer_from_data(np.arange(size, dtype=np.uint8))
    there = way(buffer)
    assert type(there) is cuda.CudaBuffer
    assert allocated() == 2 * size
    assert there.equals(buffer)
    assert (there.is_mutable, there.device) == (True, buffer.device)
    if size:
        assert there.address != buffer.address
        there.copy_from_host(b"x")
        assert buffer[0] == 0
    del buffer
    assert allocated() == size


@EVERY_WAY
def test_only_a_slices_bytes_travel(ctx, way):
    whole = ctx.buffer_from_data(bytes(1000) + BYTES + bytes(1000))
    before = ctx.bytes_allocated
    for part in (whole[1000:1010], whole.slice(900, 200).slice(100, 10)):
        there = way(part)
        assert there.to_pybytes() == BYTES
        assert ctx.bytes_allocated == before + len(BYTES)
        del there
    assert len(pickle.dumps(whole[1000:1010])) < 300


@EVERY_WAY
def test_what_is_read_only_stays_so(cuda, ctx, way):
    read_only = pa.Buffer.slice(ctx.buffer_from_data(BYTES))
    there = way(cuda.CudaBuffer.from_buffer(read_only))
    assert (there.is_mutable, there.to_pybytes()) == (False, BYTES)
    with pytest.raises(ValueError, match="mutable"):
        there.copy_from_host(b"x")


@EVERY_WAY
def test_generic_buffers_of_arrays_travel_as_they_are(cuda, ctx, way):
    array = pa.array([1, None, 3]).copy_to(ctx)
    for buffer in (*array.buffers(), *pa.array(["a", ""]).copy_to(ctx)[:0].buffers()):
        if buffer is None:
            continue
        assert type(buffer) is pa.Buffer
        there, content = way(buffer), cuda.CudaBuffer.from_buffer(buffer).to_pybytes()
        assert (there.to_pybytes(), there.is_mutable) == (content, buffer.is_mutable)
        assert (type(there), there.device) == (cuda.CudaBuffer, ctx.device)
        assert not there.size or there.address != buffer.address
    on_host = way(pa.py_buffer(BYTES))
    assert (type(on_host), on_host.to_pybytes()) == (pa.Buffer, BYTES)


@EVERY_WAY
def test_foreign_memory_is_copied(ctx, way):
    buffer = ctx.buffer_from_data(BYTES)
    foreign = ctx.foreign_buffer(buffer.address + 2, 5, base=buffer)
    there = way(foreign)
    del foreign
    buffer.copy_from_host(bytes(10))
    assert there.to_pybytes() == b"23456"


@pytest.mark.parametrize("way", [in_band, out_of_band, copy.copy])
def test_memory_of_another_process_is_copied(cuda, ctx, peer, way):
    text = peer("exported(ctx.buffer_from_data(b'theirs'))")
    handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes.fromhex(text)))
    imported = ctx.open_ipc_buffer(handle)
    there = way(imported)
    assert there.address != imported.address
    del imported
    assert peer.end() == (0, "")
    assert there.to_pybytes() == b"theirs"


def test_another_context_s_memory_arrives_in_the_primary_one(cuda, ctx, own_context):
    buffer = cuda.Context(0, own_context).buffer_from_data(BYTES)
    assert buffer.context.handle == own_context
    there = in_band(buffer)
    assert (there.to_pybytes(), there.context.handle) == (BYTES, ctx.handle)
    # A copy is made beside the original.
    assert copy.copy(buffer).context.handle == own_context


@EVERY_WAY
def test_devices_are_kept(ctx, other_ctx, way):
    here, there = way(ctx.buffer_from_data(b"here")), way(other_ctx.buffer_from_data(b"there"))
    assert (here.context.device_number, there.context.device_number) == (0, 1)
    assert (here.to_pybytes(), there.to_pybytes()) == (b"here", b"there")
    values = {"host": [1, 2], "first": [3, None], "second": ["x", "yy"]}
    arrays, places = map(pa.array, values.values()), (CPU, ctx, other_ctx)
    columns = [array.copy_to(place) for array, place in zip(arrays, places, strict=True)]
    back = way(pa.record_batch(columns, [*values]))
    devices = [[buffer.device for buffer in buffers_of(column)] for column in back.columns]
    assert devices == [[CPU.device], [ctx.device] * 2, [other_ctx.device] * 2]
    assert back.copy_to(CPU).to_pydict() == values


def test_bytes_travel_out_of_band(ctx):
    sent = [ctx.buffer_from_data(BYTES * 100), ctx.buffer_from_data(b"more")]
    buffers = []
    pickled = pickle.dumps(sent, 5, buffer_callback=buffers.append)
    assert len(pickled) < 300
    assert [bytes(buffer) for buffer in buffers] == [BYTES * 100, b"more"]
    # The copies on the host are what the pickle made, not the device's memory.
    sent[1].copy_from_host(b"less")
    assert pickle.loads(pickled, buffers=buffers)[1].to_pybytes() == b"more"
    # Whoever carries the bytes may hand them over in any form.
    for form in (bytes, bytearray, memoryview, lambda each: np.frombuffer(each, np.uint8)):
        here = pickle.loads(pickled, buffers=[form(buffer.raw()) for buffer in buffers])
        assert [each.to_pybytes() for each in here] == [BYTES * 100, b"more"]


@pytest.mark.parametrize("way", [in_band, out_of_band, copy.deepcopy])
@pytest.mark.parametrize("name", ARRAYS)
def test_slices_are_equal_to_those_on_the_host(ctx, name, way):
    array = pa.concat_arrays([ARRAYS[name]] * 40)
    there = array.copy_to(ctx.memory_manager)
    for part in ((3, 5), (0, 1), (50, 0), (60, None)):
        arrived = way(there.slice(*part))
        assert arrived.device_type == (CUDA if buffers_of(arrived) else pa.DeviceAllocationType.CPU)
        arrived = arrived.copy_to(CPU)
        arrived.validate(full=True)
        assert arrived.equals(array.slice(*part))


def test_only_what_slices_reach_is_pickled(ctx):
    numbers, words = pa.array(range(100_000)), pa.array([str(n) for n in range(100_000)])
    table = pa.table({"x": numbers, "y": words, "z": numbers}).copy_to(ctx.memory_manager)
    batch = table.to_batches()[0]
    for value in (table, batch, table["y"], batch["y"]):
        part = value.slice(1000, 20)
        assert len(pickle.dumps(part)) < 2000
        assert in_band(part).copy_to(CPU).equals(value.copy_to(CPU).slice(1000, 20))
    # Columns that share all of their memory send it once.
    assert len(pickle.dumps(pa.table([table["x"], table["x"]], ["x", "z"]))) < 900_000
    # Of parts on the host and on the device, all travels where it lies.
    mixed = pa.RecordBatch.from_arrays([numbers[7:9], batch["x"].slice(7, 2)], ["here", "there"])
    arrived = in_band(mixed)
    assert arrived["here"].is_cpu
    assert not arrived["there"].is_cpu


@pytest.mark.simulator
def test_one_copy_from_the_device_for_each_buffer(ctx, calls):
    batch = pa.record_batch({"x": [1, None, 3], "y": ["a", "b", None]}).copy_to(ctx.memory_manager)
    _, [copies] = calls(lambda: out_of_band(batch), DOWN)
    assert copies == sum(len(buffers_of(column)) for column in batch.columns) == 5


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_on_the_host_is_pickled_as_before(protocol):
    array = pa.array([1, None, 3])
    batch, table = pa.record_batch({"x": array}), pa.table({"x": array})
    for value in batch, table, pa.chunked_array([array]), array:
        pickled = pickle.dumps(value, protocol)
        assert b"pyarrow_cuda_compat" not in pickled
        assert pickle.loads(pickled).equals(value)
    assert batch.__reduce__()[0].__module__ == "pyarrow.lib"


def test_loading_needs_no_import(ctx, run_python):
    batch = pa.record_batch({"x": ["a", None]}).copy_to(ctx.memory_manager)
    code = """if True:
        import pickle, sys
        buffer, batch = pickle.loads(bytes.fromhex(sys.argv[1]))
        print(buffer.to_pybytes(), type(buffer).__name__, batch.device_type.name)
    """
    pickled = pickle.dumps((ctx.buffer_from_data(BYTES), batch), 5)
    assert run_python(code, pickled.hex()) == (0, f"{BYTES} CudaBuffer CUDA\n", "")


@pytest.mark.simulator
@pytest.mark.parametrize("without", [{"CUDA_SIM_DEVICES": "0"}, {"PYARROW_CUDA_DRIVER": "nowhere"}])
def test_where_there_is_no_device_the_error_says_what_to_do(ctx, run_python, without):
    batch = pa.record_batch({"x": [1, None, 3]}).copy_to(ctx.memory_manager)
    pickled = [pickle.dumps(value).hex() for value in (ctx.buffer_from_data(BYTES), batch)]
    script = """if True:
        import pickle, sys
        for each in sys.argv[1:]:
            try:
                pickle.loads(bytes.fromhex(each))
            except OSError as error:
                print(error)
    """
    status, out, err = run_python(script, *pickled, **without)
    assert (status, err, out.count("\n")) == (0, "", 2)
    for line in out.splitlines():
        assert "no CUDA device can be used here (" in line
        assert "Pickle a copy on the host: buffer.copy_to_host(), or batch.copy_to(" in line


def test_broken_pickles_are_errors(ctx):
    for arguments in ((b"x", -1, True), (b"x", "0", True), (None, 0, True)):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            pickling._restore_buffer(*arguments)
    with pytest.raises((TypeError, ValueError, OverflowError)):
        pickling._restore_part(7, 0)


@pytest.mark.parametrize(
    "kind",
    [pa.RecordBatch, pa.Table, pa.ChunkedArray, pa.Int64Array, pa.StructArray, pa.ExtensionArray],
)
def test_what_was_never_initialised_is_refused(run_python, kind):
    # In a process of its own: pyarrow's own functions crash on such objects.
    code = f"""if True:
        import copy, pickle
        import pyarrow as pa
        from pyarrow import cuda
        for use in (pickle.dumps, copy.copy, copy.deepcopy):
            try:
                use(pa.{kind.__name__}.__new__(pa.{kind.__name__}))
            except TypeError as error:
                print(error)
    """
    told = f"this {kind.__name__} was never initialised\n"
    assert run_python(code) == (0, 3 * told, "")


def test_columns_that_do_not_fit_are_refused(ctx):
    there = pa.array([1, 2]).copy_to(ctx.memory_manager)
    (tree,) = pickling._trees([there])
    (short,) = pickling._trees([there.slice(0, 1)])
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64())])
    wrong = pa.schema([("a", pa.int64()), ("b", pa.string())])
    for trees, kind, text in (
        ([tree], schema, "1 columns, 2 needed"),
        ([tree, short], schema, "column 1 has 1 values, column 0 has 2"),
        ([tree, tree], wrong, "column 1 has the type int64, not string"),
    ):
        with pytest.raises(pa.ArrowInvalid, match=text):
            pickling._restore_batch(trees, kind)
    with pytest.raises(pa.ArrowInvalid, match="column 1 has 1 values, column 0 has 2"):
        pickling._restore_table([tree, short], [1, 1], schema)
    with pytest.raises(TypeError, match="at least one column"):
        pickling._restore_batch([], pa.schema([]))


def test_a_pickle_waits_for_another_threads_import(ctx, run_python):
    """If it imported a module of the package, each import would wait for the other."""
    code = """
import pickle, pyarrow, sys, threading
halfway, loaded = threading.Event(), threading.Event()
def load():
    halfway.wait()
    print(pickle.loads(bytes.fromhex(sys.argv[1])).to_pybytes(), flush=True)
    loaded.set()
thread = threading.Thread(target=load)
thread.start()
def hook(event, arguments):
    if event == "import" and arguments[0] == "pyarrow_cuda_compat._native" and not halfway.is_set():
        halfway.set()
        loaded.wait(0.5)  # it is not, unless it fails: the import has to be over first
sys.addaudithook(hook)
from pyarrow import cuda
thread.join()
"""
    pickled = pickle.dumps(ctx.buffer_from_data(b"here")).hex()
    assert run_python(code, pickled) == (0, "b'here'\n", "")


@pytest.mark.parametrize("kind", ["buffer", "column", "batch", "table", "chunks", "array", "typed"])
def test_pickles_name_no_module_of_the_package(ctx, kind):
    """Such a module may be there while another thread is still importing the package."""
    batch = pa.record_batch({"x": [1, 2]}).copy_to(ctx.memory_manager)
    value = {
        "buffer": ctx.buffer_from_data(BYTES),
        "column": batch.column(0),
        "batch": batch,
        "table": pa.Table.from_batches([batch]),
        "chunks": pa.chunked_array([batch.column(0)]),
        "array": DeviceArray(ctx.buffer_from_data(BYTES), "u1"),
        "typed": DeviceArray.from_arrow(batch.column(0)),
    }[kind]
    for protocol in PROTOCOLS:
        pickled = pickle.dumps(value, protocol)
        assert b"pyarrow_cuda_compat" in pickled
        assert b"pyarrow_cuda_compat." not in pickled


class Mine(pa.ExtensionArray):
    pass


class OfMine(pa.ExtensionType):
    def __init__(self):
        super().__init__(pa.int64(), "tests.of_mine")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls()

    def __arrow_ext_class__(self):
        return Mine


def test_arrays_of_a_users_class(ctx):
    array = pa.ExtensionArray.from_storage(OfMine(), pa.array([1, None, 3]))
    there = array.copy_to(ctx.memory_manager)
    for again in in_band(there, 2), in_band(there, 5), copy.copy(there), copy.deepcopy(there):
        assert (type(again), again.buffers()[1].is_cpu) == (Mine, False)
        assert again.copy_to(CPU).equals(array)
    assert in_band(there.slice(2)).copy_to(CPU).equals(array.slice(2))
    assert in_band(array).equals(array)
    pinned = pa.Array.from_buffers(pa.int64(), 1, [None, new_host_buffer(8)], null_count=0)
    assert len(in_band(pa.ExtensionArray.from_storage(OfMine(), pinned))) == 1
