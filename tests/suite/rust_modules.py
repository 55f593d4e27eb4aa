"""Which modules of a crate use which others: by their paths, and by methods.

A module may add methods to a type of another one.  Who calls them uses that module, unseen.
"""

import re

#: Names of the standard library's methods, too: a call of one says nothing.
_COMMON = """
abandon add address any as_ptr as_raw capacity clear clone close collect contains context
copy count device drain extend fill filter find first fold from get get_mut id insert
is_empty iter join last len lock map max min new next open pool push read remove replace
retain run set size start stats take to_vec wait write
""".split()  # noqa: SIM905
_VISIBLE = r"(?:pub(?:\([^)]*\))?\s+)?"
_USE = re.compile(rf"^ {{0,4}}({_VISIBLE})use\s+([^;]+);", re.MULTILINE)
_ITEM = re.compile(
    rf"^\s*{_VISIBLE}(?:(?:unsafe|const|async|extern \"C\")\s+)*"
    r"(?:struct|enum|union|trait|fn|const|static|type)\s+(?:mut\s+)?(\w+)",
    re.MULTILINE,
)
_IMPL = re.compile(r"^impl(?:<[^{;]*?>)?\s+(?!.*\bfor\b)([\w:]+)[^{;]*\{\n(.*?)^\}", re.M | re.S)
_METHOD = re.compile(rf"^    {_VISIBLE}(?:(?:unsafe|const|async)\s+)*fn\s+(\w+)", re.MULTILINE)
_FUNCTION = re.compile(r"\bfn\s+(\w+)")
_PATH = re.compile(r"(?<![\w:])([a-z_]\w*(?:::\w+)+)")


def uses(source):
    """For each module of a crate, by its path, the modules that it uses."""
    crate = _Crate(source)
    found = {module: set(crate.named_in(module)) for module in crate.texts}
    for module, home in crate.called():
        found[module].add(home)
    return {module: used - {module} for module, used in found.items()}


class _Crate:
    def __init__(self, source):
        files = [path for path in sorted(source.rglob("*.rs")) if path.name != "tests.rs"]
        self.texts = {_module(path.relative_to(source)): _code(path.read_text()) for path in files}
        self.items = {module: {*_ITEM.findall(text)} for module, text in self.texts.items()}
        #: The path of each name that a module imports.
        self.imports = {
            module: {
                path.split("::")[-1]: path
                for _, tree in _USE.findall(text)
                for path in _paths(tree)
            }
            for module, text in self.texts.items()
        }

    def named_in(self, module):
        text = self.texts[module]
        # A facade only passes names on.
        paths = [path for public, tree in _USE.findall(text) if not public for path in _paths(tree)]
        for path in _PATH.findall(_USE.sub("", text)):
            first, _, rest = path.partition("::")
            paths.append(
                f"{self.imports[module][first]}::{rest}" if first in self.imports[module] else path
            )
        return filter(None, (self.home_of(module, path) for path in paths))

    def home_of(self, module, path, depth=8):
        """The module that defines what a path names; None for another crate's."""
        first, *rest = path.split("::")
        base = module
        if first == "crate":
            base = ()
        elif first == "super":
            base = module[:-1]
            while rest[:1] == ["super"]:
                base, rest = base[:-1], rest[1:]
        elif (*module, first) in self.texts:
            rest = [first, *rest]
        elif first != "self":
            return None
        while rest and (*base, rest[0]) in self.texts:
            base, rest = (*base, rest[0]), rest[1:]
        passed_on = self.imports[base].get(rest[0]) if rest and depth else None
        return base if passed_on is None else self.home_of(base, passed_on, depth - 1)

    def called(self):
        """Pairs of modules: one calls a method that the other adds to a type of a third."""
        functions = {}
        for module, text in self.texts.items():
            for name in _FUNCTION.findall(text):
                functions.setdefault(name, set()).add(module)
        for home, text in self.texts.items():
            for type_, body in _IMPL.findall(text):
                if type_.split("::")[-1] in self.items[home]:
                    continue
                for name in {*_METHOD.findall(body)} - {*_COMMON}:
                    call = re.compile(rf"(?:\.|::){name}\b(?=\s*[(:])")
                    if len(functions[name]) == 1:
                        yield from (
                            (it, home) for it, other in self.texts.items() if call.search(other)
                        )


def _module(path):
    names = path.with_suffix("").parts
    return names[:-1] if names[-1] in ("mod", "lib") else names


def _code(text):
    """Without texts, comments, tests, and what macros of PyO3 register."""
    text = re.sub(r"//[^\n]*|\"(?:[^\"\\]|\\.)*\"", "", text)
    text = re.split(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod \w+ \{", text)[0]
    return re.sub(r"#\[pymethods\]\nimpl", "#[pymethods] impl", text)


def _paths(tree):
    """The paths of a tree of imports."""
    tree = tree.strip()
    if not tree.endswith("}"):
        return [re.sub(r"\s+as\s+\w+$", "", tree)]
    prefix, _, inner = tree[:-1].partition("{")
    parts, depth = [""], 0
    for letter in inner:
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [prefix + path for part in parts if part.strip() for path in _paths(part)]
