"""The names by which Dask knows data on a device: equal data on one device has one name."""

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray
from support.samples import ARRAYS, empty_of

pytest.importorskip("distributed")
from dask.base import tokenize

import pyarrow_cuda_compat.dask  # noqa: F401

pytestmark = pytest.mark.foreign


def test_buffers(contexts):
    first, second = contexts[0], contexts[-1]
    assert tokenize(first.buffer_from_data(b"abc")) == tokenize(first.buffer_from_data(b"abc"))
    different = [
        first.buffer_from_data(b"abc"),
        first.buffer_from_data(b"abd"),
        first.new_buffer(0),
        pa.py_buffer(b"abc"),
    ]
    if second is not first:
        different.append(second.buffer_from_data(b"abc"))
    assert len({tokenize(each) for each in different}) == len(different)


FORMS = {
    "array": lambda array: array,
    "chunks": lambda array: pa.chunked_array([array]),
    "batch": lambda array: pa.record_batch({"a": array}),
    "table": lambda array: pa.table({"a": array}),
}


@pytest.mark.parametrize("form", FORMS)
def test_arrays_and_tables(ctx, form):
    def token(array):
        return tokenize(FORMS[form](array).copy_to(ctx.memory_manager))

    # Dask's own name of nulls does not tell how many there are.
    for name in ARRAYS.keys() - {"null"}:
        array = ARRAYS[name]
        assert token(array) == token(array), name
        assert len({token(array), token(array.slice(1)), token(empty_of(array.type))}) == 3, name


def test_arrays_of_two_devices(contexts):
    tokens = [tokenize(pa.array([1, 2]).copy_to(each.memory_manager)) for each in contexts]
    tokens.append(tokenize(pa.array([1, 2])))
    assert len(set(tokens)) == len(tokens)


def test_device_arrays(ctx):
    one, same, other = (DeviceArray.from_host(values) for values in ([1, 2], [1, 2], [1, 3]))
    assert tokenize(one) == tokenize(same) != tokenize(other)


@pytest.mark.subprocesses
def test_a_client_takes_them(run_python):
    """In a process of its own: what earlier tests left may go while a client is at work."""
    code = """
import gc, time
import distributed
import pyarrow as pa
import pyarrow_cuda_compat.dask
from pyarrow import cuda
ctx = cuda.Context(0)
buffer = ctx.buffer_from_data(b"abc")
table = pa.table({"a": [1, None]}).copy_to(ctx.memory_manager)
with distributed.Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    assert client.submit(lambda data: data.size, buffer).result(timeout=60) == 3
    assert client.gather(client.map(lambda data: data.size, [buffer])) == [3]
    assert client.submit(lambda data: data.num_rows, client.scatter(table)).result() == 2
del buffer, table
deadline = time.monotonic() + 60
while ctx.bytes_allocated and time.monotonic() < deadline:
    gc.collect()  # threads of the worker end in their own time
print(ctx.bytes_allocated)"""
    status, out, err = run_python(code)
    assert (status, out) == (0, "0\n"), err
