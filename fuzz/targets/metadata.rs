//! A message's metadata, and a file's footer, beside arrow-ipc's own verification.  That checks more, but takes a field
//! that refers to itself for an empty one, which libarrow refuses.
#![no_main]

use arrow_cuda_ipc::Metadata;
use arrow_ipc::{root_as_footer, root_as_message};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = Metadata::parse(bytes);
    if let Ok(message) = root_as_message(bytes) {
        if let Ok(read) = &read {
            assert!(message.bodyLength() >= 0);
            assert_eq!(read.body_length, message.bodyLength().unsigned_abs());
        }
    }
    if let Ok(read) = &read {
        assert!(read.body_length == 0 || read.check(read.body_length - 1).is_err());
        assert!(!read.stays_on_device() || read.check(read.body_length).is_ok());
    }
    let footer = Metadata::parse_footer(bytes);
    if root_as_footer(bytes).is_ok_and(|footer| footer.schema().is_some())
        && let Err(refused) = footer
    {
        assert!(refused.to_string().contains("what a field refers to"), "{refused}");
    }
});
