"""Calls that read an argument whose code is the first to use a device."""

# In a fresh process for all calls: each has a child of its own, which no other has given a device.
CALLS = """
import os, sys, warnings
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow import cuda

warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, for forks beside threads
schema = pa.schema({"x": pa.int64()})

def arrays():
    yield pa.array([1, None, 3, 4]).copy_to(cuda.Context().memory_manager).slice(1)

def batches():
    yield pa.record_batch({"x": next(arrays())})

class Batches:
    __iter__ = staticmethod(batches)

class Counted:
    def __len__(self):
        return 1

    def __getitem__(self, place):
        return [*arrays()][place]

class Filled(list):
    def __iter__(self):
        return arrays()

def reader():
    return pa.RecordBatchReader.from_batches(schema, batches())

calls = {
    "chunked_array": lambda: pa.chunked_array(arrays()).null_count,
    "concat_arrays": lambda: len(pa.concat_arrays(arrays())),
    "concat_batches": lambda: pa.concat_batches(batches()).num_rows,
    "Table.from_batches": lambda: pa.Table.from_batches(batches())["x"].null_count,
    "an iterable": lambda: pa.Table.from_batches(Batches())["x"].null_count,
    "items of a sequence": lambda: pc.call_function("is_null", Counted()),
    "items of a list's heir": lambda: pc.call_function("is_null", Filled([1])),
    "read_next_batch": lambda: reader().read_next_batch()["x"].null_count,
    "read_all": lambda: reader().read_all()["x"].null_count,
    "__arrow_c_stream__": lambda: pa.table(reader())["x"].null_count,
    "cast": lambda: reader().cast(schema).read_all().num_rows,
    "write_dataset": lambda: ds.write_dataset(batches(), "a", schema=schema, format="ipc"),
    "a dataset's reader": lambda: ds.write_dataset(reader(), "b", format="ipc"),
    "Scanner": lambda: ds.Scanner.from_batches(batches(), schema=schema).to_table().num_rows,
    "InMemoryDataset": lambda: ds.InMemoryDataset(reader()).to_table()["x"].null_count,
}
for name, call in calls.items():
    sys.stdout.flush()
    if not os.fork():
        try:
            print(name, call())
        except Exception as error:
            print(name, type(error).__name__)
        sys.stdout.flush()
        os._exit(0)
    status = os.wait()[1]
    if status:
        print(name, "ended with", status)
"""


ANSWERS = """\
chunked_array 1
concat_arrays 3
concat_batches 3
Table.from_batches 1
an iterable 1
items of a sequence NotImplementedError
items of a list's heir NotImplementedError
read_next_batch 1
read_all 1
__arrow_c_stream__ ArrowNotImplementedError
cast NotImplementedError
write_dataset NotImplementedError
a dataset's reader NotImplementedError
Scanner NotImplementedError
InMemoryDataset NotImplementedError
"""


def test_arguments_that_use_a_device_first(run_python, tmp_path):
    assert run_python(CALLS, cwd=tmp_path) == (0, ANSWERS, "")
