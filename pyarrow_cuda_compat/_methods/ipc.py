"""Device arrays for other processes: their pickles, and handles by which they are shared."""

from __future__ import annotations

import ast
import json
from operator import index
from typing import Any, SupportsIndex

import pyarrow as pa

from .. import _native
from .._native import Context, DeviceArray, IpcMemHandle
from .arrow import lies_permuted
from .pickling import restores


def reduce_device_array(array: DeviceArray, _protocol: Any) -> tuple[Any, ...]:
    """A `DeviceArray` for `pickle`.  Elements with gaps between them travel without the gaps."""
    if array.null_count or lies_permuted(array):
        return DeviceArray.from_arrow, (array.to_arrow(),)
    is_kept = array.is_c_contiguous() or (array.is_f_contiguous() and array.arrow_type is None)
    dense = array if is_kept else array.copy()
    if array.arrow_type is not None:
        kind, bits = array.arrow_type, _bits_of(dense)
        return _restore_typed, (kind, dense.buffer, dense.dtype, dense.shape, bits)
    return DeviceArray, (dense.buffer, dense.dtype, dense.shape, dense.strides)


@restores
def _restore_typed(
    kind: Any, buffer: Any, dtype: Any, shape: tuple[int, ...], bits: Any
) -> DeviceArray:
    """An array with an Arrow type, from a pickle."""
    return _native._with_arrow_type(DeviceArray(buffer, dtype, shape), kind, bits)


def _bits_of(array: DeviceArray) -> tuple[int, int] | None:
    """Where the bits of a bitmap begin, and how many they are."""
    return None if array.bit_length is None else (array.bit_offset, array.bit_length)


def export_array(self: DeviceArray) -> IpcArrayHandle:
    """Share the array with other processes.

    Returns
    -------
    handle : IpcArrayHandle
        Names the memory, and carries the dtype, the shape and the strides.  Other
        processes on this machine open it, while this one runs.

    Raises
    ------
    ValueError
        If the array has nulls; `values` and `validity` can be exported.

    Notes
    -----
    The memory stays allocated until this process ends, as that of
    `CudaBuffer.export_for_ipc`.

    Examples
    --------
    >>> handle = DeviceArray.from_host([[1, 2], [3, 4]])[:, 1].export_for_ipc()
    >>> handle.shape, handle.strides
    ((2,), (16,))
    """
    if self.null_count:
        length = self.size if self.bit_length is None else self.bit_length
        raise ValueError(
            f"the array has nulls ({self.null_count} of {length}), which a handle does not carry: "
            "export .values and .validity"
        )
    buffer = self.buffer
    return IpcArrayHandle(
        buffer.export_for_ipc(),
        self.dtype,
        self.shape,
        self.strides,
        offset=self.address - buffer.address,
        device_number=self.context.device_number,
        arrow_type=self.arrow_type,
        bits=_bits_of(self),
        is_mutable=self.is_mutable,
    )


#: The exceptions of reading a header that something else has written.
_OF_DAMAGE = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    SyntaxError,
    RecursionError,
    OSError,
    NotImplementedError,
)


