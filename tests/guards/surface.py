"""What Python tells of all public objects of pyarrow, before and after `import pyarrow.cuda`.

python -m guards.surface prints what differs, as JSON: the object, what is asked, and both answers.
"""

import importlib
import inspect
import json
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from .walk import modules

_KINDS = [
    inspect.isfunction, inspect.isbuiltin, inspect.isroutine, inspect.isclass, inspect.ismethod,
    inspect.isgetsetdescriptor, inspect.isdatadescriptor, inspect.ismethoddescriptor,
    inspect.ismodule, inspect.isabstract, callable,
]  # fmt: skip
_QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "type": lambda found: type(found).__name__,
    "name": lambda found: found.__name__,
    "qualified name": lambda found: found.__qualname__,
    "module": lambda found: found.__module__,
    "documentation": inspect.getdoc,
    "signature": lambda found: str(inspect.signature(found)),
    "full signature": lambda found: str(inspect.getfullargspec(found)),
    "pickle": lambda found: pickle.dumps(found).hex(),
    "kind": lambda found: [kind.__name__ for kind in _KINDS if kind(found)],
}


def _public(names: Any) -> Iterator[str]:
    return (name for name in names if not name.startswith("_") or name.endswith("__"))


def _objects() -> Iterator[tuple[str, Any]]:
    """Each public object of each module, and each member of its classes, under its name."""
    for module in list(modules({"cuda", "_cuda"})):
        for name in list(_public(vars(module))):
            found = vars(module)[name]
            home = getattr(found, "__module__", None)
            if not isinstance(home, str) or home.partition(".")[0] != "pyarrow":
                continue
            yield f"{module.__name__}:{name}", found
            if inspect.isclass(found) and home == module.__name__:
                for member in list(_public(vars(found))):
                    yield f"{module.__name__}:{name}.{member}", _member(found, member)


def _member(cls: type, name: str) -> Any:
    raw = vars(cls)[name]
    return raw if inspect.isdatadescriptor(raw) else getattr(cls, name)


def _answers() -> dict[str, dict[str, Any]]:
    return {
        name: {key: _answer(ask, it) for key, ask in _QUESTIONS.items()} for name, it in _objects()
    }


def _answer(ask: Callable[[Any], Any], found: Any) -> Any:
    try:
        return ask(found)
    except Exception as error:
        return type(error).__name__


def main() -> None:
    warnings.simplefilter("ignore")
    before = _answers()
    importlib.import_module("pyarrow.cuda").Context(0)
    after = _answers()
    differences = {
        f"{name}, {key}": (before.get(name, {}).get(key), after.get(name, {}).get(key))
        for name in before | after
        for key in _QUESTIONS
        if before.get(name, {}).get(key) != after.get(name, {}).get(key)
    }
    json.dump({"objects": len(before), "differences": differences}, sys.stdout)


if __name__ == "__main__":
    main()
