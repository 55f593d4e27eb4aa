# The parameters of everything but the device buffer, and their defaults.
# shows: pyarrow_cuda
#   Context: the names, order and defaults of all parameters; others are a TypeError
import inspect

from pyarrow import cuda


def parameters(call):
    found = [each for each in inspect.signature(call).parameters.values() if each.name != "self"]
    return [
        each.name if each.default is each.empty else (each.name, each.default) for each in found
    ]


parameters(cuda.Context)
parameters(cuda.Context.get_num_devices)
parameters(cuda.Context.synchronize)
parameters(cuda.Context.get_device_address)
parameters(cuda.Context.new_buffer)
parameters(cuda.Context.foreign_buffer)
parameters(cuda.Context.open_ipc_buffer)
parameters(cuda.Context.buffer_from_data)
parameters(cuda.Context.buffer_from_object)
parameters(cuda.IpcMemHandle.from_buffer)
parameters(cuda.IpcMemHandle.serialize)
parameters(cuda.HostBuffer.slice)
parameters(cuda.BufferReader.read_buffer)
parameters(cuda.BufferWriter.writeat)
parameters(cuda.BufferWriter.flush)
parameters(cuda.BufferWriter.seek)
parameters(cuda.new_host_buffer)
parameters(cuda.serialize_record_batch)
parameters(cuda.read_message)
parameters(cuda.read_record_batch)
# Too many, unknown, missing.
ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
for call in (
    lambda: cuda.Context(0, 0, 0),
    lambda: cuda.Context(number=0),
    lambda: ctx.synchronize(1),
    lambda: ctx.new_buffer(),
    lambda: ctx.new_buffer(size=1),
    lambda: ctx.foreign_buffer(buf.address),
    lambda: ctx.buffer_from_data(b"x", 0, 1, 2),
    lambda: cuda.new_host_buffer(),
    lambda: cuda.new_host_buffer(4, 0, 0),
    lambda: cuda.BufferReader(),
    lambda: cuda.BufferReader(buf, buf),
    lambda: cuda.BufferWriter(obj=buf),
    lambda: cuda.BufferWriter(buf).writeat(0),
    lambda: cuda.serialize_record_batch(ctx),
    lambda: cuda.read_record_batch(buf),
):
    try:
        call()
    except TypeError:
        print("refused")
