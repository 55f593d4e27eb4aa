"""What the stubs define."""

import ast
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "stubs"


def _definitions():
    found = defaultdict(list)
    tree = ast.parse((FOLDER / "pyarrow_cuda_compat" / "_native.pyi").read_text())
    for statement in tree.body:
        found[getattr(statement, "name", "_")].append(statement)
        for inner in statement.body if isinstance(statement, ast.ClassDef) else []:
            if isinstance(inner, ast.FunctionDef):
                name = inner.name.replace("__new__", "")
                found[f"{statement.name}.{name}".rstrip(".")].append(inner)
    return {
        name: stated
        for name, stated in found.items()
        if not any(part.startswith("_") for part in name.split("."))
    }


#: Each public name, those of classes dotted, with all its overloads.
STUBS = _definitions()
