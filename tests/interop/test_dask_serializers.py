"""What this package tells Dask of device memory, in a process without workers."""

import contextvars
import copy
import gc

import msgpack
import numpy as np
import pyarrow as pa
import pytest
from pyarrow.cuda import CudaBuffer

from pyarrow_cuda_compat import DeviceArray, _native
from support.libraries.dask_tasks import (
    LARGE,
    long_batch,
    look_at,
    make_batch,
    make_buffer,
    on_host,
    same_batch,
    sent,
)

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from distributed.protocol import deserialize, serialize  # noqa: E402

pytestmark = pytest.mark.foreign


@pytest.mark.simulator
def test_what_cannot_be_lent_is_copied_once(ctx, calls, monkeypatch):
    import pyarrow_cuda_compat.dask._peers as peers

    announced = peers.announcement() | {"process": 1, "devices": ["00" * 16]}
    reply = peers.Reply(peers.Borrowers(), "tcp://borrower", ["x"])
    monkeypatch.setattr(peers, "_reply", contextvars.ContextVar("_reply", default=reply))

    buffer, context, sent_before = make_buffer(), {"recipient": {peers.NAME: announced}}, sent()
    (header, _), [copies] = calls(lambda: serialize(buffer, context=context), b"cuMemcpyDtoH_v2")
    assert copies == 1
    assert sent()["host"] - sent_before["host"] == 1
    # A process that has not imported this package can load it.
    assert header["serializer"] == "pickle"
    reply.end(is_confirmed=True)


def test_sizes_and_frames_of_what_calls_itself_a_host_object(ctx):
    from dask.sizeof import sizeof

    import pyarrow_cuda_compat.dask  # noqa: F401

    struct = pa.StructArray.from_arrays([pa.nulls(2), pa.array(["a", "b"])], ["first", "second"])
    host = pa.record_batch({"c": struct})
    batch = host.copy_to(ctx.memory_manager)
    size = sum(buffer.size for buffer in batch.column(0).buffers() if buffer)
    table = pa.Table.from_batches([batch])
    for value in (batch, batch.column(0), table, table.column(0)):
        assert size <= sizeof(value) < size + 3000
    assert LARGE <= sizeof(make_buffer()) < LARGE + 1000
    for value in (batch, table):
        back = deserialize(*serialize(value))
        chunks = back.columns if value is batch else back.column(0).chunks
        assert [on_host(chunk) for chunk in chunks] == [struct]


def test_spilling_makes_host_frames(ctx):
    from distributed.protocol import deserialize_bytes, serialize_bytes

    before = sent()
    assert look_at(deserialize_bytes(serialize_bytes(make_buffer())))[0] == "CudaBuffer"
    assert same_batch(deserialize_bytes(serialize_bytes(make_batch())))
    assert sent() == before


class Frame:
    """Device memory of another library, into which a transport has received a frame."""

    def __init__(self, buffer):
        self.memory = copy.copy(buffer)
        self.nbytes = buffer.size
        self.__cuda_array_interface__ = self.memory.__cuda_array_interface__


def as_received(frame):
    return Frame(frame) if hasattr(frame, "__cuda_array_interface__") else bytes(frame)


FAMILIES = ("cuda", "dask", "pickle")
ON_DEVICE = {
    "buffer": lambda: make_buffer(1000),
    "empty buffer": lambda: make_buffer(0),
    "read-only slice": lambda: _native._read_only(make_buffer(1000).slice(3, 500)),
    "strided array": lambda: DeviceArray.from_host(np.arange(12, dtype="i2").reshape(3, 4))[:, 1],
    "batch": lambda: make_batch("deeply nested", 100),
    "table": lambda: pa.Table.from_batches([make_batch("dictionary", 100)] * 2),
}


def contents_of(value):
    if isinstance(value, pa.RecordBatch | pa.Table):
        return on_host(value)
    if isinstance(value, DeviceArray):
        return value.copy_to_host().tolist()
    return value.to_pybytes(), value.is_mutable


@pytest.mark.parametrize("name", ON_DEVICE)
def test_frames_of_the_family_cuda_stay_on_the_device(ctx, name):
    value = ON_DEVICE[name]()
    header, frames = serialize(value, serializers=FAMILIES)
    assert header["serializer"] == "cuda"
    received = [as_received(frame) for frame in frames]
    memory = [frame.memory for frame in received if isinstance(frame, Frame)]
    assert memory
    header = msgpack.loads(msgpack.dumps(header), use_list=False, strict_map_key=False)
    back = deserialize(header, received)
    assert type(back) is type(value)
    expected, addresses = contents_of(value), {each.address for each in memory}
    del value, frames, received, memory
    gc.collect()
    # It is the memory that was received, and retains it.
    assert contents_of(back) == expected
    if isinstance(back, CudaBuffer) and back.size:
        assert addresses == {back.address}


@pytest.mark.simulator
@pytest.mark.parametrize("name", ON_DEVICE)
def test_frames_of_the_family_cuda_are_not_copied(ctx, calls, name):
    value = ON_DEVICE[name]()
    work = lambda: serialize(value, serializers=FAMILIES)  # noqa: E731
    _, [to_host, allocated] = calls(work, b"cuMemcpyDtoH", b"cuMemAlloc")
    assert to_host == 0
    # Elements with gaps travel without the gaps, in memory that may be new.
    assert not allocated or name == "strided array"


