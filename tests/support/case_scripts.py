"""What the cases of the conformance suite mention and call, as far as it can be read off them."""

import ast
import io
import itertools
import re
import tokenize

# Functions that return objects of a class, beside the class itself.
FACTORIES = {
    "Context": {"context"},
    "CudaBuffer": {
        "buffer_from_data",
        "buffer_from_object",
        "foreign_buffer",
        "new_buffer",
        "open_ipc_buffer",
        "read_buffer",
        "serialize_record_batch",
    },
    "DeviceArray": {"DeviceNDArray", "from_arrow", "from_dlpack", "from_host"},
    "HostBuffer": {"new_host_buffer"},
    "IpcMemHandle": {"export_for_ipc"},
    "BufferReader": set(),
    "BufferWriter": set(),
}
CLASS_OF = {name: owner for owner, names in FACTORIES.items() for name in names | {owner}}
# Methods that give an object of the class that they are called on.
OF_THE_SAME = {"slice", "from_buffer", "from_numba"}


SHOWN = re.compile(
    r"^# shows: (?P<place>.+)|^#   (?P<name>[^ ].*?)(?:\((?P<parameter>\w+)\))?: (?P<what>.*)"
)


def shown(session):
    """The documented items in a case's head: name, parameter if any, and what they promise."""
    for line in itertools.takewhile(lambda line: line.startswith("#"), session.splitlines()):
        found = SHOWN.match(line)
        if found and not found["place"]:
            yield found.groupdict()


def without_comments(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return " ".join(token.string for token in tokens if token.type != tokenize.COMMENT)


def calls(source):
    """Each call in a script, and in scripts that it holds as strings.

    Class of the object, if that can be told, name of the method or function, and keyword.
    """
    tree = ast.parse(source)
    known = variables(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            owner = None
            if isinstance(node.func, ast.Attribute):
                owner = class_of(node.func.value, known)
            yield from ((owner, called(node), keyword.arg) for keyword in node.keywords)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "(" in node.value:
            try:
                yield from calls(node.value)
            except SyntaxError:
                continue


def called(node):
    return getattr(node.func, "attr", getattr(node.func, "id", None))


def class_of(node, known):
    """The class that an expression names or gives an object of; None where it does not tell."""
    if isinstance(node, ast.Name):
        return node.id if node.id in FACTORIES else known.get(node.id)
    if isinstance(node, ast.Attribute):
        return node.attr if node.attr in FACTORIES else None
    if isinstance(node, ast.Call):
        name = called(node)
        if name in OF_THE_SAME and isinstance(node.func, ast.Attribute):
            return class_of(node.func.value, known)
        return CLASS_OF.get(name)
    return None


def variables(tree):
    """The classes of variables that are of one class wherever they are set."""
    found, assigned = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned.add(target)
                    found.setdefault(target.id, set()).add(class_of(node.value, {}))
    for node in ast.walk(tree):
        # Set by a loop, by unpacking, by a call.
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in assigned:
            found.pop(node.id, None)
        elif isinstance(node, ast.arg):
            found.pop(node.arg, None)
    return {name: classes.pop() for name, classes in found.items() if len(classes) == 1}
