"""Threads that share what is on the device, and calls within a call."""

import importlib.machinery
import importlib.metadata
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import cuda
from pyarrow.cuda import CudaBuffer

import pyarrow_cuda_compat
from pyarrow_cuda_compat import _native
from pyarrow_cuda_compat._cudf import engine, library, rmm_resource

pytestmark = pytest.mark.simulator
HOST = pa.default_cpu_memory_manager()


@pytest.fixture
def installed(monkeypatch):
    """pylibcudf looks as if it were there, and not imported yet; RMM cannot be."""
    monkeypatch.delenv("PYARROW_CUDA_COMPUTE_ENGINE")
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "26.10.2")
    monkeypatch.setattr(_native, "_driver", lambda: {"simulated": False})
    monkeypatch.setattr(engine, "_found", None)
    monkeypatch.setitem(sys.modules, "rmm", None)
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


@pytest.fixture
def loadable(cudf, monkeypatch, installed):
    """The first call loads the stand-in, unless a test has the import of RMM fail."""
    monkeypatch.setattr(rmm_resource, "_set_resource", lambda *_: None)
    for name in ("rmm", "rmm.mr"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    sys.modules["rmm"].mr = sys.modules["rmm.mr"]
    yield
    pyarrow_cuda_compat.set_compute_engine(None)


def test_a_call_while_the_thread_loads_the_engine_is_refused(there, monkeypatch, loadable):
    """As of a finalizer that runs in the middle of an import."""
    texts = []

    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "rmm":
                texts.append(refused(there))
                monkeypatch.setitem(sys.modules, "rmm.mr", mr)
                return importlib.machinery.ModuleSpec(name, self, is_package=True)

        def create_module(self, spec):
            return None

        def exec_module(self, module):
            module.mr = mr

    mr = sys.modules["rmm.mr"]
    for name in ("rmm", "rmm.mr"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    assert pc.sum(there(pa.array([1, 2]))).as_py() == 3
    assert len(texts) == 1
    assert "this thread is loading pylibcudf" in texts[0]


def test_a_failure_amid_the_programs_import_does_not_last(there, monkeypatch, loadable):
    mr = sys.modules["rmm.mr"]
    monkeypatch.setitem(sys.modules, "rmm.mr", None)
    spec = SimpleNamespace(_initializing=True)
    monkeypatch.setattr(sys.modules["pylibcudf"], "__spec__", spec)
    assert "pylibcudf cannot be loaded" in refused(there)
    monkeypatch.setitem(sys.modules, "rmm.mr", mr)
    spec._initializing = False
    assert pc.sum(there(pa.array([1, 2]))).as_py() == 3


def test_a_choice_while_a_thread_loads_the_engine_counts(there, cudf, monkeypatch, loadable):
    begun, chosen = threading.Event(), threading.Event()

    def load():
        begun.set()
        chosen.wait()
        return cudf

    monkeypatch.setattr(library, "load", load)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(refused, there)
        begun.wait()
        pyarrow_cuda_compat.set_compute_engine("none")
        chosen.set()
        assert "is set to 'none'" in first.result()
    assert "is set to 'none'" in refused(there)


def test_a_choice_at_any_line_leaves_no_call_without_an_engine(monkeypatch, loadable):
    """The choice comes before one line after the other, as of another thread."""
    lines, place, before = [], 0, sys.gettrace()

    def trace(frame, event, _):
        if frame.f_code.co_filename != engine.__file__ or frame.f_code.co_name == choose:
            return None
        if event == "line":
            lines.append(frame.f_lineno)
            if len(lines) == place:
                pyarrow_cuda_compat.set_compute_engine(None)
        return trace

    choose = pyarrow_cuda_compat.set_compute_engine.__name__
    while len(lines) >= place:
        place += 1
        lines.clear()
        pyarrow_cuda_compat.set_compute_engine(None)
        sys.settrace(trace)
        try:
            found = engine.implementations(library.load)
        finally:
            sys.settrace(before)
        assert found is not None
    assert place > 10


class Within(list):
    """An argument whose own code computes on another device."""

    def __arrow_array__(self, type=None):
        pc.add(self[0], 1)
        return pa.array([1, 2])


def test_a_call_within_a_call_leaves_its_device(there, other_ctx, libcudf):
    other = pa.array([10, 20]).copy_to(other_ctx)
    array = there(pa.array([1, 2]))
    result = pc.add(array, Within([other]))
    assert CudaBuffer.from_buffer(result.buffers()[1]).context.device_number == 0
    assert result.copy_to(HOST).to_pylist() == [2, 4]


def test_a_call_that_fails_within_a_call_leaves_its_device(cudf, other_ctx):
    def fail():
        assert _native._here() == other_ctx
        raise ValueError

    def call():
        with pytest.raises(ValueError):  # noqa: PT011
            _native._computing([pa.array([0]).copy_to(other_ctx)], fail)
        return _native._here()

    context = cuda.Context(0)
    assert _native._computing([pa.array([0]).copy_to(context)], call) == context
