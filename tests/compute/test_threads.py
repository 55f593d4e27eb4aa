"""Threads that share what is on the device, and threads that the interpreter leaves behind."""

import importlib.metadata
import sys
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pyarrow_cuda_compat._compute import engine

pytestmark = pytest.mark.simulator


@pytest.fixture
def installed(monkeypatch):
    """pylibcudf looks as if it were there, and not imported yet."""
    monkeypatch.delenv("PYARROW_CUDA_COMPUTE_ENGINE")
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "26.10.2")
    monkeypatch.setattr(engine, "_rows", None)
    for name in ("pylibcudf.utils", "rmm.pylibrmm.stream"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def refused(there):
    with pytest.raises(NotImplementedError, match="Implemented only for data on CPU") as error:
        pc.sum(there(pa.array([1])))
    return str(error.value)


@pytest.mark.parametrize("value", ["1", "0", None])
def test_a_stream_for_each_thread_is_refused(there, monkeypatch, installed, value):
    monkeypatch.delenv("CUDF_PER_THREAD_STREAM", raising=False)
    if value is not None:
        monkeypatch.setenv("CUDF_PER_THREAD_STREAM", value)
    is_refused = "unset it before pylibcudf is imported" in refused(there)
    assert is_refused is (value == "1")
    assert ("CUDF_PER_THREAD_STREAM=1" in engine.described()) is is_refused


@pytest.mark.parametrize("is_per_thread", [True, False])
def test_what_pylibcudf_has_read_counts(there, monkeypatch, installed, is_per_thread):
    streams = SimpleNamespace(DEFAULT_STREAM=object(), PER_THREAD_DEFAULT_STREAM=object())
    name = "PER_THREAD_DEFAULT_STREAM" if is_per_thread else "DEFAULT_STREAM"
    utils = SimpleNamespace(CUDF_DEFAULT_STREAM=getattr(streams, name))
    monkeypatch.setitem(sys.modules, "pylibcudf.utils", utils)
    monkeypatch.setitem(sys.modules, "rmm.pylibrmm.stream", streams)
    monkeypatch.setenv("CUDF_PER_THREAD_STREAM", "0" if is_per_thread else "1")
    assert ("unset it before pylibcudf is imported" in refused(there)) is is_per_thread
