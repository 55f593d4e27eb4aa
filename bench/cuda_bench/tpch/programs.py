"""The modules of `examples/tpch`, which have no package."""

import sys
from importlib import import_module
from pathlib import Path

FOLDER = str(Path(__file__).parents[3] / "examples" / "tpch")
if FOLDER not in sys.path:
    sys.path.insert(0, FOLDER)
check, data, queries = (import_module(name) for name in ("check", "data", "queries"))
