//! Files and streams in host memory, as `table_from_file` finds and reads their buffers.
#![no_main]

use arrow_cuda_fuzz::Pyarrow;
use arrow_cuda_ipc::{MessageIndex, Source};
use arrow_ipc::root_as_message;
use libfuzzer_sys::fuzz_target;

fuzz_target!(init: { Pyarrow::get(); }, |bytes: &[u8]| {
    let pyarrow = Pyarrow::get();
    let before = pyarrow.allocated();
    let source = Source::Memory(bytes);
    if let Ok(Some(messages)) = MessageIndex::read(&source) {
        check_ranges(&messages, bytes.len() as u64);
        pyarrow.read_table(&messages, source);
    }
    pyarrow.wait_for_release(before);
});

/// Each buffer of a batch lies within the file, or is refused.
fn check_ranges(messages: &MessageIndex, size: u64) {
    for message in messages.all() {
        let metadata = root_as_message(&message.metadata).ok();
        let batch = metadata.and_then(|metadata| metadata.header_as_record_batch());
        for buffer in batch.and_then(|batch| batch.buffers()).into_iter().flatten() {
            let (offset, length) = (buffer.offset() as u64, buffer.length() as u64);
            if let Ok(found) = messages.buffer(message.body.0 + offset, length) {
                assert!(found.position + found.encoded_size <= size, "{found:?}");
            }
        }
    }
}
