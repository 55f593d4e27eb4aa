"""What editors offer after a dot: with this package as much as without it, and its own names."""

import sys
import venv
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import cuda

import pyarrow_cuda_compat
from support.language_server import LanguageServer

jedi = pytest.importorskip("jedi")
pytest.importorskip("pyright")

pytestmark = pytest.mark.independent

PYARROW = ["import pyarrow as pa", "import pyarrow.compute as pc", "import pyarrow.parquet as pq"]
OURS = ["from pyarrow import cuda", "import pyarrow_cuda_compat"]
#: Where pyarrow itself is completed.
BEFORE = ["pa", "pa.ipc", "pa.types", "pc", "pq", "pa.lib", "pa.Table", "pa.Int64Array"]
BEFORE += ["pa.ChunkedArray", "pa.RecordBatch", "pa.RecordBatchReader", "pa.Buffer", "pa.Schema"]


class Jedi:
    """Completes as IPython, Jupyter and several editors do."""

    def __init__(self, folder, python):
        self.python, self.project = str(python), jedi.Project(folder)

    def __enter__(self):
        self.environment = jedi.create_environment(self.python, safe=False)
        return self

    def __exit__(self, *_):
        pass

    def complete(self, lines):
        script = jedi.Script("\n".join(lines), environment=self.environment, project=self.project)
        return {found.name for found in script.complete(len(lines), len(lines[-1]))}


ENGINES = pytest.mark.parametrize("engine", [LanguageServer, Jedi])


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """A Python that has pyarrow and not this package."""
    folder = tmp_path_factory.mktemp("without")
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python3*/site-packages")
    for name in ("pyarrow", "numpy"):
        (site / name).symlink_to(Path(find_spec(name).origin).parent)
    return folder / "bin" / "python"


def public(names):
    return {name for name in names if not name.startswith("_")}


@ENGINES
def test_pyarrow_is_completed_as_without_this_package(engine, without, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with engine(tmp_path, without) as before, engine(tmp_path, sys.executable) as after:
        for expression in BEFORE:
            program = [*PYARROW, f"{expression}."]
            # The sources have names that are deleted, or that no program has.
            there = public(before.complete(program)) & {
                *dir(eval(expression, {"pa": pa, "pc": pc, "pq": pq}))
            }
            assert there <= after.complete(program), expression
            assert expression != "pa" or len(there) > 280


@ENGINES
def test_what_the_package_adds_is_completed(engine, tmp_path):
    context = "cuda.Context(0)"
    wanted = {
        "pa": {name for name in public(dir(pa)) if not isinstance(getattr(pa, name), ModuleType)},
        "cuda": public(dir(cuda)),
        "pyarrow_cuda_compat": public(dir(pyarrow_cuda_compat)),
        "pa.Table": {"copy_to", "combine_chunks", "from_pandas"},
        "pa.ChunkedArray": {"copy_to", "combine_chunks"},
        "pa.RecordBatchReader": {"copy_to", "read_all"},
        "pa.RecordBatch": {"copy_to", "from_pandas"},
        "pa.Int64Array": {"copy_to", "to_numpy"},
        "pa.Buffer": {"copy", "view", "to_pybytes"},
        "pa.table({})": {"copy_to", "schema"},
        f'{context}.table_from_file("")': {"copy_to", "schema"},
        f'{context}.reader_from_file("")': {"copy_to", "read_all"},
        context: public(dir(cuda.Context)),
        f"{context}.new_buffer(1)": public(dir(cuda.CudaBuffer)),
    }
    with engine(tmp_path, sys.executable) as editor:
        for expression, names in wanted.items():
            offered = editor.complete([*PYARROW, *OURS, f"{expression}."])
            assert names <= offered, expression
            # Jedi also offers what a stub imports for itself.
            assert engine is Jedi or "MYPY" not in offered
