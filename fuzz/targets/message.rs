//! A message as a reader finds it in memory: its prefix, its metadata, and what they promise of it.
#![no_main]

use arrow_cuda_ipc::{Frame, Metadata, PREFIX};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let size = bytes.len() as u64;
    let Ok(frame) = Frame::parse(&bytes[..bytes.len().min(PREFIX)], size) else { return };
    assert!(frame.body_offset() <= size);
    let metadata = &bytes[frame.metadata_offset as usize..frame.body_offset() as usize];
    let Ok(metadata) = Metadata::parse(metadata) else { return };
    let rest = size - frame.body_offset();
    if metadata.check(rest).is_ok() {
        assert!(metadata.body_length <= rest);
    }
});
