"""NumPy's functions and methods do with a SmartArray what they do with an ndarray."""

import itertools
import warnings

import numpy as np
import pytest

from pyarrow_cuda_compat import SmartArray

#: Functions for files, for the whole process, or for memory that nobody has written to.
APART = set(
    """
    test info load loadtxt genfromtxt fromfile fromregex save savetxt savez savez_compressed
    show_config show_runtime seterr seterrcall setbufsize set_printoptions empty empty_like tofile
    dump
    """.split()  # noqa: SIM905
)
#: Functions that answer otherwise, as docs/numba.md says, with the text of the error.
DIFFERENT = {
    "numpy.bmat": (np.bmat, None, None),  # it leaves out objects of other classes than NumPy's
    "numpy.frombuffer": (np.frombuffer, TypeError, "bytes-like object"),
    "numpy.from_dlpack": (np.from_dlpack, RuntimeError, "device"),  # it is on a GPU
    "resize": (lambda a: a.resize(2), AttributeError, r"get\(\) returns an array that has"),
    "setflags": (lambda a: a.setflags(), AttributeError, r"get\(\) returns an array that has"),
    "memoryview": (memoryview, TypeError, "bytes-like object"),
    "interface": (lambda a: a.__array_interface__, AttributeError, r"get\(\) returns"),
    "shape": (lambda a: setattr(a, "shape", (4,)), AttributeError, "shape"),
    "dtype": (lambda a: setattr(a, "dtype", "i8"), AttributeError, "dtype"),
}


def numpys():
    for module in (np, np.linalg, np.fft):
        for name in set(module.__all__) - APART:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type):
                yield f"{module.__name__}.{name}", function
    for name in set(dir(np.ndarray)) - APART:
        if callable(getattr(np.ndarray, name)) and not name.startswith("__"):
            yield name, lambda array, *rest, name=name, **more: getattr(array, name)(*rest, **more)


FUNCTIONS = dict(sorted(numpys()))


def arguments(make=np.array):
    values = [make([[3.0, np.nan, 2.0], [0.0, 5.0, 4.0]]), make([2, 0, 1])]
    return [*values, make([[True, False, True], [False, True, True]]), 0, "f4", (3, 2), [values[0]]]


def on_device(values):
    return SmartArray(np.array(values), where="gpu")


def outcome(function, values, places, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        named = {name: values[at] for name, at in options.items()}
        result = function(*(values[at] for at in places), **named)
    return plain(result), named.get("out") is result, [plain(each) for each in values[:3]]


def plain(result):
    if isinstance(result, tuple | list):
        return type(result), [plain(each) for each in result]
    if isinstance(result, SmartArray):
        result = result.get("gpu").copy_to_host()
    if isinstance(result, np.ndarray):
        return result.dtype, result.shape, repr(result.tolist())
    return type(result), None if callable(result) else str(result)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in DIFFERENT])
def test_what_numpy_computes_and_changes(name):
    function = FUNCTIONS[name]
    lists = [places for n in (1, 2, 3) for places in itertools.product(range(7), repeat=n)]
    for places, options in itertools.product(lists, ({}, {"out": 0}, {"where": 2, "out": 0})):
        if not {0, 1, 2, 6} & set(places) or (not name.startswith("numpy") and places[0] > 2):
            continue
        try:
            expected = outcome(function, arguments(), places, options)
        except Exception:
            continue
        assert outcome(function, arguments(on_device), places, options) == expected, places


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_it_cannot_be_taken_for(name):
    call, error, text = DIFFERENT[name]
    array = on_device([[1.0, 2.0], [3.0, 4.0]])
    if error is None:
        assert call(array) is None
        return
    with pytest.raises(error, match=text):
        call(array)


OTHERS = {
    "where": lambda a: a.sum(where=a > 2),
    "a text": lambda a: (a == "x", a != "x", a.__eq__(None)),
    "a text in it": lambda a: "x" in a,
    "overlap": lambda a: (np.shares_memory(a, a[:1]), np.shares_memory(a[0], a[1])),
    "quantile": lambda a: np.median(a, axis=0, overwrite_input=True),
    "view of a function": lambda a: np.reshape(a, 6).__setitem__(1, 9),
    "part of a list": lambda a: np.array_split(a, 2)[1].__setitem__(0, 9),
    "named": lambda a: np.linalg.svd(a).S,
    "masked": lambda a: a + np.ma.masked_equal([[3, 1, 2]], 1),
    "mask in key": lambda a: a.__setitem__((a > 2, ...), 7),
    "record": lambda a: a.view([("x", "f8")])[0, 0].__setitem__("x", 9),
    "other containers": lambda a: np.concatenate([*a]),
    "like": lambda a: np.asarray([1], like=a),
    "read-only": lambda a: [
        each.flags.writeable for each in (np.broadcast_to(a[0], (3, 3)), a.diagonal())
    ],
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_ways_to_call_numpy(name):
    expected, result = (
        outcome(OTHERS[name], [make([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]])], [0], {})
        for make in (np.array, on_device)
    )
    assert result == expected


def test_it_is_true_if_it_is_not_empty_as_numbas():
    arrays = [[0], [0, 0], [[]], np.empty((0, 3)), 0, 2]
    assert [bool(SmartArray(each)) for each in arrays] == [True, True, True, False, False, True]


def test_a_function_that_fails_may_have_written():
    host = np.zeros(3)
    array = SmartArray(host, copy=False)
    array.get("gpu")
    with pytest.raises(ZeroDivisionError):
        np.piecewise(array, [array == 0], [lambda _: host.fill(5) or 1 / 0])
    assert array.get("gpu").copy_to_host().tolist() == [5] * 3


def test_no_element_travels_for_what_only_describes():
    array = on_device([1.0, 2.0])
    assert np.shape(array) == np.zeros_like(array).shape == (2,)
    assert (np.ndim(array), np.size(array)) == (1, 2)
    array.get("gpu").fill(7)
    array.mark_changed("gpu")
    assert np.shares_memory(array, np.expand_dims(array, 0))
    assert array.tolist() == [7, 7]
