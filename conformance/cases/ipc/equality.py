# Handles of the same bytes are equal; the text of one does not open the memory.
# shows: additions, IPC
#   IpcMemHandle: handles of the same bytes are equal; the text of one does not open the memory
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
handle, other = buf.export_for_ipc(), ctx.buffer_from_data(b"others").export_for_ipc()
received = cuda.IpcMemHandle.from_buffer(handle.serialize())
(received == handle, hash(received) == hash(handle), received == other)
len({handle, received, other})
buf.slice(2, 3).export_for_ipc() == handle
(handle, buf.slice(2, 3).export_for_ipc())
