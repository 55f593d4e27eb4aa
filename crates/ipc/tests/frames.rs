//! Frames of messages.

use arrow_cuda_ipc::{Error, Frame};
use proptest::prelude::*;

#[test]
fn both_formats_are_read() {
    let places = |prefix: &[u8]| {
        let frame = Frame::parse(prefix, 100).expect("enough bytes");
        (frame.metadata_offset, frame.metadata_length, frame.body_offset())
    };
    assert_eq!(places(&[255, 255, 255, 255, 16, 0, 0, 0]), (8, 16, 24));
    assert_eq!(places(&[16, 0, 0, 0, 1, 2, 3, 4]), (4, 16, 20));
}

#[test]
fn the_end_of_a_stream_is_not_damage() {
    for end in [&[][..], &[0; 4], &[255, 255, 255, 255, 0, 0, 0, 0]] {
        assert_eq!(Frame::parse(end, end.len() as u64), Err(Error::EndOfStream));
    }
    for damaged in [&[255; 3][..], &[255; 4], &[255; 7], &[9, 0, 0, 0]] {
        let parsed = Frame::parse(damaged, damaged.len() as u64);
        assert!(matches!(parsed, Err(Error::Message(_))), "{damaged:?}");
    }
    assert!(matches!(Frame::parse(&[255; 8], 100), Err(Error::Unreadable(_))));
}

proptest! {
    #[test]
    fn the_metadata_always_lies_within(
        has_marker: bool,
        length in prop_oneof![any::<u32>(), 0..1_000_000u32],
        rest: [u8; 4],
        size in 8..1_000_000u64,
    ) {
        let length = length.to_le_bytes();
        let prefix = if has_marker { [[0xFF; 4], length] } else { [length, rest] };
        if let Ok(frame) = Frame::parse(&prefix.concat(), size) {
            prop_assert!(frame.body_offset() <= size);
        }
    }
}
