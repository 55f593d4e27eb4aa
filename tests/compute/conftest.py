"""pylibcudf's stand-in as the engine of a module's tests."""

import sys
from importlib import import_module

import pytest
from pyarrow import cuda

from pyarrow_cuda_compat import _native
from pyarrow_cuda_compat._cudf import conversions, engine, library, refusals, rmm_resource
from support.samples import CPU

from . import standin

set_resource = rmm_resource._set_resource
#: Which the guards have.
KEPT = {it.__name__ for it in (engine, conversions, library, rmm_resource, refusals)}


def of(name):
    """A module of the engine, as it is now."""
    return import_module(f"pyarrow_cuda_compat._cudf.{name}")


def back(data):
    return data.copy_to(CPU)


@pytest.fixture(scope="package")
def cudf():
    before = sys.modules.get("pylibcudf")
    yield standin.install()
    for name in [name for name in sys.modules if name.startswith(f"{engine.__package__}.")]:
        if name not in KEPT:
            del sys.modules[name]
            folder, _, leaf = name.rpartition(".")
            if folder in sys.modules:
                delattr(sys.modules[folder], leaf)  # which `from . import` asks first
    sys.modules.pop("pylibcudf")
    if before is not None:
        sys.modules["pylibcudf"] = before


@pytest.fixture
def libcudf(cudf, monkeypatch):
    monkeypatch.setattr(engine, "_found", cudf)
    monkeypatch.setattr(rmm_resource, "_set_resource", lambda *_: None)
    # Small files, too, and in this process.
    monkeypatch.setattr(of("parquet.reader"), "LEAST", 0)
    monkeypatch.setattr(of("parquet.reader"), "unpacked", decoded)
    standin.CALLS.clear()
    _native._set_has_engine(True)
    yield standin.CALLS
    _native._set_has_engine(False)


def decoded(request, meanwhile):
    meanwhile()
    return of("parquet.worker").decoded(_native._here(), request)


@pytest.fixture(scope="module")
def there():
    """Copies to the device."""
    context = cuda.Context(0)
    return lambda data: data.copy_to(context)
