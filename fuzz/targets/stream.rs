//! Streams, files and single messages in device memory, as Python reads them through the bridge.
#![no_main]

use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_fuzz::{Pyarrow, Reference};
use arrow_cuda_ipc::DeviceMessage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: { Pyarrow::get(); }, |bytes: &[u8]| {
    let pyarrow = Pyarrow::get();
    let before = pyarrow.allocated();
    let Some((how, bytes)) = bytes.split_first() else { return };
    match how % 4 {
        0 => drop(read_record_batch(pyarrow, bytes)),
        1 => drop(read_message(pyarrow, bytes)),
        how => pyarrow.read_all(&file_of(pyarrow, bytes), how == 3),
    }
    pyarrow.wait_for_release(before);
});

fn upload(pyarrow: &Pyarrow, bytes: &[u8]) -> DeviceBuffer {
    let memory = DeviceBuffer::allocate(&pyarrow.context, bytes.len()).unwrap();
    memory.copy_from_host(bytes).unwrap();
    memory
}

fn file_of(pyarrow: &Pyarrow, bytes: &[u8]) -> Reference {
    pyarrow.reader(&pyarrow.buffer(upload(pyarrow, bytes)))
}

/// `cuda.read_record_batch(buffer, schema)`
fn read_record_batch(pyarrow: &Pyarrow, stream: &[u8]) -> Option<()> {
    let (schema, message) = pyarrow.schema(stream)?;
    let memory = upload(pyarrow, message);
    let message = DeviceMessage::read(&memory).ok()?;
    let buffer = pyarrow.buffer(memory);
    let batch = pyarrow.read_batch(&buffer, &schema, message)?;
    pyarrow.work_with(&batch, true);
    Some(())
}

/// `pyarrow.ipc.read_record_batch(cuda.read_message(buffer), schema)`
fn read_message(pyarrow: &Pyarrow, stream: &[u8]) -> Option<()> {
    let (schema, message) = pyarrow.schema(stream)?;
    let memory = upload(pyarrow, message);
    let known = DeviceMessage::read(&memory).ok()?;
    let file = pyarrow.reader(&pyarrow.buffer(memory));
    let batch = pyarrow.read_message(&file, &known, &schema)?;
    pyarrow.work_with(&batch, true);
    Some(())
}
