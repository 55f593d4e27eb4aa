# Operations that only the CPU can do refuse arrays, batches and tables on a device.
# shows: pyarrow_devices, Arrays
#   pyarrow.Array.to_pylist: methods of arrays, batches and tables that only the CPU supports raise
#     a NotImplementedError
# shows: integration, CUDA Buffers
#   pyarrow.Array: methods of arrays that need the CPU are refused for arrays on the device
#   pyarrow.compute: functions that do not check where an array lies, and crash, as the page warns,
#     raise here; they work on a copy on the host
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import cuda

ctx = cuda.Context()
array = pa.array([1, None, 3]).copy_to(ctx.memory_manager)
text = pa.array(["a", None, "bc"]).copy_to(ctx.memory_manager)
mask = pa.array([True, False, True]).copy_to(ctx.memory_manager)
batch = pa.record_batch({"x": [1, 2], "y": ["a", "b"]}).copy_to(ctx.memory_manager)
table = pa.Table.from_batches([batch])
wide = pa.table({"x": pa.array([1], pa.int32()).copy_to(ctx.memory_manager)})
offsets = pa.array([0, None, 3], pa.int32()).copy_to(ctx.memory_manager)
chunked = table.column(0)


class Made:
    """An object of which pyarrow makes an array."""

    __arrow_array__ = staticmethod(lambda type=None: array)


def outcome(operation):
    try:
        operation()
    except NotImplementedError as error:
        return str(error).partition(":")[0]  # behind it stands what to do instead
    return "done"


VALUES = (
    lambda: array.to_pylist(),
    lambda: array.to_numpy(zero_copy_only=False),
    lambda: np.asarray(array),
    lambda: array.to_pandas(),
    lambda: array[0],
    lambda: array[1:],
    lambda: list(array),
    lambda: text.to_pylist(),
    lambda: array.__arrow_c_array__(),
    lambda: pa.array(Made(), mask=np.zeros(3, bool)),
)
WORK = (
    lambda: array.nbytes,
    lambda: array == array,
    lambda: array.equals(array),
    lambda: array.diff(array),
    lambda: array.sum(),
    lambda: array.index(3),
    lambda: array.sort(),
    lambda: array.unique(),
    lambda: array.value_counts(),
    lambda: array.dictionary_encode(),
    lambda: array.is_null(),
    lambda: array.is_valid(),
    lambda: array.is_nan(),
    lambda: array.fill_null(0),
    lambda: array.drop_null(),
    lambda: array.filter(mask),
    lambda: array.take([0]),
    lambda: array.cast(pa.float64()),
    lambda: array.view(pa.float64()),
    lambda: array.validate(full=True),
    lambda: text.cast(pa.large_string()),
)
TABLES = (
    lambda: chunked.to_pylist(),
    lambda: chunked[0],
    lambda: chunked.equals(chunked),
    lambda: chunked.cast(pa.float64()),
    lambda: batch.to_pydict(),
    lambda: batch.to_pylist(),
    lambda: batch.to_pandas(),
    lambda: batch.column(0).to_pylist(),
    lambda: batch.equals(batch),
    lambda: batch.nbytes,
    lambda: batch.filter(mask),
    lambda: batch.take([0]),
    lambda: batch.sort_by("x"),
    lambda: batch.to_struct_array(),
    lambda: batch.to_tensor(),
    lambda: batch.serialize(),
    lambda: batch.validate(full=True),
    lambda: table.to_pydict(),
    lambda: table.equals(table),
    lambda: table.nbytes,
    lambda: table.sort_by("x"),
    lambda: table.group_by("y").aggregate([("x", "sum")]),
    lambda: table.validate(full=True),
    lambda: pa.ListArray.from_arrays(offsets, array),
    lambda: pa.concat_tables([table, wide], promote_options="permissive"),
)
{outcome(operation) for operation in VALUES}
{outcome(operation) for operation in WORK}
{outcome(operation) for operation in TABLES}
# Operations that do not read the values work.
ELSEWHERE = (
    lambda: (len(array), array.type, array.offset, array.device_type, array.is_cpu),
    lambda: array.slice(1).buffers(),
    lambda: array.validate(),
    lambda: pa.array(["", ""]).copy_to(ctx.memory_manager).validate(),
    lambda: pa.concat_arrays([array, array]),
    lambda: pa.Array.from_buffers(array.type, 3, array.buffers()),
    lambda: pa.record_batch([array], names=["x"]),
    lambda: batch.slice(1).select(["x"]).replace_schema_metadata({}),
    lambda: batch.validate(),
    lambda: table.to_batches(),
)
{outcome(operation) for operation in ELSEWHERE}
# What leaves the device anyway is copied, in lists and dictionaries, too.
kinds = pa.schema({"s": pa.dictionary(pa.int32(), pa.string())})
ds.DirectoryPartitioning(kinds, {"s": text}).dictionaries[0].is_cpu
with tempfile.TemporaryDirectory() as folder:
    ds.write_dataset([batch, batch], folder, format="ipc")
    ds.dataset(folder, format="ipc").count_rows()
hasattr(chunked, "__dlpack__"), hasattr(pa.chunked_array([[1]]), "__dlpack__")
pa.array([1, 2, 3], mask=mask).to_pylist()
# Their buffers are no more for the CPU than they are.
array.buffers()[1].to_pybytes()
array.buffers()[1][0]
# Functions do not ask where arrays are; here they refuse, and work on a copy on the host.
pc.sum(array)
pc.sum(array.copy_to(pa.default_cpu_memory_manager()))
