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
for owner, names in (
    (cuda.Context, "get_num_devices synchronize get_device_address new_buffer foreign_buffer"),
    (cuda.Context, "open_ipc_buffer buffer_from_data buffer_from_object"),
    (cuda.IpcMemHandle, "from_buffer serialize"),
    (cuda.HostBuffer, "slice"),
    (cuda.BufferReader, "read_buffer"),
    (cuda.BufferWriter, "writeat flush seek"),
    (cuda, "new_host_buffer serialize_record_batch read_message read_record_batch"),
):
    for name in names.split():
        print(name, parameters(getattr(owner, name)))
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
        print("refused", end=" ")
