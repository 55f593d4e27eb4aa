"""A SmartArray computes, changes and copies as an array of NumPy does."""

import copy
import ctypes
import pickle

import numpy as np
import pytest

from pyarrow_cuda_compat import SmartArray

VALUES = [1.0, 2.0, 3.0, 4.0]


def on_device(array):
    return array.get("gpu").copy_to_host().tolist()


CALLS = {
    "matmul": lambda a: a @ a.T,
    "operators": lambda a: -a + 2 * a**2 - 1 / (a + 1) // 2,
    "comparison": lambda a: (a == 3) | (a > [1, 2, 3]),
    "unequal": lambda a: a != a.copy(),
    "int": lambda a: int(a[1, 1]) + a[0, 1].item(),
    "index": lambda a: [*range(10)][a.astype(int)[1:, 1:2].reshape(())],
    "float": lambda a: float(a[0, 1]),
    "bool": lambda a: bool((a >= 0).all()),
    "contains": lambda a: 3 in a,
    "rows": lambda a: [row.tolist() for row in a],
    "str": str,
    "format": lambda a: f"{a[1, 2]:.2f}",
    "nbytes": lambda a: (a.nbytes, a.itemsize, a.flags.c_contiguous),
    "elements": lambda a: list(a.flat),
    # Changes of the array.
    "item": lambda a: a.__setitem__((0, 1), 9),
    "slice": lambda a: a.__setitem__(slice(None, None, -1), a[0]),
    "sort": lambda a: a[:, ::-1].sort(),
    "in place": lambda a: a.__iadd__(1),
    "out": lambda a: np.multiply(a, 3, out=a[...]),
    "at": lambda a: np.add.at(a, 0, 5),
    "real": lambda a: setattr(a, "real", 2),
    "flat": lambda a: setattr(a, "flat", [5, 6, 7]),
}


def plain(result):
    if isinstance(result, tuple):
        return [plain(each) for each in result]
    if isinstance(result, np.ndarray | SmartArray):
        return result.dtype, result.tolist()
    return result


@pytest.mark.parametrize("name", CALLS)
def test_it_computes_and_changes_as_numpys_does(name):
    host = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])
    array = SmartArray(host)
    array.get("gpu")
    result, expected = CALLS[name](array), CALLS[name](host)
    assert plain(result) == plain(expected)
    assert type(result) is (SmartArray if isinstance(expected, np.ndarray) else type(expected))
    assert array.get().tolist() == on_device(array) == host.tolist()


def test_numpy_gets_a_copy_of_its_own():
    array = SmartArray(VALUES)
    np.asarray(array)[:] = 0
    assert array.tolist() == VALUES
    assert np.asarray(array, "f4").dtype == "f4"
    view = np.array(array, copy=False)
    assert np.shares_memory(view, array.get())
    assert not view.flags.writeable
    with pytest.raises(ValueError, match="copy"):
        np.array(array, "f4", copy=False)


def test_attributes_that_it_does_not_have():
    array = SmartArray(VALUES)
    for name in ("no_such", "_private", "_numba_type_"):
        assert not hasattr(array, name)
    with pytest.raises(TypeError):
        hash(array)
    with pytest.raises(TypeError, match="unsized"):
        len(SmartArray(1))
    assert repr(array) == "SmartArray([1., 2., 3., 4.])"
    assert repr(array.reshape(2, 2)) == "SmartArray([[1., 2.],\n            [3., 4.]])"


def test_copies_and_pickles():
    array = SmartArray(VALUES)
    array.get("gpu").fill(5)
    array.mark_changed("gpu")
    part = array[1:]
    for made in (copy.copy(part), copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert made.tolist() == on_device(made) == [5] * 3
        made[0] = 0
    assert array.tolist() == [5] * 4


def test_what_is_written_by_other_ways_reaches_the_device():
    array = SmartArray([1, 2, 3, 4])
    whole = array.get("gpu")
    array.flat[0] = 7
    assert on_device(array) == [7, 2, 3, 4]
    array.data[1] = 8
    array[2:].flat[0] = 9
    assert on_device(array) == [7, 8, 9, 4]
    array.get("gpu").fill(5)
    array.mark_changed("gpu")
    ctypes.c_int64.from_address(array.ctypes.data).value = 6
    assert on_device(array) == [6, 5, 5, 5]
    assert array.get("gpu").address == whole.address


def test_it_is_formatted_as_numpys():
    assert f"{SmartArray(2.5):.2f}" == "2.50"
    assert f"{SmartArray([1, 2])}" == "[1 2]"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(SmartArray([1, 2]), ".1f")
