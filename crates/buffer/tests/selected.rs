//! Elements that the kernel selects by bits, against the same on the host.

#[path = "common/exact.rs"]
mod exact;

use arrow_cuda_buffer::{DeviceBuffer, Error, Source, select};
use arrow_cuda_context::Context;
use exact::upload;
use proptest::prelude::*;

fn bytes(size: usize, seed: u64) -> Vec<u8> {
    let mix = |at: u64| ((at + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8;
    (0..size as u64).map(mix).collect()
}

fn context() -> Context {
    Context::primary(0).expect("a device")
}

/// A buffer of these bytes that begins `skipped` bytes into its memory.
fn placed(context: &Context, bytes: &[u8], skipped: usize) -> DeviceBuffer {
    let whole: Vec<u8> = std::iter::repeat_n(0xEE, skipped).chain(bytes.to_vec()).collect();
    upload(context, &whole).slice_with_length(skipped, bytes.len()).expect("within")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn elements_of_any_size_and_place(
        size in 1..41usize, count in prop_oneof![0..40usize, 250..3000usize], first in 0..30usize,
        skipped in [0..17usize, 0..17, 0..17], each in any::<[bool; 2]>(),
    ) {
        let context = context();
        let bits = bytes((first + count).div_ceil(8), 1);
        let set = bytes(if each[0] { size * count } else { size }, 2);
        let clear = bytes(if each[1] { size * count } else { size }, 3);
        let to = placed(&context, &vec![0xCC; size * count], skipped[0]);
        let buffers = [(&set, skipped[1]), (&clear, skipped[2])]
            .map(|(bytes, skipped)| placed(&context, bytes, skipped));
        let on_device = upload(&context, &bits);
        let source = |number: usize, bytes| match each[number] {
            true => Source::Each(&buffers[number]),
            false => Source::One(bytes),
        };
        select(&to, size, (&on_device, first), source(0, &set), source(1, &clear)).expect("selected");
        let mut expected = Vec::new();
        for number in 0..count {
            let bit = bits[(first + number) / 8] >> ((first + number) % 8) & 1;
            let (from, each) = if bit == 1 { (&set, each[0]) } else { (&clear, each[1]) };
            let start = if each { number * size } else { 0 };
            expected.extend_from_slice(&from[start..start + size]);
        }
        prop_assert!(to.to_vec().expect("alive") == expected);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let context = context();
    let (to, bits) = (upload(&context, &[0; 16]), upload(&context, &[0xFF]));
    let (one, each) = (Source::One(&[7, 7]), Source::Each(&to));
    let other = upload(&context, &[1; 14]);
    let select = |size, first, set, clear| select(&to, size, (&bits, first), set, clear);
    assert!(matches!(select(2, 1, one, one), Err(Error::OutOfBounds(_))));
    assert!(matches!(select(2, 0, Source::Each(&other), one), Err(Error::OutOfBounds(_))));
    for size in [0, 3, 4] {
        assert!(matches!(select(size, 0, one, one), Err(Error::Invalid(_))), "{size}");
    }
    assert!(matches!(select(2, 0, each, one), Err(Error::Invalid(_))));
    assert!(matches!(
        arrow_cuda_buffer::select(&to.read_only(), 2, (&bits, 0), one, one),
        Err(Error::ReadOnly)
    ));
    assert_eq!(to.to_vec().expect("alive"), [0; 16]);
    select(2, 0, one, one).expect("it fits");
    assert_eq!(to.to_vec().expect("alive"), [7; 16]);
}
