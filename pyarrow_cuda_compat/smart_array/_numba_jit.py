"""A `SmartArray` as an argument of functions that Numba has compiled for the host (``numba.jit``).

These functions see it as an array of the host.  If they return it, or a view of it, their caller
gets a SmartArray again.
"""

# The types that Numba states are not those of what it returns.
# mypy: ignore-errors

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.typing.typeof import typeof_impl
from numba.extending import NativeValue, box, models, register_model, unbox
from numba.np import numpy_support

from .._layouts import is_dense
from .._methods.numba.kernels import layout_of
from ._array import SmartArray


class SmartArrayType(types.Array):
    """The type of a SmartArray: an array of which views and results are SmartArrays, too."""

    def __init__(
        self, dtype: Any, ndim: int, layout: str, readonly: bool = False, aligned: bool = True
    ) -> None:
        name = f"SmartArray({dtype}, {ndim}d, {layout}, {readonly=}, {aligned=})"
        super().__init__(dtype, ndim, layout, readonly, name, aligned)

    @property
    def as_array(self) -> types.Array:
        return super().copy()

    def copy(
        self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None
    ) -> SmartArrayType:
        plain = super().copy(dtype, ndim, layout, readonly)
        return SmartArrayType(
            plain.dtype, plain.ndim, plain.layout, not plain.mutable, plain.aligned
        )

    def __array_ufunc__(self, *_arguments: Any, **_options: Any) -> type[SmartArrayType]:
        return SmartArrayType


register_model(SmartArrayType)(models.ArrayModel)


@typeof_impl.register(SmartArray)
def _type_of(array: SmartArray, _context: object) -> SmartArrayType:
    in_c, in_f = (is_dense(array.shape, array.strides, array.itemsize, order) for order in "CF")
    dtype = numpy_support.from_dtype(array.dtype)
    flags = array.get().flags  # of the array that `_lend` lends next
    return SmartArrayType(
        dtype, array.ndim, layout_of(in_c, in_f), not flags.writeable, flags.aligned
    )


class _Lent(np.ndarray[Any, Any]):
    """The array of the host while a compiled function has it: it knows the SmartArray."""

    smart: SmartArray | None = None


def _lend(array: SmartArray) -> _Lent:
    lent: _Lent = array.get().view(_Lent)
    lent.smart = array
    return lent


def _take_back(array: SmartArray) -> None:
    array.mark_changed()


def _returned(result: np.ndarray[Any, Any], source: Any) -> SmartArray:
    """The SmartArray for an array that a function returns, and that it has made from `source`."""
    smart = getattr(source, "smart", None)
    if smart is None:
        return SmartArray(result, copy=False)
    returned: SmartArray = smart if result is source else smart._wrapped(np.asarray(result))
    return returned


@unbox(SmartArrayType)
def _unbox(kind: SmartArrayType, obj: Any, c: Any) -> NativeValue:
    value = cgutils.alloca_once(c.builder, c.context.get_value_type(kind))
    is_error = cgutils.alloca_once_value(c.builder, cgutils.true_bit)
    lent = _call(c, _lend, obj)
    with c.builder.if_then(cgutils.is_not_null(c.builder, lent)):
        native = c.unbox(kind.as_array, lent)  # which retains the array
        c.builder.store(native.value, value)
        c.builder.store(native.is_error, is_error)
        c.pyapi.decref(lent)

    def take_back() -> None:
        done = _call(c, _take_back, obj)
        with c.builder.if_else(cgutils.is_null(c.builder, done)) as (has_failed, has_succeeded):
            with has_failed:
                c.pyapi.err_write_unraisable(obj)
            with has_succeeded:
                c.pyapi.decref(done)

    return NativeValue(c.builder.load(value), c.builder.load(is_error), take_back)


@box(SmartArrayType)
def _box(kind: SmartArrayType, value: Any, c: Any) -> Any:
    source = c.context.make_array(kind)(c.context, c.builder, value=value).parent
    has_source = cgutils.is_not_null(c.builder, source)
    source = c.builder.select(has_source, source, c.pyapi.borrow_none())
    c.pyapi.incref(source)
    array = c.box(kind.as_array, value)  # which releases the value, and so may release the source
    result = _call(c, _returned, array, source)
    c.pyapi.decref(array)
    c.pyapi.decref(source)
    return result


def _call(c: Any, function: Any, *arguments: Any) -> Any:
    """Code that calls one of the functions above; null when it raises."""
    callee = c.pyapi.unserialize(c.pyapi.serialize_object(function))
    result = c.pyapi.call_function_objargs(callee, arguments)
    c.pyapi.decref(callee)
    return result
