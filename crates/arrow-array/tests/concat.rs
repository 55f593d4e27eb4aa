//! Concatenation of arrays on the device.

mod common;
#[path = "../../context/tests/common/mod.rs"]
mod device;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, UInt8Type};
use arrow_array::{Array, DictionaryArray, Int32Array, StringArray};
use arrow_cuda_array::{ArrayParts, DeviceArray, DeviceRecordBatch, Error};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_schema::{DataType, Field};
use common::{Dice, array, there, types};
use device::{alone, second_device};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn elements_follow_each_other(
        data_type in types(), seed in any::<u64>(),
        parts in prop::collection::vec((0..20usize, any::<[prop::sample::Index; 4]>()), 1..4),
    ) {
        let (_alone, context) = alone();
        let before = context.bytes_allocated()?;
        let mut dice = Dice(seed);
        let (mut on_host, mut on_device) = (Vec::new(), Vec::new());
        for (length, cuts) in parts {
            // Slices on either side.
            let mut part = array(&data_type, length, &mut dice);
            let mut copy = there(&context, &part);
            for cut in cuts.chunks(2) {
                let first = cut[0].index(part.len() + 1);
                let count = cut[1].index(part.len() - first + 1);
                (part, copy) = (part.slice(first, count), copy.slice(first, count)?);
            }
            on_host.push(part);
            on_device.push(copy);
        }
        let whole = DeviceArray::concat(&on_device)?;
        drop(on_device);
        whole.to_host()?.to_data().validate_full()?;
        let mut at = 0;
        for part in &on_host {
            let found = whole.slice(at, part.len())?;
            prop_assert_eq!(&found.to_host()?.to_data(), &part.to_data());
            at += part.len();
        }
        prop_assert_eq!(whole.len(), at);
        prop_assert_eq!(whole.null_count()?, whole.to_host()?.to_data().null_count().max(
            if data_type == DataType::Null { at } else { 0 }
        ));
        drop(whole);
        prop_assert_eq!(context.bytes_allocated()?, before);
    }
}

fn dictionary(words: &[&str]) -> DictionaryArray<Int8Type> {
    words.iter().copied().collect()
}

#[test]
fn one_dictionary_stays_where_it_is_and_several_follow_each_other() {
    let (_alone, context) = alone();
    let first = there(&context, &dictionary(&["a", "b", "a"]));
    let same = [first.slice(1, 2).expect("within"), first.clone()];
    let whole = DeviceArray::concat(&same).expect("room");
    let place =
        |array: &DeviceArray| array.dictionary().expect("one").buffers()[1].private_address();
    assert_eq!(place(&whole), place(&first));
    let other = there(&context, &dictionary(&["c", "a"]));
    let whole = DeviceArray::concat(&[first, other]).expect("room");
    let found = whole.to_host().expect("valid");
    let words = found.as_dictionary::<Int8Type>().downcast_dict::<StringArray>().expect("words");
    assert!(words.into_iter().eq(["a", "b", "a", "c", "a"].map(Some)));
    assert_eq!(whole.dictionary().expect("one").len(), 4);
}

#[test]
fn keys_that_cannot_count_all_values_are_refused() {
    let (_alone, context) = alone();
    let words: Vec<_> = (0..128).map(|number| number.to_string()).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let signed = [&words[..100], &words[..28]].map(|words| there(&context, &dictionary(words)));
    assert_eq!(DeviceArray::concat(&signed).expect("127 is a key").len(), 128);
    let signed = [&words[..100], &words[..29]].map(|words| there(&context, &dictionary(words)));
    let refused = DeviceArray::concat(&signed).expect_err("128 is none").to_string();
    assert!(refused.contains("cannot count the 129 values"), "{refused}");
    let unsigned = [&words[..128], &words[..128]].map(|words| {
        let words: DictionaryArray<UInt8Type> = words.iter().copied().collect();
        there(&context, &words)
    });
    assert_eq!(DeviceArray::concat(&unsigned).expect("255 is a key").len(), 256);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let (_alone, context) = alone();
    assert!(matches!(DeviceArray::concat(&[]), Err(Error::Invalid(_))));
    assert!(matches!(DeviceRecordBatch::concat(&[]), Err(Error::Invalid(_))));
    let numbers = there(&context, &Int32Array::from(vec![1]));
    let words = there(&context, &StringArray::from(vec!["a"]));
    let refused = DeviceArray::concat(&[numbers.clone(), words]).expect_err("other types");
    assert_eq!(refused.to_string(), "an array of Utf8, behind one of Int32");
    if let Some(second) = second_device() {
        let far = numbers.copy_to(&second).expect("room");
        let refused = DeviceArray::concat(&[numbers, far]).expect_err("other devices");
        assert!(refused.to_string().contains("copy_to"), "{refused}");
    }
}

#[test]
fn bitmaps_are_not_taken_for_values_of_other_arrays() -> Result<(), Error> {
    let (_alone, context) = alone();
    let bytes = |value: u8| DeviceBuffer::from_slice(&context, &[value; 8]);
    let (x, y, z) = (bytes(0xFF)?, bytes(0)?, bytes(7)?);
    let column = |validity: Option<&DeviceBuffer>, values: &DeviceBuffer| {
        let parts = ArrayParts { nulls: validity.cloned(), ..ArrayParts::new(DataType::Int8, 8) };
        DeviceArray::new(&context, ArrayParts { buffers: vec![values.clone()], ..parts })
    };
    let fields = ["a", "b"].map(|name| Field::new(name, DataType::Int8, true));
    let data_type = DataType::Struct(fields.to_vec().into());
    let rows = |children| {
        DeviceArray::new(&context, ArrayParts { children, ..ArrayParts::new(data_type.clone(), 8) })
    };
    // The same three buffers in the same order.
    let one = rows(vec![column(Some(&x), &y)?, column(None, &z)?])?;
    let other = rows(vec![column(None, &x)?, column(Some(&y), &z)?])?;
    assert!(!one.is_same_memory(&other) && !one.equals(&other)?);
    Ok(())
}
