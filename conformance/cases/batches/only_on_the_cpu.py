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
none = np.zeros(3, bool)
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
        eval(operation)
    except NotImplementedError as error:
        return str(error).partition(":")[0]  # behind it stands what to do instead
    return "done"


def outcomes(operations):
    """What becomes of these operations, each of which is written without a space."""
    return {outcome(operation) for operation in operations.split()}


outcomes("array.to_pylist() array.to_numpy(zero_copy_only=False) np.asarray(array)")
outcomes("array.to_pandas() array[0] array[1:] list(array) text.to_pylist()")
outcomes("array.__arrow_c_array__() pa.array(Made(),mask=none)")
outcomes("array.nbytes array==array array.equals(array) array.diff(array) array.sum()")
outcomes("array.index(3) array.sort() array.unique() array.value_counts()")
outcomes("array.dictionary_encode() array.is_null() array.is_valid() array.is_nan()")
outcomes("array.fill_null(0) array.drop_null() array.filter(mask) array.take([0])")
outcomes("array.cast(pa.float64()) array.view(pa.float64()) array.validate(full=True)")
outcomes("text.cast(pa.large_string())")
outcomes("chunked.to_pylist() chunked[0] chunked.equals(chunked) chunked.cast(pa.float64())")
outcomes("batch.to_pydict() batch.to_pylist() batch.to_pandas() batch.column(0).to_pylist()")
outcomes("batch.equals(batch) batch.nbytes batch.filter(mask) batch.take([0])")
outcomes("batch.sort_by('x') batch.to_struct_array() batch.to_tensor() batch.serialize()")
outcomes("batch.validate(full=True) table.to_pydict() table.equals(table) table.nbytes")
outcomes("table.sort_by('x') table.group_by('y').aggregate([('x','sum')])")
outcomes("table.validate(full=True) pa.ListArray.from_arrays(offsets,array)")
outcomes("pa.concat_tables([table,wide],promote_options='permissive')")
# Operations that do not read the values work.
outcomes("len(array) array.type array.offset array.device_type array.is_cpu")
outcomes("array.slice(1).buffers() array.validate()")
outcomes("pa.array(['','']).copy_to(ctx.memory_manager).validate()")
outcomes("pa.concat_arrays([array,array])")
outcomes("pa.Array.from_buffers(array.type,3,array.buffers())")
outcomes("pa.record_batch([array],names=['x'])")
outcomes("batch.slice(1).select(['x']).replace_schema_metadata({}) batch.validate()")
outcomes("table.to_batches()")
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
