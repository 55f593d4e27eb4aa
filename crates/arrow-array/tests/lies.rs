//! Structures of the C Device interface that lie, and devices that hold anything.

mod common;
#[path = "../../context/tests/common/mod.rs"]
mod device;
#[path = "common/raw.rs"]
mod raw;

use arrow_array::{Array, Int32Array};
use arrow_cuda_array::{DeviceArray, Error, c_device};
use arrow_cuda_buffer::DeviceSlice;
use arrow_schema::DataType;
use common::{Dice, array, field, there, types};
use device::alone;
use proptest::prelude::*;
use raw::{Raw, Releases, import, nested};
use rstest::rstest;
use std::ptr::null_mut;

/// Places in what `nested` becomes.
const WORDS: usize = 0;
const NUMBERS: usize = 1;
const TEXTS: usize = 2;
const VIEWS: usize = 3;

/// Exports an array, and imports what the lie makes of its structure.
fn check_refused(exported: &DeviceArray, lie: fn(&mut Raw), text: &str) {
    let mut structure = exported.export().expect("alive");
    let releases = Releases::of(&mut structure);
    lie(Raw::of(&mut structure));
    let refused = import(exported.context(), structure, exported.data_type());
    let error = refused.expect_err("a lie").to_string();
    assert!(error.contains(text), "{error}");
    assert_eq!(releases.count(), 1);
}

#[rstest]
#[case::negative_length(|raw: &mut Raw| raw.length = -1, "an impossible length: -1")]
#[case::negative_offset(|raw: &mut Raw| raw.offset = -1, "an impossible length: 3 elements from -1")]
#[case::negative_of_a_child(|raw: &mut Raw| raw.child(TEXTS).offset = i64::MIN, "an impossible length")]
#[case::endless(|raw: &mut Raw| raw.offset = i64::MAX, "exceed every address")]
#[case::endless_child(|raw: &mut Raw| raw.child(TEXTS).offset = i64::MAX - 3, "out-of-range")]
#[case::longer_than_its_memory(|raw: &mut Raw| raw.child(TEXTS).length = 1 << 20, "")]
#[case::longer_than_a_child(|raw: &mut Raw| raw.length = 4, "has 3 elements, not 4")]
#[case::further_than_a_child(|raw: &mut Raw| raw.offset = 1, "has 3 elements, not 4")]
#[case::more_nulls_than_elements(|raw: &mut Raw| raw.child(TEXTS).null_count = 4, "4 nulls among 3 elements")]
#[case::negative_nulls(|raw: &mut Raw| raw.null_count = -2, "with -2 nulls")]
#[case::nulls_without_a_bitmap(|raw: &mut Raw| raw.null_count = 1, "without a bitmap")]
#[case::no_buffers(|raw: &mut Raw| raw.child(TEXTS).n_buffers = 0, "Utf8 with 0 buffers")]
#[case::too_few_buffers(|raw: &mut Raw| raw.child(TEXTS).n_buffers = 2, "Utf8 with 2 buffers")]
#[case::negative_buffers(|raw: &mut Raw| raw.child(TEXTS).n_buffers = -1, "Utf8 with -1 buffers")]
#[case::views_without_sizes(|raw: &mut Raw| raw.child(VIEWS).n_buffers = 2, "BinaryView with 2 buffers")]
#[case::no_list_of_buffers(|raw: &mut Raw| raw.child(TEXTS).buffers = null_mut(), "in place of its buffers")]
#[case::no_offsets(|raw: &mut Raw| *raw.child(TEXTS).buffer(1) = 0, "in place of 16 bytes")]
#[case::no_text(|raw: &mut Raw| *raw.child(TEXTS).buffer(2) = 0, "in place of 8 bytes")]
#[case::no_sizes(|raw: &mut Raw| *raw.child(VIEWS).buffer(3) = 0, "buffers at 0x0 cannot be read")]
#[case::wild_sizes(|raw: &mut Raw| *raw.child(VIEWS).buffer(3) = 0x7000, "at 0x7000 cannot be read")]
#[case::nothing_that_views_lead_to(|raw: &mut Raw| *raw.child(VIEWS).buffer(2) = 0, "in place of 50 bytes")]
#[case::a_wild_buffer(|raw: &mut Raw| *raw.child(TEXTS).buffer(2) = 0x7000, "cuPointerGetAttribute")]
#[case::a_wild_bitmap(|raw: &mut Raw| *raw.child(TEXTS).buffer(0) = 0x7000, "cuPointerGetAttribute")]
#[case::no_children(|raw: &mut Raw| raw.n_children = 0, "with 0 children")]
#[case::negative_children(|raw: &mut Raw| raw.n_children = -1, "with -1 children")]
#[case::children_of_text(|raw: &mut Raw| raw.child(TEXTS).n_children = 1, "Utf8 with 1 children")]
#[case::no_list_of_children(|raw: &mut Raw| raw.children = null_mut(), "in place of its children")]
#[case::a_dictionary_of_text(|raw: &mut Raw| raw.child(TEXTS).dictionary = raw.child(WORDS).dictionary, "Utf8 with a dictionary")]
#[case::an_event_nowhere(|raw: &mut Raw| raw.sync_event = 0x1230, "cannot be read")]
#[case::a_misaligned_event(|raw: &mut Raw| raw.sync_event = &raw const raw.length as u64 + 1, "cannot be read")]
#[case::no_event(|raw: &mut Raw| raw.sync_event = &raw const raw.reserved as u64, "0x0, which is not an event")]
#[case::another_device(|raw: &mut Raw| raw.device_id = 1, "lies on device 1, the context is on 0")]
#[case::no_device(|raw: &mut Raw| raw.device_id = -1, "lies on device -1")]
#[case::the_host(|raw: &mut Raw| raw.device_type = c_device::CPU, "device type 1")]
#[case::pinned_memory(|raw: &mut Raw| raw.device_type = c_device::CUDA_HOST, "import_host")]
#[case::an_unknown_device(|raw: &mut Raw| raw.device_type = 258, "device type 258")]
fn a_structure_that_lies_is_refused_and_released(#[case] lie: fn(&mut Raw), #[case] text: &str) {
    let (_alone, context) = alone();
    let before = context.bytes_allocated().expect("alive");
    let exported = there(&context, &nested());
    check_refused(&exported, lie, text);
    drop(exported);
    assert_eq!(context.bytes_allocated().expect("alive"), before);
}