def test_frames_have_what_slices_of_views_reach(ctx):
    words = pa.array([f"word number {row} of many" for row in range(2000)], pa.string_view())
    numbers = pa.array(range(2000), pa.int32())
    lists = pa.ListViewArray.from_arrays(numbers, pa.array([1] * 2000, pa.int32()), words)
    part = pa.record_batch({"x": words, "y": lists}).copy_to(ctx).slice(1000, 10)
    for families in (FAMILIES, ["pickle"]):
        header, frames = serialize(part, serializers=families)
        assert sum(map(size_of, frames)) < 8000
        assert deserialize(header, frames).copy_to("cpu").equals(part.copy_to("cpu"))


def size_of(frame):
    return frame.size if isinstance(frame, CudaBuffer) else memoryview(frame).nbytes


def test_frames_of_the_family_cuda_may_arrive_on_the_host(ctx):
    header, frames = serialize(make_batch(), serializers=("cuda",))
    frames = [bytes(each.to_pybytes() if isinstance(each, CudaBuffer) else each) for each in frames]
    assert same_batch(deserialize(header, frames))


def test_frames_that_are_not_those_that_were_sent_are_refused(ctx):
    header, frames = serialize(make_batch("dictionary", 100), serializers=("cuda",))
    for wrong in (frames[:-1], [*frames, b"1"], [*frames[:-1], frames[-1].slice(1)], []):
        with pytest.raises(ValueError, match=r"^expected frames of \[.*\] bytes, got \["):
            deserialize(header, wrong)


def test_dask_cuda_spills_what_lies_on_a_device(ctx, tmp_path):
    pytest.importorskip("dask_cuda", exc_type=ImportError)
    from dask_cuda.device_host_file import DeviceHostFile

    host = long_batch("string", 10_000)
    there = host.copy_to(ctx.memory_manager)
    table = pa.Table.from_batches([there])
    values = {"batch": there, "table": table, "array": there.column(0), "buffer": make_buffer()}
    values["chunks"] = table.column("a")
    before = ctx.bytes_allocated
    spilling = DeviceHostFile(str(tmp_path), device_memory_limit=1, memory_limit=1)
    spilling["host"] = host
    assert not spilling.device_keys
    for key in values:
        spilling[key] = copy.deepcopy(values[key])
        assert key in spilling.device_keys
        assert key in spilling.disk
    gc.collect()
    assert ctx.bytes_allocated == before
    for key, value in values.items():
        back = spilling[key]
        assert type(back) is type(value)
        if key == "buffer":
            assert back.equals(value)
        else:
            assert not back.is_cpu
            assert on_host(back).equals(on_host(value))
    assert spilling["host"].equals(host)


def test_host_batches_are_serialized_by_distributed_itself():
    from distributed.protocol import arrow

    for value, own in (
        (long_batch("int64", 100), arrow.serialize_batch),
        (pa.table({"x": [1, None]}), arrow.serialize_table),
    ):
        header, frames = serialize(value)
        own_header, own_frames = own(value)
        assert header["sub-header"] == own_header
        assert [bytes(frame) for frame in frames] == [bytes(frame) for frame in own_frames]
        assert deserialize(header, frames).equals(value)
        # Nor is it of the family of device memory.
        assert serialize(value, serializers=FAMILIES)[0]["serializer"] == "dask"


EITHER_ORDER = pytest.mark.parametrize(
    ("first", "last"), [("pyarrow.cuda", "distributed"), ("distributed", "pyarrow.cuda")]
)


@EITHER_ORDER
def test_either_may_be_imported_first(run_python, first, last):
    code = f"""if True:
        import sys
        import {first}
        assert "pyarrow_cuda_compat.dask" not in sys.modules
        import {last}
        assert "pyarrow_cuda_compat.dask" in sys.modules
        from distributed.protocol import dask_serialize
        import distributed, pyarrow as pa, pyarrow_cuda_compat.dask as ours
        assert dask_serialize.dispatch(pa.cuda.CudaBuffer) is ours._serialize
        # What `distributed` registers for pyarrow when it first needs it comes before.
        for kind in (pa.RecordBatch, pa.Table):
            assert dask_serialize.dispatch(kind).__module__ == ours.__name__
        from pyarrow_cuda_compat._start import import_hooks
        assert "distributed" not in import_hooks._WATCHER.followers
        assert type(distributed.__loader__).__name__ == "SourceFileLoader"
    """
    assert run_python(code) == (0, "", "")


@pytest.fixture
def package(tmp_path):
    """The file of a package that is called `distributed`, too, in a folder for `sys.path`."""
    package = tmp_path / "distributed" / "__init__.py"
    package.parent.mkdir()
    package.touch()
    return package


def test_an_import_that_fails_may_be_tried_again(run_python, tmp_path, package):
    package.write_text("import os; assert os.environ.get('WORKS'), 'not now'")
    code = f"""if True:
        import os, sys, warnings
        from pyarrow import cuda
        sys.path.insert(0, {str(tmp_path)!r})
        try:
            import distributed
        except AssertionError as error:
            print(error)
        os.environ["WORKS"] = "1"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import distributed
        # This one is not Dask's.
        print(distributed.__file__ == {str(package)!r}, len(caught))
        print(str(caught[0].message)[:50])
    """
    expected = "not now\nTrue 1\npyarrow_cuda_compat.dask does not work here: Modul\n"
    assert run_python(code, WORKS=None) == (0, expected, "")


@EITHER_ORDER
def test_no_import_fails_where_warnings_are_errors(run_python, tmp_path, package, first, last):
    code = f"""if True:
        import sys, warnings
        warnings.simplefilter("error", RuntimeWarning)
        sys.path.insert(0, {str(tmp_path)!r})
        import {first}
        import {last}
        print(sys.modules["distributed"].__file__ == {str(package)!r})
    """
    status, out, err = run_python(code)
    assert (status, out) == (0, "True\n")
    assert err.startswith("pyarrow_cuda_compat.dask does not work here: Modul")
