"""Handles and array interfaces that lie."""

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, from_dlpack
from pyarrow_cuda_compat import memory as numbas
from pyarrow_cuda_compat.pygpu import gpuarray
from support.interfaces import Interface


@pytest.mark.parametrize(
    "lies",
    [
        {"shape": (-1, -1)},
        {"shape": (2**40, 2**40)},
        {"shape": (2**32, 2**31), "typestr": "<f8"},
        {"shape": (2**63,)},
        {"shape": (2**62,)},
        {"shape": (2**50,)},
        {"shape": None},
        {"shape": 5},
        {"shape": "ab"},
        {"shape": (10,), "strides": (2**62,)},
        {"shape": (10,), "strides": (-(2**62),)},
        {"shape": (2, 5), "strides": (2**63 - 1, -(2**63))},
        {"stream": -1},
        {"stream": "x"},
        {"data": None},
        {"data": ()},
        {"data": 5},
        {"data": (0, False)},
        {"data": (-1, False)},
        {"data": (2**64, False)},
        {"data": (2**64 - 1, False)},
        {"data": ("x", False)},
        {"typestr": None},
        {"typestr": "zzz"},
        {"typestr": 5.5},
        {"data": {"address": 1}},
        {"stream": 2**64},
        {"typestr": "\ud800"},
        {"typestr": "(2,"},
        {"typestr": {"names": ["a"], "formats": ["u1"], "offsets": [10**40]}},
    ],
    ids=ascii,
)
def test_interfaces_that_lie_raise(ctx, memory, lies):
    array = numbas.device_array(10, "u1")
    obj = Interface(memory.address, **lies)
    for take in (ctx.buffer_from_object, DeviceArray, numbas.as_cuda_array, array.copy_to_device):
        with pytest.raises((ValueError, TypeError, OSError)) as raised:
            take(obj)
        assert str(raised.value)
        assert not isinstance(raised.value, UnicodeError)


def test_interfaces_that_name_host_memory_raise(ctx):
    pageable = np.zeros(100, np.uint8)
    with pytest.raises(OSError, match="Cuda error 1 "):
        ctx.buffer_from_object(Interface(pageable.ctypes.data))


def test_the_interface_itself_may_be_wrong(ctx):
    class Raises:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("no interface today")

    with pytest.raises(RuntimeError, match=r"^no interface today$"):
        ctx.buffer_from_object(Raises())
    for wrong in (None, 5, [], {}, {"shape": (1,)}):
        holder = Interface(0)
        holder.__cuda_array_interface__ = wrong
        with pytest.raises((TypeError, ValueError)):
            ctx.buffer_from_object(holder)


@pytest.mark.parametrize("wrong", [None, 5, "ab", [], ()], ids=repr)
def test_what_describes_no_array_is_a_type_error(wrong):
    with pytest.raises(TypeError, match="dict"):
        numbas.from_cuda_array_interface(wrong)
    for like in (numbas.device_array_like, numbas.pinned_array_like, numbas.mapped_array_like):
        with pytest.raises(TypeError, match=f"expected an array, got {type(wrong).__name__}"):
            like(wrong)


@pytest.mark.parametrize("device", [(), {}, None, 5, ("x", 0), (2**40, 0)], ids=repr)
def test_devices_of_tensors_that_lie(ctx, device):
    class Tensor:
        def __dlpack__(self, **_options):
            raise AssertionError("nobody asks")

        def __dlpack_device__(self):
            return device

    for take in (DeviceArray, from_dlpack, numbas.device_array(10).copy_to_device, gpuarray.to_gpu):
        with pytest.raises((TypeError, ValueError)):
            take(Tensor())


@pytest.mark.parametrize("version", [0, 2, 3, 99, None])
def test_versions_are_not_judged(ctx, memory, version):
    view = ctx.buffer_from_object(Interface(memory.address, version=version))
    assert view.to_pybytes() == bytes(range(10))


def test_a_layout_without_elements_may_be_of_any_size(ctx, memory):
    assert ctx.buffer_from_object(Interface(memory.address, shape=(2**62, 2**62, 0))).size == 0


class Bits:
    """As the masks of cuDF, whose elements are single bits."""

    def __init__(self, buffer, count, **entries):
        self.buffer = buffer
        said = {"shape": (count,), "typestr": "<t1", "strides": None, "version": 1}
        data = {"data": (buffer.address, True)}
        self.__cuda_array_interface__ = said | data | entries


@pytest.mark.parametrize("count", [0, 1, 8, 13])
def test_masks_are_arrays_of_bits(ctx, count):
    bits = np.arange(count) % 3 != 0
    memory = ctx.buffer_from_data(np.packbits(bits, bitorder="little"))
    mask = Bits(memory, count)
    array, buffer = DeviceArray(mask), ctx.buffer_from_object(mask)
    assert (array.bit_length, array.arrow_type) == (count, pa.bool_())
    assert array.to_arrow().copy_to("cpu").to_pylist() == bits.tolist()
    assert (buffer.size, array.size) == ((count + 7) // 8,) * 2
    if count:
        assert array.address == buffer.address == memory.address
        assert (array.is_mutable, buffer.is_mutable) == (False, False)


@pytest.mark.parametrize(
    "lies",
    [
        {"shape": (-1,)},
        {"shape": (2, 4)},
        {"shape": (4,), "strides": (1,)},
        {"shape": (100,)},
        {"shape": (2**63 - 1,)},
        {"typestr": "<t2"},
        {"typestr": "t"},
    ],
    ids=repr,
)
def test_masks_that_lie_raise(ctx, lies):
    memory = ctx.new_buffer(8)
    for take in (ctx.buffer_from_object, DeviceArray, numbas.as_cuda_array):
        with pytest.raises((ValueError, TypeError, OSError)):
            take(Bits(memory, 8, **lies))


GARBAGE = [
    "0x1234",
    "ctx.handle + 1",
    "ctx.handle + 8",
    "ctx.new_buffer(10).address",
    "ctypes.addressof(zeros)",
    "ctypes.addressof(ones)",
    "ctypes.addressof(itself)",
    "id(ctx)",
    "2**63",
    "2**64 - 8",
]


def test_handles_of_no_context(run_python):
    code, out, err = run_python(
        "import ctypes, sys\n"
        "from pyarrow import cuda\n"
        "ctx = cuda.Context(0)\n"
        "zeros = (ctypes.c_char * 65536)()\n"
        "ones = (ctypes.c_char * 65536)(*[255] * 65536)\n"
        "itself = (ctypes.c_uint64 * 8192)()\n"
        "itself[:] = [ctypes.addressof(itself)] * 8192\n"
        "for garbage in sys.argv[1:]:\n"
        "    print(garbage, flush=True)\n"
        "    try: print('no error:', cuda.Context(0, handle=eval(garbage)))\n"
        "    except OSError as error: assert 'Cuda error 201 in function' in str(error), error\n"
        "assert ctx.buffer_from_data(b'fine').to_pybytes() == b'fine'\n",
        *GARBAGE,
    )
    assert (out.splitlines(), code, err) == (GARBAGE, 0, "")
