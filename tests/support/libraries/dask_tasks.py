"""What the tests of Dask run on workers, which import it from here."""

import asyncio
import gc
import traceback

import numpy as np
import pyarrow as pa

from support.samples import ALL, CPU, empty_of, shapes

LARGE = 1 << 20


def make_buffer(size=LARGE, device=0):
    from pyarrow import cuda

    return cuda.Context(device).buffer_from_data(content_of(size))


def make_pinned():
    """Memory of the host as a buffer of the device, which CUDA IPC cannot lend."""
    from pyarrow import cuda

    ctx = cuda.Context(0)
    pinned = cuda.new_host_buffer(LARGE)
    np.frombuffer(pinned, np.uint8)[:] = content_of(LARGE)
    return ctx.foreign_buffer(ctx.get_device_address(pinned.address), LARGE, base=pinned)


def content_of(size):
    return (np.arange(size) % 251).astype(np.uint8)


def look_at(buffer):
    content = buffer.to_pybytes()
    assert content == content_of(len(content)).tobytes()
    return type(buffer).__name__, buffer.size, buffer.context.device_number, buffer.is_mutable


def make_array():
    from pyarrow_cuda_compat import DeviceArray

    return DeviceArray.from_host(content_of(1000).reshape(10, 100))[:, ::2]


def copy_to_host(array):
    return array.copy_to_host()


def make_batch(name="int64", rows=20_000, device=0):
    from pyarrow import cuda

    return long_batch(name, rows).copy_to(cuda.Context(device).memory_manager)


def long_batch(name, rows):
    array = ALL[name]
    array = pa.concat_arrays([array] * (rows // len(array)))
    return pa.record_batch({"a": array, "b": array}, metadata={"of": "schema"})


def same_batch(there, name="int64", rows=20_000):
    batch = long_batch(name, rows)
    assert all(not column.is_cpu for column in there.columns)
    back = there.copy_to(CPU)
    back.validate(full=True)
    assert back.schema.equals(batch.schema, check_metadata=True)
    return back.equals(batch)


def make_all_batches():
    from pyarrow import cuda

    manager = cuda.Context(0).memory_manager
    return [
        pa.record_batch({"a": array, "b": array}).copy_to(manager)
        for each in ALL.values()
        for array in shapes(each)
    ]


def look_at_all_batches(batches):
    expected = [array for each in ALL.values() for array in shapes(each)]
    for batch, array in zip(batches, expected, strict=True):
        back = batch.copy_to(CPU)
        back.validate(full=True)
        assert back.column(0).equals(array)
        assert back.column(1).equals(array)
    return len(batches)


def empty_arrays():
    bare = pa.StructArray.from_arrays([pa.nulls(2), pa.array(["a", "b"])], ["first", "second"])
    arrays = [bare, pa.array(["", ""]), pa.array([], pa.json_())]
    for each in ALL.values():
        arrays += [empty_of(each.type), pa.nulls(2, each.type)]
    return arrays


def make_empty_batches():
    from pyarrow import cuda

    manager = cuda.Context(0).memory_manager
    batches = [pa.record_batch({"a": each}).copy_to(manager) for each in empty_arrays()]
    return batches, [pa.Table.from_batches([batch, batch]) for batch in batches]


def look_at_empty_batches(there):
    batches, tables = there
    for batch, table, array in zip(batches, tables, empty_arrays(), strict=True):
        assert on_host(batch.column(0)).equals(array)
        # A table without memory goes as a host table, which loses chunks without rows.
        chunks = [on_host(chunk) for chunk in table.column(0).chunks]
        assert chunks == [array] * 2 or not (chunks or any(array.buffers()) or len(array))
    return len(batches)


def on_host(there):
    return there.copy_to(CPU)


def sent():
    import pyarrow_cuda_compat.dask

    return pyarrow_cuda_compat.dask.transfers()


def allocated():
    from pyarrow import cuda

    gc.collect()
    return [
        cuda.Context(number).bytes_allocated for number in range(cuda.Context.get_num_devices())
    ]


def count_received():
    """With UCX, a worker receives device memory in RMM's."""
    import rmm.statistics

    rmm.statistics.enable_statistics()


def received():
    """How many bytes of device memory this worker has received, and how many of them live."""
    import rmm.statistics

    gc.collect()
    statistics = rmm.statistics.get_statistics()
    return statistics.total_bytes, statistics.current_bytes


def set_threshold(size):
    import pyarrow_cuda_compat.dask as module

    before, module.THRESHOLD = module.THRESHOLD, size
    return before


def hide_devices(times):
    """Handles cannot be opened, for the given number of times."""
    import pyarrow_cuda_compat.dask as module

    shown, left = module.devices, iter(range(times))
    module.devices = lambda: shown() if next(left, None) is None else range(0)


async def watch_transfers(dask_worker):
    """From now on, this worker keeps the failure of the first transfer to it that fails."""
    from distributed import worker as module

    ask, failure = module.get_data_from_worker, asyncio.get_running_loop().create_future()

    async def watched(*arguments, **keywords):
        try:
            return await ask(*arguments, **keywords)
        except OSError as error:
            if not failure.done():
                failure.set_result("".join(traceback.format_exception(error)))
            raise

    module.get_data_from_worker, dask_worker.failure = watched, failure


async def failed_transfer(dask_worker):
    """Waits until a transfer has failed, and returns what it has raised."""
    return await asyncio.wait_for(dask_worker.failure, 60)
