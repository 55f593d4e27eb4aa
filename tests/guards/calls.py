"""The calls of each entry: every parameter that takes data, with data of each kind."""

import enum
import inspect
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .recipes import SPECIAL, arguments_for, objects_of, of_host, plain
from .values import Place
from .walk import Entry

_HOST = Place(False)

#: What Python's own syntax and functions call.
_BY_PYTHON: dict[str, Callable[[Any], Any]] = {
    "__getitem__": lambda value: value[0],
    "__iter__": iter,
    "__len__": len,
    "__eq__": lambda value: value == value,
    "__repr__": repr,
    "__str__": str,
    "__bool__": bool,
    "__contains__": lambda value: 1 in value,
    "__next__": next,
    "__add__": lambda value: value + value,
    "__neg__": operator.neg,
    "__abs__": operator.abs,
    "__enter__": lambda value: value.__enter__(),
}


@dataclass
class Call:
    """One call of an entry, which can be made with its data at any place."""

    entry: Entry
    #: Which argument lies there, and what it is.
    what: str
    make: Callable[[Place], Any]

    def __str__(self) -> str:
        if self.entry.module == "typical":
            return f"typical:{self.what}"
        return f"{self.entry}({self.what})"


def calls_of(entry: Entry) -> list[Call]:
    """All calls that are made of an entry, which may be none."""
    special = SPECIAL.get(str(entry))
    if special is not None:
        found = entry.found()
        return [
            Call(entry, what, lambda place, make=make: found(*make(place)))
            for what, make in special.items()
        ]
    return list({"property": _reads, "method": _of_objects}.get(entry.kind, _of_functions)(entry))


def _reads(entry: Entry) -> Iterator[Call]:
    for what, make in _objects(entry).items():
        yield Call(entry, what, lambda place, make=make: getattr(make(place), entry.name))


def _objects(entry: Entry, of_all_types: bool = False) -> dict[str, Callable[[Place], Any]]:
    import importlib

    return objects_of(getattr(importlib.import_module(entry.module), entry.owner), of_all_types)


def _of_objects(entry: Entry) -> Iterator[Call]:
    objects = _objects(entry)
    parameters = entry.parameters()
    for what, make in objects.items():
        by_python = _BY_PYTHON.get(entry.name)
        if by_python is not None:
            yield Call(entry, what, _applied(by_python, make))
            continue

        def call(place: Place, make: Callable[[Place], Any] = make) -> Any:
            value = make(place)
            return value, _with(getattr(value, entry.name), parameters, {})

        yield Call(entry, what, call)
    for what, make in list(objects.items())[:9]:
        for name, kind, argument in _tried(parameters):

            def call(
                place: Place,
                make: Callable[[Place], Any] = make,
                name: str = name,
                argument: Callable[[Place], Any] = argument,
            ) -> Any:
                value = make(_HOST)
                return value, _with(getattr(value, entry.name), parameters, {name: argument(place)})

            yield Call(entry, f"host {what}, {name}={kind}", call)


def _applied(
    function: Callable[[Any], Any], make: Callable[[Place], Any]
) -> Callable[[Place], Any]:
    return lambda place: function(make(place))


def _of_functions(entry: Entry) -> Iterator[Call]:
    parameters = entry.parameters()
    found = entry.found()
    for name, kind, argument in _tried(parameters):

        def call(
            place: Place, name: str = name, argument: Callable[[Place], Any] = argument
        ) -> Any:
            return _with(found, parameters, {name: argument(place)})

        yield Call(entry, f"{name}={kind}", call)
    if not parameters:
        for kind, argument in arguments_for("data").items():
            yield Call(
                entry, f"*{kind}", lambda place, argument=argument: found(*[argument(place)] * 2)
            )


def _tried(
    parameters: list[Any], of_all_types: bool = False
) -> Iterator[tuple[str, str, Callable[[Place], Any]]]:
    for each in parameters:
        for kind, argument in arguments_for(each.name, of_all_types).items():
            yield each.name, kind, argument