/// A child that a producer has moved elsewhere is not released with the structure.
#[rstest]
#[case::a_missing_child(|raw: &mut Raw| *raw.place_of_child(NUMBERS) = null_mut(), "in place of a child")]
#[case::a_released_child(|raw: &mut Raw| raw.child(NUMBERS).child(0).release = null_mut(), "was released")]
#[case::a_missing_dictionary(|raw: &mut Raw| raw.child(WORDS).dictionary = null_mut(), "without a dictionary")]
#[case::a_released_dictionary(|raw: &mut Raw| raw.child(WORDS).dictionary().release = null_mut(), "was released")]
fn what_is_missing_is_refused(#[case] lie: fn(&mut Raw), #[case] text: &str) {
    let (_alone, context) = alone();
    check_refused(&there(&context, &nested()), lie, text);
}

#[test]
fn offsets_on_the_device_that_lie_are_refused() {
    let (_alone, context) = alone();
    let exported = there(&context, &nested());
    let offsets = exported.children().nth(TEXTS).expect("a child").buffers()[0].clone();
    for (last, text) in [(-5, "an offset of -5"), (i32::MAX, "size argument is out-of-range")] {
        offsets.slice(12..16).expect("within").copy_from_host(&last.to_ne_bytes()).expect("alive");
        check_refused(&exported, |_| (), text);
    }
}

