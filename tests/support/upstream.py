"""The public interface of upstream's ``pyarrow.cuda``, read from the source that pyarrow ships."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow

SOURCE = Path(pyarrow.__file__).with_name("_cuda.pyx").read_text()

CLASS = re.compile(r"^cdef class (\w+)\((\w+)\):", re.MULTILINE)
FUNCTION = re.compile(r"^( {4})?def (\w+)\(((?:[^()]|\([^()]*\))*)\):", re.MULTILINE)
DECORATOR = re.compile(r"^ *@([\w.]+)\n\Z", re.MULTILINE)
CTYPE = re.compile(r"^(?:const )?(?:[\w.*]+ \*?)(?=\w+\b)")


@dataclass(frozen=True)
class Member:
    """A class, method, attribute or function; ``...`` is the default of a parameter without one."""

    name: str
    parameters: dict[str, object]
    is_attribute: bool = False


def _parameters(text):
    found = {}
    for part in re.split(r",\s*", text.strip()):
        if part in ("", "self", "*", "*args", "**kwargs"):
            continue
        declared, _, default = part.partition("=")
        name = CTYPE.sub("", declared.strip())
        found[name] = ast.literal_eval(default) if default else ...
    return found


def _member(found):
    """What a ``def`` defines, by its dotted name; nothing if it is not public."""
    indented, name, arguments = found.groups()
    if not indented:
        return Member(name, _parameters(arguments))
    classes = [declared[1] for declared in CLASS.finditer(SOURCE, 0, found.start())]
    if name in ("__init__", "__cinit__"):
        return Member(classes[-1], _parameters(arguments))
    decorator = DECORATOR.search(SOURCE, 0, found.start())
    kind = decorator[1] if decorator else ""
    if name.startswith("_") or kind.endswith(".setter"):
        return None
    return Member(f"{classes[-1]}.{name}", _parameters(arguments), kind == "property")


def _members():
    members = {name: Member(name, {}) for name, _ in CLASS.findall(SOURCE)}
    for found in FUNCTION.finditer(SOURCE):
        member = _member(found)
        # A class may document its construction twice, once with its parameters.
        if member and (member.parameters or member.name not in members):
            members[member.name] = member
    return members


MEMBERS = _members()

# Keyword-only parameters that members of ours have besides upstream's, and members of upstream's
# classes that upstream has not.
ADDED_PARAMETERS = {
    "CudaBuffer.copy_from_device": {"stream"},
    "CudaBuffer.copy_from_host": {"stream"},
    "CudaBuffer.copy_to_host": {"stream"},
}
ADDED_MEMBERS = {
    "Context.buffer_from_file",
    "Context.buffers_from_data",
    "Context.reader_from_file",
    "Context.table_from_file",
    "CudaBuffer.copy_to_file",
    "CudaBuffer.fill",
}
