"""`DeviceArray`: its elements, layouts and copies, and columns of Arrow as arrays."""

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, Stream, memory
from support.samples import CPU

from . import scenario

HOST = np.arange(24, dtype=np.int32).reshape(2, 3, 4)


@scenario()
def copies():
    array = DeviceArray.from_host(HOST)
    assert (array.copy_to_host() == HOST).all()
    assert (array.copy("F").copy_to_host() == HOST).all()
    out = np.zeros_like(HOST, order="F")
    array.copy_to_host(out)
    assert (out == HOST).all()
    array.copy_to_device(HOST[::-1])
    assert (np.asarray(array) == HOST[::-1]).all()


@scenario()
def elements():
    array = DeviceArray.from_host(HOST)
    assert array[1, 2, 3] == 23
    assert array[1, ::-1, 2].copy_to_host().tolist() == [22, 18, 14]
    array[0] = 7
    array[1, 0] = [1, 2, 3, 4]
    array[:, 1:, ::2] = DeviceArray.from_host(-HOST[:, 1:, ::2])
    expected = HOST.copy()
    expected[0] = 7
    expected[1, 0] = [1, 2, 3, 4]
    expected[:, 1:, ::2] = -HOST[:, 1:, ::2]
    assert (array.copy_to_host() == expected).all()
    assert [int(each) for each in array[1, 0]] == [1, 2, 3, 4]


@scenario()
def layouts():
    array = DeviceArray.from_host(HOST)
    assert (array.T.copy_to_host() == HOST.T).all()
    assert (array.T.copy().copy_to_host() == HOST.T).all()
    assert (array.transpose(1, 0, 2)[..., ::-1].copy_to_host()[0, 1] == HOST[1, 0, ::-1]).all()
    assert (array.reshape(4, 6).view("i2").copy_to_host() == HOST.reshape(4, 6).view("i2")).all()
    large = np.arange(300 * 200.0).reshape(300, 200)
    there = DeviceArray.from_host(large, order="F")
    assert (there.copy_to_host() == large).all()


@scenario()
def fills():
    array = DeviceArray.empty((3, 5), np.int16)
    array.fill(-2)
    array[:, 2].fill(9)
    assert array.copy_to_host().tolist() == [[-2, -2, 9, -2, -2]] * 3
    complexes = DeviceArray.empty(3, np.complex64, order="F")
    complexes.fill(1 + 2j)
    assert complexes[1].item() == 1 + 2j


@scenario()
def on_streams():
    stream = Stream(cuda.Context())
    array = memory.to_device(HOST, stream)
    out = memory.pinned_array_like(HOST)
    array.copy_to_host(out, stream)
    stream.synchronize()
    assert (out == HOST).all()


@scenario()
def of_arrow():
    ctx = cuda.Context()
    for values in (pa.array([1, None, 3]), pa.array([True, None, False, True])):
        there = values.copy_to(ctx.memory_manager)
        array = DeviceArray.from_arrow(there)
        assert array.null_count == 1
        filled = DeviceArray.from_arrow(there, nulls="fill", fill=values[0])
        assert filled.copy_to_host()[:2].tolist() == [values[0].as_py()] * 2
        _, mask = DeviceArray.from_arrow(there, nulls="mask")
        assert mask.copy_to_host()[:2].tolist() == [False, True]
        assert array.to_arrow().copy_to(CPU).equals(values)
    for order in "CF":
        table = pa.table({"a": [1, 2], "b": [3, 4]}).copy_to(ctx.memory_manager)
        columns = DeviceArray.from_columns(table, order=order).to_columns(table.column_names)
        assert columns.copy_to(CPU).equals(table.copy_to(CPU))
    plain = DeviceArray.from_arrow(pa.array([1.5, 2.5]).copy_to(ctx.memory_manager))
    assert plain.copy_to_host().tolist() == [1.5, 2.5]
    assert plain[::-1].copy().to_arrow().copy_to(CPU).to_pylist() == [2.5, 1.5]
    assert DeviceArray.from_arrow(pa.array([1, 2]).copy_to(ctx.memory_manager).slice(1))[0] == 2


@scenario()
def of_interfaces():
    array = DeviceArray.from_host(HOST[0])

    class Theirs:
        __cuda_array_interface__ = array.__cuda_array_interface__

    view = memory.as_cuda_array(Theirs)
    assert (view.address, view.copy_to_host()[1, 1]) == (array.address, 5)
    assert (DeviceArray(Theirs)[:, 0].copy_to_host() == HOST[0][:, 0]).all()
    buffer = cuda.Context().buffer_from_object(Theirs)
    assert buffer.size == HOST[0].nbytes
    assert DeviceArray(buffer, np.int32, (3, 4))[2, 3] == 11