#[rstest]
#[case::on_the_host(false)]
#[case::on_the_device(true)]
fn sizes_of_what_views_lead_to_are_read_where_they_lie(#[case] is_on_device: bool) {
    let (_alone, context) = alone();
    let exported = there(&context, &nested()).children().nth(VIEWS).expect("views");
    for size in [50i64, i64::MAX, -1] {
        let mut structure = exported.export().expect("alive");
        let releases = Releases::of(&mut structure);
        let raw = Raw::of(&mut structure);
        let there = DeviceSlice::from_slice(&context, &[size]).expect("room");
        *raw.buffer(3) =
            if is_on_device { there.buffer().private_address() } else { &raw const size as u64 };
        let imported = import(&context, structure, exported.data_type());
        match (size, imported) {
            (50, Ok(imported)) => {
                assert_eq!(imported.buffers()[1].len(), 50);
                imported.to_host().expect("valid");
            }
            (i64::MAX, Err(Error::Buffer(_))) => {}
            (-1, Err(error)) => assert_eq!(error.to_string(), "a buffer of -1 bytes"),
            (_, other) => panic!("{size}: {other:?}"),
        }
        assert_eq!(releases.count(), 1);
    }
}

#[test]
fn a_type_that_does_not_fit_is_refused() {
    let (_alone, context) = alone();
    let exported = there(&context, &Int32Array::from(vec![1, 2, 3]));
    let item = field("item", DataType::Int32, true);
    for data_type in [
        DataType::Utf8,
        DataType::Null,
        DataType::Decimal256(76, 0),
        DataType::FixedSizeBinary(-1),
        DataType::FixedSizeBinary(i32::MAX),
        DataType::List(item.clone()),
        DataType::FixedSizeList(item, 0),
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Int32)),
    ] {
        let mut structure = exported.export().expect("alive");
        let releases = Releases::of(&mut structure);
        let refused = import(&context, structure, &data_type);
        assert!(matches!(refused, Err(Error::Invalid(_) | Error::Buffer(_))), "{refused:?}");
        assert_eq!(releases.count(), 1);
    }
}

#[rstest]
#[case::negative_size(DataType::FixedSizeBinary(-1))]
#[case::negative_length(DataType::FixedSizeList(field("x", DataType::Int8, true), -1))]
#[case::keys(DataType::Dictionary(Box::new(DataType::Utf8), Box::new(DataType::Utf8)))]
#[case::ends(DataType::RunEndEncoded(
    field("x", DataType::Float32, false),
    field("y", DataType::Int8, true)
))]
#[case::entries(DataType::Map(field("x", DataType::Int8, true), false))]
#[case::inside(DataType::List(field("x", DataType::FixedSizeBinary(-1), true)))]
#[case::deep((0..65).fold(DataType::Int8, |inner, _| DataType::List(field("x", inner, true))))]
fn impossible_types_are_refused(#[case] data_type: DataType) {
    let (_alone, context) = alone();
    let structure = there(&context, &Int32Array::from(vec![1])).export().expect("alive");
    let refused = import(&context, structure, &data_type).expect_err("impossible");
    let text = refused.to_string();
    let is_refusal = ["no array has the type", "nested too deeply"].map(|said| text.contains(said));
    assert!(is_refusal.contains(&true), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn whatever_the_device_holds_arrives_valid_or_not_at_all(
        data_type in types(), length in 1..20usize, seed in any::<u64>(), times in 1..4usize,
    ) {
        let (_alone, context) = alone();
        let mut dice = Dice(seed);
        let whole = there(&context, &array(&data_type, length, &mut dice));
        let (mut buffers, mut arrays) = (Vec::new(), vec![whole.clone()]);
        while let Some(next) = arrays.pop() {
            buffers.extend(next.clone().into_parts().nulls);
            buffers.extend_from_slice(next.buffers());
            arrays.extend(next.children().chain(next.dictionary()));
        }
        buffers.retain(|buffer| !buffer.is_empty());
        for _ in 0..times.min(4 * buffers.len()) {
            let buffer = &buffers[dice.below(buffers.len())];
            let at = dice.below(buffer.len());
            let value = [dice.below(256) as u8, 0xFF, 0x7F][dice.below(3)];
            buffer.slice(at..=at)?.copy_from_host(&[value])?;
        }
        let structure = whole.export()?;
        let imported = import(&context, structure, &data_type);
        let part = whole.slice(length / 3, length / 2)?;
        for array in [Some(whole), imported.ok(), Some(part)].into_iter().flatten() {
            if let Ok(array) = array.to_host() {
                array.to_data().validate_full()?;
                let shown = format!("{array:?}");
                prop_assert!(!shown.is_empty());
            }
        }
    }
}
