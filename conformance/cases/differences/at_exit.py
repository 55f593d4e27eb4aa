# Programs end well with live buffers, and open writers reach the device.
# shows: additions, Files
#   BufferWriter: so does a writer that is open when the program ends
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import threading
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
ctx = cuda.Context()
buf = ctx.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque))
own = ctx.buffer_from_data(b"never released")
writer = cuda.BufferWriter(buf)
writer.buffer_size = 100
writer.write(b"written at exit")
cycle = [own, buf, writer]
cycle.append(cycle)
# This thread keeps the writer to the last, so its destructor cannot flush it.
wait = threading.Event().wait
threading.Thread(target=lambda held: wait(), args=[writer], daemon=True).start()
print(buf.to_pybytes())
# A thread reads batches ahead; it ends, and with it what it reads.
def batches():
    try:
        while True:
            yield batch
    finally:
        print("closed")
batch = pa.record_batch({"x": range(1000)})
reader = pa.RecordBatchReader.from_batches(batch.schema, batches()).copy_to(ctx)
reader.read_next_batch()
"""
memory = cuda.Context().buffer_from_data(b"." * 16)
handle = memory.export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
done = subprocess.run(command, capture_output=True, text=True)
done.returncode, done.stdout, done.stderr, memory.to_pybytes()
