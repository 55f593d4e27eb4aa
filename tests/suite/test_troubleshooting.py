"""The messages that the page on troubleshooting quotes are those that users see."""

import ast
import ctypes
import io
import pickle
import re
from pathlib import Path

import _pyarrow_cuda_compat_hook as hook
import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat
from pyarrow_cuda_compat import DeviceArray, Stream, _load, _native, from_dlpack
from support.driver import the_driver

PAGE = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text()
QUOTED = {
    found["message"]: found["text"]
    for found in re.finditer(r"^### `(?P<message>.+)`\n\n(?P<text>(?:.+\n)+)", PAGE, re.MULTILINE)
}
OF_THE_DRIVER = re.compile(r"Cuda error (\d+) in function '(.+?)': \[(\w+)\]")

# Code for each message, by its beginning: expressions here, and programs with an environment of
# their own.  Everything else takes another machine, another pyarrow or another library.
RAISED = {
    "device_number": "cuda.Context(99)",
    "Cuda error 2 ": "ctx.new_buffer(1 << 50)",
    "Cuda error 1 in function 'cuPointer": "ctx.foreign_buffer(16, 8)",
    "the memory at": "other.foreign_buffer(buf.address, buf.size)",
    "Cuda error 201": "ctx.open_ipc_buffer(buf.export_for_ipc())",
    "... bytes at": "cuda.BufferWriter(buf).write(bytes(100))",
    "requested more": "buf.copy_to_host(position=4, nbytes=8)",
    "'...' object cannot": "ctx.new_buffer('1G')",
    "Do not call": "cuda.CudaBuffer()",
    "a bytes-like": "ctx.buffer_from_data([1])",
    "ndarray is": "ctx.buffer_from_data(np.arange(9)[::2])",
    "the source": "ctx.table_from_file(b'a,b')",
    "neither": "ctx.table_from_file(bytes(range(1, 10)))",
    "Parquet": "ctx.table_from_file([__file__])",
    "No such": "ctx.table_from_file('*.parquet')",
    "source argument": "ctx.table_from_file(io.StringIO())",
    "expected RecordBatch": "cuda.serialize_record_batch(pa.table({}), ctx)",
    "the message is": "cuda.read_record_batch(message, pa.schema({'x': pa.string()}))",
    "a device array": "DeviceArray.empty(3) + 1",
    "Unsupported": "np.from_dlpack(column.slice(0, 1))",
    "cannot pickle": "pickle.dumps(ctx)",
    "the host buffer": "buf.copy_to_host(buf=pa.py_buffer(bytes(8)))",
    "the IPC handle": "cuda.IpcMemHandle.from_buffer(pa.py_buffer(b'abc'))",
    "Implemented only": "column.to_pylist()",
    "buffer protocol": "memoryview(buf)",
    "the array cannot": "from_dlpack(column)",
    "the array has": "DeviceArray.from_arrow(column).copy_to_host()",
    "the tensor": "from_dlpack(np.arange(3))",
    "cannot create": "ctx.buffer_from_object(np.arange(3))",
    "'stream' must": "buf.copy_to_host(stream=5)",
    "the stream belongs": "buf.copy_to_host(stream=Stream(other))",
}
ON_STANDARD_ERROR = "PYARROW_CUDA_HOOK must"
CONTEXT = "from pyarrow import cuda; cuda.Context(0)"
PROGRAMS = {
    "No module": ("from pyarrow import cuda", {"PYARROW_CUDA_HOOK": "0"}),
    "'pyarrow.lib.Table'": ("import pyarrow; pyarrow.table({}).copy_to(0)", {}),
    "there is no environment": (CONTEXT, {"PYARROW_CUDA_CAHCE": "0"}),
    "the environment variable": (CONTEXT, {"PYARROW_CUDA_COMPAT_HOOK": "0"}),
    "the CUDA driver library": (CONTEXT, {"PYARROW_CUDA_DRIVER": "/nonexistent/libcuda.so"}),
    "pyarrow_cuda_compat supports": (
        "import pyarrow; info = pyarrow.cpp_version_info\n"
        "pyarrow.cpp_version_info = info._replace(major=999)\n"
        "import pyarrow_cuda_compat",
        {},
    ),
    "Cuda error 3 ": (
        "import os\n"
        "from pyarrow import cuda\n"
        "ctx = cuda.Context(0)\n"
        "if child := os.fork(): os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "ctx.new_buffer(1)",
        {},
    ),
    "a pickle of": (
        "import os, pickle, subprocess, sys\n"
        "if len(sys.argv) > 1: pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "from pyarrow import cuda\n"
        "pickled = pickle.dumps(cuda.Context(0).new_buffer(1)).hex()\n"
        "os.environ['PYARROW_CUDA_DRIVER'] = '/nonexistent/libcuda.so'\n"
        "os.execv(sys.executable, [*sys.orig_argv, pickled])",
        {},
    ),
}