class IpcArrayHandle:
    """Identifies a device array of one process to another on the same machine.

    Get one from `DeviceArray.export_for_ipc`, from a pickle, or from a serialized handle.  It
    does not own the memory, which stays valid until the process that exported it ends.

    Parameters
    ----------
    memory : IpcMemHandle
        The memory that the elements span.
    dtype : numpy.dtype
        The type of the elements.
    shape : tuple of int
        The number of elements in each dimension.
    strides : tuple of int
        The distance between neighbours in each dimension, in bytes.
    offset : int
        Where in the memory the first element begins, in bytes.
    device_number : int
        The device of the memory.
    arrow_type : pyarrow.DataType, optional
        What Arrow calls the elements.
    bits : tuple of int, optional
        Of a bitmap: where in its first byte the first bit is, and the number of bits.
    is_mutable : bool, default True
        Whether the elements may be changed through the array that is opened.

    Examples
    --------
    >>> handle = DeviceArray.from_host([1.5, 2.5]).export_for_ipc()
    >>> handle
    <pyarrow_cuda_compat.IpcArrayHandle dtype=float64 shape=(2,)>
    """

    __module__ = "pyarrow_cuda_compat"
    __slots__ = (
        "_memory",
        "arrow_type",
        "bits",
        "device_number",
        "dtype",
        "is_mutable",
        "offset",
        "shape",
        "strides",
    )

    def __init__(
        self,
        memory: IpcMemHandle,
        dtype: Any,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        *,
        offset: int,
        device_number: int,
        arrow_type: pa.DataType | None = None,
        bits: tuple[int, int] | None = None,
        is_mutable: bool = True,
    ) -> None:
        self._memory = memory
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.device_number = device_number
        self.arrow_type = arrow_type
        self.bits = bits
        self.is_mutable = is_mutable

    def open(self, context: Context | SupportsIndex | None = None) -> DeviceArray:
        """Map the array of the other process.

        Parameters
        ----------
        context : Context, int or str, optional
            A context of the memory's device, or its number or name; that device's primary
            one if not given.

        Returns
        -------
        DeviceArray
            The other process's memory, unmapped with the last array over it.  It is read-only if
            the exported array was.

        Raises
        ------
        OSError
            If the memory cannot be mapped, for example in the process that exported it.

        Examples
        --------
        >>> import pickle, subprocess, sys
        >>> array = DeviceArray.from_host([[1, 2], [3, 4]])
        >>> handle = pickle.dumps(array[:, 1].export_for_ipc())
        >>> script = "import pickle, sys; print(pickle.load(sys.stdin.buffer).open()[0].item())"
        >>> subprocess.check_output([sys.executable, "-c", script], input=handle)
        b'2\\n'
        """
        context = Context(self.device_number) if context is None else _native._context(context)
        buffer = context.open_ipc_buffer(self._memory)
        if not self.is_mutable:
            buffer = _native._read_only(buffer)
        array = DeviceArray(buffer, self.dtype, self.shape, self.strides, offset=self.offset)
        if self.arrow_type is None:
            return array
        return _native._with_arrow_type(array, self.arrow_type, self.bits)

    def serialize(self) -> pa.Buffer:
        """Write the handle to a buffer, to send it to another process.

        Returns
        -------
        pyarrow.Buffer
            The length of a header in JSON as four bytes, lowest first, the header, and the
            serialized `IpcMemHandle`.

        Examples
        --------
        >>> sent = DeviceArray.empty((2, 3)).export_for_ipc().serialize()
        >>> IpcArrayHandle.from_buffer(sent).shape
        (2, 3)
        """
        from numpy.lib.format import dtype_to_descr  # not with the package: it has to load quickly

        kind = self.arrow_type
        typed = None if kind is None else pa.schema([("", kind)]).serialize().to_pybytes().hex()
        header = json.dumps(
            {
                "dtype": repr(dtype_to_descr(self.dtype)),
                "shape": self.shape,
                "strides": self.strides,
                "offset": self.offset,
                "device_number": self.device_number,
                "arrow_type": typed,
                "bits": self.bits,
                "is_mutable": self.is_mutable,
            }
        ).encode()
        memory = self._memory.serialize().to_pybytes()
        handle: pa.Buffer = pa.py_buffer(len(header).to_bytes(4, "little") + header + memory)
        return handle

    @staticmethod
    def from_buffer(buf: pa.Buffer) -> IpcArrayHandle:
        """Read a handle that another process has serialized.

        Parameters
        ----------
        buf : pyarrow.Buffer
            The result of `serialize`.

        Returns
        -------
        IpcArrayHandle

        Raises
        ------
        pyarrow.ArrowInvalid
            If the bytes are not a handle.

        Examples
        --------
        >>> handle = DeviceArray.empty(3, "<i2").export_for_ipc()
        >>> IpcArrayHandle.from_buffer(handle.serialize()).dtype
        dtype('int16')
        """
        from numpy.lib.format import descr_to_dtype

        data = pa.py_buffer(buf).to_pybytes()
        end = 4 + int.from_bytes(data[:4], "little")
        try:
            header = json.loads(data[4:end])
            dtype = descr_to_dtype(ast.literal_eval(header["dtype"]))
            shape, strides = (tuple(map(index, header[name])) for name in ("shape", "strides"))
            offset, number = index(header["offset"]), index(header["device_number"])
            kind, bits = header["arrow_type"], header["bits"]
            if kind is not None:
                kind = pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(kind))).field(0).type
            if bits is not None:
                first, count = map(index, bits)
                bits = first, count
            is_mutable = header["is_mutable"]
            if not isinstance(is_mutable, bool):
                raise TypeError
        except _OF_DAMAGE:
            raise pa.ArrowInvalid("the bytes are not the handle of a device array") from None
        memory = IpcMemHandle.from_buffer(pa.py_buffer(data[end:]))
        return IpcArrayHandle(
            memory,
            dtype,
            shape,
            strides,
            offset=offset,
            device_number=number,
            arrow_type=kind,
            bits=bits,
            is_mutable=is_mutable,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return IpcArrayHandle.from_buffer, (self.serialize().to_pybytes(),)

    def __repr__(self) -> str:
        return f"<pyarrow_cuda_compat.IpcArrayHandle dtype={self.dtype} shape={self.shape}>"
