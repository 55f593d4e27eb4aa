"""`SmartArray`: an array that moves between the host and the device by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from math import prod
from typing import Any

import numpy as np

from .. import _layouts as layouts
from .._native import DeviceArray
from ._coherent import GPU, HOST, CoherentArray
from ._construction import is_for_devices, new, of_object
from ._view import View

#: Attributes, methods and functions that return views, for which no element is read.
_VIEWING = {"T", "diagonal", "imag", "mT", "ravel", "real", "reshape", "squeeze", "swapaxes"}
_VIEWING |= {"transpose", "view", "broadcast_to", "expand_dims", "flip", "moveaxis"}
#: Functions that read no element.
_DESCRIBING = {"ndim", "shape", "size", "may_share_memory", "shares_memory"}
_DESCRIBING |= {"empty_like", "zeros_like"}
#: Attributes that give access to the memory of the host, for writing too.
_LENDING = {"ctypes", "data", "flat"}
#: Methods that would move the memory of a side, or make it read-only.
_REFUSED = {"resize", "setflags"}


class _ArgHint:
    """Holds Numba's place among the bases of `SmartArray` until Numba is imported."""


class SmartArray(_ArgHint, np.lib.mixins.NDArrayOperatorsMixin):
    """An array whose data is on the host or on the device, wherever it was needed last.

    It works like a NumPy array: indexing, operators, NumPy's functions, and the attributes and
    methods of ``numpy.ndarray``.  Arrays that result from these are SmartArrays, too.  Views share
    their data with the array that they were taken from.  As Numba's, it is true if it is not empty.

    Functions that Numba has compiled take it for the host (``numba.jit``) and for the device
    (``numba.cuda.jit``).  A kernel finds the data on the device, and leaves it there: it is copied
    only if it has changed on the other side, and only when that is asked for.

    Parameters
    ----------
    obj : array_like, optional
        The data: anything that ``numpy.asarray`` takes, or an array on a device.
    copy : bool, default True
        Whether to copy `obj`, or to adopt its memory as this array's on the host (on the device,
        for an array that lies there) where dtype and order allow that.
    shape : int or tuple of int, optional
        The number of elements in each dimension, without `obj`.
    dtype : numpy.dtype, optional
        The type of the elements; with `obj` by default its own.
    order : {'C', 'F'}, optional
        Whether the last or the first dimension is the densest; with `obj` by default its own.
    where : {'host', 'gpu'}, default 'host'
        Where to allocate the array, or to copy `obj` to.

    Raises
    ------
    ValueError
        If `where` is neither, or `shape` is not that of `obj`; if `obj` is an array of Arrow with
        nulls.
    AssertionError
        Without `obj`, if `shape` or `dtype` is missing.
    TypeError
        If the elements are objects or strings.

    Notes
    -----
    The class does not notice writes to an array that `get` has returned: call `mark_changed`
    afterwards.  Assignments to this array, its methods and compiled functions do so by themselves.

    Several threads may use it.  The program has to order kernels on streams of different threads.

    Over device memory that is read-only, the array on the host is read-only as well.

    ``numpy.nditer`` iterates over a copy, even with ``op_flags`` that write.  To write, pass it
    ``get()``, and call `mark_changed` afterwards.

    Examples
    --------
    >>> array = SmartArray(np.arange(4.0))
    >>> array.get("gpu").fill(2.5)  # or a kernel, which marks the array by itself
    >>> array.mark_changed("gpu")
    >>> array[1:] * 2
    SmartArray([5., 5., 5.])
    """

    __module__ = "pyarrow_cuda_compat"

    _sides: CoherentArray
    _view: View | None = None

    def __init__(
        self,
        obj: Any = None,
        copy: bool = True,
        shape: Any = None,
        dtype: Any = None,
        order: str | None = None,
        where: str = HOST,
    ) -> None:
        _check_target(where)
        if obj is None:
            if shape is None or dtype is None:
                raise AssertionError("a SmartArray needs an object, or a shape and a dtype")
            self._sides = new(shape, dtype, order or "C", where)
            return
        if isinstance(obj, SmartArray):
            obj = obj.get(where)
        self._sides = of_object(obj, copy, dtype, order, where)
        if shape is not None and layouts.lengths(shape) != self.shape:
            raise ValueError(f"the object has shape {self.shape}, not {shape}")

    @classmethod
    def _over(cls, sides: CoherentArray, view: View | None = None) -> SmartArray:
        made = cls.__new__(cls)
        made._sides = sides
        made._view = view
        return made

    # --- the two sides ---------------------------------------------------------------------------

    def get(self, where: str = HOST) -> Any:
        """Return the data on one side, up to date.

        Parameters
        ----------
        where : {'host', 'gpu'}, default 'host'
            The side, which is allocated if it does not exist yet.

        Returns
        -------
        numpy.ndarray or DeviceArray
            The memory of that side itself.

        Raises
        ------
        ValueError
            If `where` is another one, or the array has gaps and so cannot be copied to the device.

        Examples
        --------
        >>> array = SmartArray([1, 2, 3])
        >>> array.get("gpu").copy_to_host()
        array([1, 2, 3])
        """
        _check_target(where)
        whole = self._sides.get(where)
        if where == GPU:
            return self._part_on_device(whole)
        return whole if self._view is None else self._view.on_host(whole)

    def _part_on_device(self, whole: DeviceArray) -> DeviceArray:
        return whole if self._view is None else self._view.on_device(whole)

    def _lent_on_device(self) -> DeviceArray:
        """The data on the device, for somebody who may write to it."""
        return self._part_on_device(self._sides.lend_device())

    def mark_changed(self, where: str = HOST) -> None:
        """Say that the data was changed on one side.

        The other side is then stale, and copied when it is asked for.  It is copied at once if
        somebody else refers to it, so that an array that `get` has returned shows what a kernel has
        computed.

        Parameters
        ----------
        where : {'host', 'gpu'}, default 'host'
            The side.

        Raises
        ------
        ValueError
            If `where` is another one.

        Examples
        --------
        >>> array = SmartArray([1, 2, 3])
        >>> array.get()[0] = 7
        >>> array.mark_changed()
        >>> array.get("gpu").copy_to_host()
        array([7, 2, 3])
        """
        _check_target(where)
        self._sides.changed(where)

    def host(self) -> Any:
        """Return the data on the host: ``get("host")``.

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> SmartArray([1, 2, 3]).host()
        array([1, 2, 3])
        """
        return self.get(HOST)

    def gpu(self) -> Any:
        """Return the data on the device: ``get("gpu")``.

        Returns
        -------
        DeviceArray

        Examples
        --------
        >>> SmartArray([1, 2, 3]).gpu().copy_to_host()
        array([1, 2, 3])
        """
        return self.get(GPU)

    def host_changed(self) -> None:
        """Say that the data was changed on the host: ``mark_changed("host")``.

        Examples
        --------
        >>> array = SmartArray([1, 2, 3])
        >>> array.host()[0] = 7
        >>> array.host_changed()
        """
        self.mark_changed(HOST)

    def gpu_changed(self) -> None:
        """Say that the data was changed on the device: ``mark_changed("gpu")``.

        Examples
        --------
        >>> array = SmartArray([1, 2, 3])
        >>> array.gpu().fill(7)
        >>> array.gpu_changed()
        >>> array
        SmartArray([7, 7, 7])
        """
        self.mark_changed(GPU)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The data on the device, for other libraries, which may change it."""
        interface: dict[str, Any] = self._lent_on_device().__cuda_array_interface__
        return interface

    def __dlpack__(self, **options: Any) -> Any:
        return self._lent_on_device().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.get(GPU).__dlpack_device__()  # type: ignore[no-any-return]

    # --- what it is, which needs no data ---------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements in each dimension.

        Examples
        --------
        >>> SmartArray([[1, 2, 3]]).shape
        (1, 3)
        """
        return (self._view or self._sides).shape

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance between neighbours in each dimension, in bytes.

        Examples
        --------
        >>> SmartArray([[1, 2, 3]]).T.strides
        (8, 24)
        """
        return (self._view or self._sides).strides

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements.

        Examples
        --------
        >>> SmartArray([1, 2, 3]).dtype
        dtype('int64')
        """
        return (self._view or self._sides).dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions.

        Examples
        --------
        >>> SmartArray([[1, 2, 3]]).ndim
        2
        """
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements.

        Examples
        --------
        >>> SmartArray([[1, 2, 3]]).size
        3
        """
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The size of an element, in bytes.

        Examples
        --------
        >>> SmartArray([1, 2, 3]).itemsize
        8
        """
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements together, in bytes.

        Examples
        --------
        >>> SmartArray([1, 2, 3]).nbytes
        24
        """
        return self.size * self.itemsize

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # --- an array of NumPy -----------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """A copy for NumPy; with ``copy=False`` the memory itself, read-only."""
        host = self.get(HOST)
        if copy is not False:
            return np.array(host, dtype)
        view: np.ndarray[Any, Any] = np.array(host, dtype, copy=False).view()
        view.flags.writeable = False
        return view

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return _call(getattr(ufunc, method), inputs, options)

    def __array_function__(
        self, function: Any, _types: Any, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        name = function.__name__
        if name in _DESCRIBING:
            given, named = (_on_host(each, of=_memory) for each in (arguments, options))
            return _wrapped(function(*given, **named), [])
        if name in _VIEWING and arguments and arguments[0] is self:
            return self._view_or(True, lambda host: function(host, *arguments[1:], **options))
        return _call(function, arguments, options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in _REFUSED or not hasattr(np.ndarray, name):
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            is_numpys = hasattr(np.ndarray, name)
            raise AttributeError(text + (": get() returns an array that has" if is_numpys else ""))
        if callable(getattr(np.ndarray, name)):
            return self._method(name)
        result = self._view_or(name in _VIEWING, lambda host: getattr(host, name))
        if name in _LENDING:
            self._sides.may_change_on_host()
        return result

    def _method(self, name: str) -> Callable[..., Any]:
        function = getattr(np.ndarray, name)

        @wraps(function)
        def method(*arguments: Any, **options: Any) -> Any:
            if name in _VIEWING:
                return self._view_or(True, lambda host: function(host, *arguments, **options))
            return _call(function, (self, *arguments), options)

        return method

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("flat", "imag", "real"):
            setattr(self.get(HOST), name, value)
            self.mark_changed(HOST)
        else:
            object.__setattr__(self, name, value)

    def __getitem__(self, key: Any) -> Any:
        if layouts.is_basic(key):
            return self._view_or(True, lambda host: host[key])
        return _call(np.ndarray.__getitem__, (self, key), {})

    def __setitem__(self, key: Any, value: Any) -> None:
        _call(np.ndarray.__setitem__, (self, key, value), {})

    # The ufuncs that compare refuse other objects, such as strings.
    def __eq__(self, other: object) -> Any:
        return _call(np.ndarray.__eq__, (self, other), {})

    def __ne__(self, other: object) -> Any:
        return _call(np.ndarray.__ne__, (self, other), {})

    def __iter__(self) -> Iterator[Any]:
        return map(self._wrapped, self.get(HOST))

    def __contains__(self, value: object) -> bool:
        return _call(np.ndarray.__contains__, (self, value), {})  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        """Whether it has elements, as in Numba; the truth of the element without dimensions."""
        return self.shape[0] > 0 if self.shape else bool(self.get(HOST))

    def __int__(self) -> int:
        return int(self.get(HOST))

    def __index__(self) -> int:
        return self.get(HOST).__index__()  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return float(self.get(HOST))

    def __complex__(self) -> complex:
        return complex(self.get(HOST))

    def __str__(self) -> str:
        return str(self.get(HOST))

    def __format__(self, spec: str) -> str:
        return format(self.get(HOST), spec)

    def __repr__(self) -> str:
        text = repr(self.get(HOST)).removeprefix("array")
        return "SmartArray" + text.replace("\n", "\n     ")  # which is that much longer

    def __reduce__(self) -> tuple[Any, ...]:
        return SmartArray, (self.get(HOST),)

    def __copy__(self) -> SmartArray:
        return SmartArray(self)

    def __deepcopy__(self, _memo: object) -> SmartArray:
        return SmartArray(self)

    def _view_or(self, may_be_view: bool, function: Callable[[np.ndarray[Any, Any]], Any]) -> Any:
        """What a function makes of the host's array, which need not be up to date for a view."""
        if may_be_view:
            view = function(_memory(self))
            if isinstance(view, np.ndarray) and self._shares(view):
                return self._wrapped(view)
        return self._wrapped(function(self.get(HOST)))

    def _shares(self, array: np.ndarray[Any, Any]) -> bool:
        return np.may_share_memory(array, self._sides.host_memory())

    def _wrapped(self, result: Any) -> Any:
        return _wrapped(result, [(self, None)])

    def _view_over(self, array: np.ndarray[Any, Any]) -> SmartArray:
        whole = self._sides.host_memory()
        if array is whole:
            return self._over(self._sides)
        offset = layouts.address_of(array) - layouts.address_of(whole)
        is_writable = array.flags.writeable or not whole.flags.writeable
        return self._over(self._sides, View(offset, array, is_writable))


def _check_target(where: str) -> None:
    if where not in (HOST, GPU):
        raise ValueError(f'"{where}" is not a valid target')


def _memory(array: SmartArray) -> np.ndarray[Any, Any]:
    """The array of the host, which may be stale."""
    memory = array._sides.host_memory()
    return memory if array._view is None else array._view.on_host(memory)


def _on_host(value: Any, lent: Any = None, of: Any = SmartArray.get) -> Any:
    """Arrays of the host in the place of SmartArrays, also of those in lists; `lent` notes both."""
    if isinstance(value, SmartArray):
        host = of(value)
        if lent is not None:
            lent.append((value, host))
        return host
    if type(value) is dict:
        return {name: _on_host(each, lent, of) for name, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_on_host(each, lent, of) for each in value)
    return value


def _call(function: Callable[..., Any], arguments: Any, options: dict[str, Any]) -> Any:
    """Call a function of NumPy with arrays of the host in the place of SmartArrays.

    Those that it has changed are marked: the outputs, and all of them if it returns nothing or
    fails, because it works in place then, or may have overwritten what it takes quantiles of.
    """
    lent: list[tuple[SmartArray, np.ndarray[Any, Any]]] = []
    given, named = _on_host(arguments, lent), _on_host(options, lent)
    if not lent:  # they are in another container, where NumPy finds them
        function = getattr(function, "_implementation", function)
    result, outputs = None, named.get("out")
    try:
        result = function(*given, **named)
    finally:
        is_any = result is None or function.__name__.endswith(("median", "percentile", "quantile"))
        written = [id(each) for some in (result, outputs) for each in _several(some)]
        for array, host in lent:
            if is_any or id(host) in written:
                array.mark_changed(HOST)
    return _wrapped(result, lent)


def _several(results: Any) -> Any:
    return results if isinstance(results, tuple) else (results,)


def _wrapped(result: Any, lent: list[tuple[SmartArray, Any]]) -> Any:
    """A result from NumPy: an array as a SmartArray, and everything else as it is."""
    if isinstance(result, (tuple, list)):
        is_tuple = isinstance(result, tuple)
        results = (
            _wrapped(e, lent) if is_tuple or isinstance(e, np.ndarray) else e for e in result
        )
        return getattr(result, "_make", type(result))(results)
    if not isinstance(result, (np.ndarray, np.void)):
        return result
    for array, host in lent:
        if host is result:
            return array
    sources = [array for array, _ in lent if isinstance(result, np.void) or array._shares(result)]
    if type(result) is not np.ndarray or not is_for_devices(result.dtype):
        for source in sources:
            source._sides.may_change_on_host()
        return result
    if sources:
        return sources[0]._view_over(result)
    has_gaps = not (result.flags.c_contiguous or result.flags.f_contiguous)
    return SmartArray(result, copy=has_gaps)