def expected(message):
    return ".+".join(re.escape(part) for part in message.split("..."))


def only(start):
    [message] = [message for message in QUOTED if message.startswith(start)]
    return message


def class_of(message):
    """The one that the page names first."""
    return re.search(r"`(?:~?\w+\.)*(\w+)`", QUOTED[message])[1]


def message_of(ctx):
    """A record batch of integers in device memory."""
    return pyarrow_cuda_compat.serialize_record_batch(pa.record_batch({"x": [1, 2]}), ctx)


@pytest.fixture(scope="module")
def sources():
    """All texts of the installed package: constants of its modules, and the two libraries."""
    package = Path(pyarrow_cuda_compat.__file__).parent
    texts = [
        node.value
        for path in (*package.rglob("*.py"), Path(hook.__file__))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    libraries = [Path(path).read_bytes() for path in (_native.__file__, _load.BRIDGE)]
    return "\n".join([*texts, *(library.decode("latin-1") for library in libraries)])


def test_the_page_quotes_messages():
    assert len(QUOTED) == len(re.findall("^### ", PAGE, re.MULTILINE)) > 25


def others():
    """What no test below raises."""
    raised = (*RAISED, *PROGRAMS, ON_STANDARD_ERROR)
    return [message for message in QUOTED if not message.startswith(raised)]


@pytest.mark.parametrize("message", others())
def test_other_messages_stand_in_the_sources(message, sources):
    if of_the_driver := OF_THE_DRIVER.fullmatch(message):
        number, function, name = of_the_driver.groups()
        found = ctypes.c_char_p()
        the_driver().call("cuGetErrorName", int(number), ctypes.byref(found))
        assert found.value.decode() == name
        parts = ["Cuda error ", " in function '", *([function] if function != "..." else [])]
    else:
        parts = message.replace("(...)", "...").split("...")
    for part in parts:
        assert part.strip() in sources


@pytest.mark.leaks  # one of them exports memory
@pytest.mark.parametrize("start", RAISED)
def test_what_raises_a_message(start, cuda, ctx, request):
    names = {"cuda": cuda, "ctx": ctx, "pa": pa, "np": np, "buf": ctx.buffer_from_data(bytes(8))}
    names |= {"io": io, "pickle": pickle, "__file__": __file__, "message": message_of(ctx)}
    names |= {"DeviceArray": DeviceArray, "Stream": Stream, "from_dlpack": from_dlpack}
    names["column"] = pa.array([1, None]).copy_to(ctx.memory_manager)
    if "other" in RAISED[start]:
        names["other"] = request.getfixturevalue("other_ctx")
    message = only(start)
    with pytest.raises(Exception, match=expected(message)) as raised:
        eval(RAISED[start], names)
    assert raised.type.__name__ == class_of(message)


@pytest.mark.parametrize("start", PROGRAMS)
def test_programs_that_end_with_a_message(start, run_python):
    code, environment = PROGRAMS[start]
    message = only(start)
    status, _, err = run_python(code, **environment)
    assert status == 1
    # Warnings may follow it: Python 3.12 warns of forks beside threads.
    assert re.search(rf"^{class_of(message)}: {expected(message)}", err, re.MULTILINE), err


def test_what_is_written_to_standard_error(run_python):
    message = only(ON_STANDARD_ERROR)
    status, _, err = run_python("from pyarrow import cuda", PYARROW_CUDA_HOOK="off")
    assert status == 0
    assert re.fullmatch(expected(message), err.strip())