def pairs_of(entry: Entry) -> Iterator[Call]:
    """All calls with data on a device, of every type of column, and something of each kind of the
    host's in another parameter of data, also in one that has a default."""
    parameters = entry.parameters()
    if entry.kind == "property" or str(entry) in SPECIAL:
        return
    if entry.kind != "method":
        found = entry.found()
        if inspect.isclass(found) and issubclass(found, enum.Enum):
            return
        for name, kind, argument in _tried(parameters, True):
            for other, other_kind, given in _of_host(parameters, name):

                def call(
                    place: Place, given=given, argument=argument, other=other, name=name
                ) -> Any:
                    return _with(found, parameters, {name: argument(place), other: given(_HOST)})

                yield Call(entry, f"{name}={kind}, host {other}={other_kind}", call)
        return
    if entry.name in _BY_PYTHON:
        return
    for what, make in _objects(entry, True).items():
        for other, other_kind, given in _of_host(parameters, ""):

            def call(place: Place, make=make, given=given, other=other) -> Any:
                value = make(place)
                return value, _with(getattr(value, entry.name), parameters, {other: given(_HOST)})

            yield Call(entry, f"{what}, host {other}={other_kind}", call)


def _of_host(
    parameters: list[Any], without: str
) -> Iterator[tuple[str, str, Callable[[Place], Any]]]:
    for each in parameters:
        if each.name != without:
            for kind, argument in of_host(each.name).items():
                yield each.name, kind, argument


def _with(function: Callable[..., Any], parameters: list[Any], given: dict[str, Any]) -> Any:
    """What a function returns for some arguments, and for those that it needs besides."""
    positional, named = [], {}
    for each in parameters:
        if each.name not in given and each.default is not each.empty:
            continue
        value = given[each.name] if each.name in given else plain(each.name)
        if each.kind is each.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[each.name] = value
    return function(*positional, **named)


#: Classes whose objects read their data later.
_LAZY = (
    *("Declaration", "InMemoryDataset", "DeviceDataset", "Scanner", "_Scanner"),
    *("FileFragment", "ParquetFileFragment"),
)


def told(value: Any) -> Any:
    """What a result holds, wherever it lies, in a form that can be compared."""
    if isinstance(value, tuple | list):
        return [told(each) for each in value]
    if isinstance(value, pa.RecordBatchReader):
        return told(list(value))
    if isinstance(value, pa.Table | pa.ChunkedArray):
        chunks = value.chunks if isinstance(value, pa.ChunkedArray) else value.columns
        return [type(value).__name__, told(list(chunks))]
    if isinstance(value, pa.Array | pa.RecordBatch):
        value = value.copy_to(pa.default_cpu_memory_manager())
        value.validate(full=True)
        return [
            str(value.schema if isinstance(value, pa.RecordBatch) else value.type),
            value.to_pylist(),
        ]
    if isinstance(value, pa.Buffer):
        return value.to_pybytes() if value.is_cpu else _bytes_of(value)
    if isinstance(value, pa.Scalar):
        return repr(value)
    if isinstance(value, pa.BufferOutputStream):
        return value.getvalue().to_pybytes()
    if isinstance(value, pa.NativeFile):
        return value.read() if value.readable() else "a file"
    if isinstance(value, pa.Tensor):
        return value.to_numpy().tolist()
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__next__"):
        return [told(each) for _, each in zip(range(20), value, strict=False)]
    if type(value).__name__ in _LAZY:
        return told(value.to_table())
    if isinstance(value, str):
        return re.sub(r"0x[0-9a-f]+", "0x", value)
    if isinstance(value, bytes | str | int | float | bool | type(None) | dict):
        return value
    return type(value).__name__


def _bytes_of(buffer: Any) -> bytes:
    from pyarrow import cuda

    return cuda.CudaBuffer.from_buffer(buffer).copy_to_host().to_pybytes()
