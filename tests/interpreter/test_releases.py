"""Releases that need the GIL, on threads that do not have it."""

import pytest

pytestmark = pytest.mark.subprocesses

# `release()` has a native thread give up `VIEWS` imported views, and waits for it with the GIL.
START = """
import ctypes, sys, threading, time, weakref
import pyarrow as pa
from pyarrow import cuda
from support.c_device import ArrowDeviceArray, ArrowSchema

VIEWS = 200
gil = ctypes.PyDLL(None)  # keeps the GIL in calls
ctx = cuda.Context(0)
class Base: pass
def views():
    memory = ctx.new_buffer(64)
    for _ in range(VIEWS):
        base = Base()
        base.memory = memory
        bases.append(weakref.ref(base))
        yield ctx.foreign_buffer(memory.address, 64, base=base)
bases = []
arrays = [pa.Array.from_buffers(pa.uint8(), 64, [None, view], null_count=0) for view in views()]
batch = pa.RecordBatch.from_arrays(arrays, [str(number) for number in range(VIEWS)])
array, schema = ArrowDeviceArray(), ArrowSchema()
batch._export_to_c_device(array.address, schema.address)
del arrays, batch
def release():
    thread = ctypes.c_void_p()
    start = ctypes.c_void_p(array.array.release)
    where = ctypes.c_void_p(array.address)
    assert gil.pthread_create(ctypes.byref(thread), None, start, where) == 0
    assert gil.pthread_join(thread, None) == 0
def wait():
    while any(base() is not None for base in bases):
        time.sleep(0.001)  # the main thread runs what is pending
"""


def test_a_thread_may_be_joined_while_it_releases(run_python):
    """Python has place for 32 pending calls of all libraries; what finds none must not wait."""
    code = START + "release(); wait(); print('released')"
    assert run_python(code, timeout=60) == (0, "released\n", "")


def test_others_may_have_all_pending_calls(run_python):
    code = """
def work():
    while gil.Py_AddPendingCall(gil.PyErr_CheckSignals, None) == 0:
        pass
    release()
# The main thread, which runs pending calls, does not come before the end.
sys.setswitchinterval(1000)
thread = threading.Thread(target=work)
thread.start()
thread.join()
sys.setswitchinterval(0.005)
wait()
print("released")
"""
    assert run_python(START + code, timeout=60) == (0, "released\n", "")


def test_what_is_pending_at_a_fork_is_released(run_python):
    """A child has one thread: another one may have been about to announce a release."""
    code = """
import os, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # a driver has threads of its own
release()
child = os.fork()
wait()
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("released")
else:
    os._exit(0)
"""
    assert run_python(START + code, timeout=60) == (0, "released\n", "")
