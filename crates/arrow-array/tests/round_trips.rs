//! Arrays of every type, there and back.

mod common;
#[path = "../../context/tests/common/mod.rs"]
mod device;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, GenericListViewArray, Int32Array, ListArray, RecordBatch, StringArray,
    StringViewArray, StructArray, UnionArray,
};
use arrow_cuda_array::{DeviceArray, DeviceRecordBatch};
use arrow_cuda_context::Context;
use arrow_schema::{DataType, Schema};
use common::{Dice, array, field, there, types};
use device::{alone, second_device};
use proptest::prelude::*;
use std::sync::Arc;

fn allocated(context: &Context) -> u64 {
    context.bytes_allocated().expect("alive")
}

fn check_same(found: &DeviceArray, expected: &ArrayRef) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.data_type(), expected.data_type());
    prop_assert_eq!((found.len(), found.is_empty()), (expected.len(), expected.is_empty()));
    let nulls = match expected.data_type() {
        DataType::Null => expected.len(),
        _ => expected.null_count(),
    };
    prop_assert_eq!(found.null_count()?, nulls);
    let back = found.to_host()?;
    back.to_data().validate_full()?;
    prop_assert_eq!(&back.to_data(), &expected.to_data());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arrays_survive_the_device(
        data_type in types(), length in 0..40usize, seed in any::<u64>(),
        cuts in any::<[prop::sample::Index; 4]>(),
    ) {
        let (_alone, context) = alone();
        let before = allocated(&context);
        let whole = array(&data_type, length, &mut Dice(seed));
        let range = |length: usize, cuts: &[prop::sample::Index]| {
            let first = cuts[0].index(length + 1);
            (first, cuts[1].index(length - first + 1))
        };
        let (first, count) = range(whole.len(), &cuts[..2]);
        let part = whole.slice(first, count);
        let on_device = there(&context, &whole);
        check_same(&on_device, &whole)?;
        // Slices of either side, and slices of slices.
        check_same(&there(&context, &part), &part)?;
        let slice = on_device.slice(first, count)?;
        check_same(&slice, &part)?;
        let (first, count) = range(count, &cuts[2..]);
        check_same(&slice.slice(first, count)?, &part.slice(first, count))?;
        prop_assert!(slice.slice(1, slice.len()).is_err());
        // Over other libraries' structures.
        let structure = slice.export()?;
        prop_assert_eq!(structure.sync_event, std::ptr::null_mut());
        // SAFETY: made here, for this type.
        let imported = unsafe { DeviceArray::import(&context, structure, &data_type) }?;
        check_same(&imported, &part)?;
        check_same(&imported.slice(first, count)?, &part.slice(first, count))?;
        // Memory is released with the last that shares it.
        let retained = allocated(&context);
        drop((on_device, slice));
        check_same(&imported, &part)?;
        drop(imported);
        prop_assert!(allocated(&context) <= retained);
        prop_assert_eq!(allocated(&context), before);
    }

    #[test]
    fn parts_make_the_same_array(data_type in types(), length in 0..20usize, seed in any::<u64>()) {
        let (_alone, context) = alone();
        let whole = array(&data_type, length, &mut Dice(seed));
        let parts = there(&context, &whole).into_parts();
        check_same(&DeviceArray::new(&context, parts)?, &whole)?;
    }

    #[test]
    fn arrays_go_to_other_devices(data_type in types(), length in 0..20usize, seed in any::<u64>()) {
        let (_alone, context) = alone();
        let Some(second) = second_device() else { return Ok(()) };
        let whole = array(&data_type, length, &mut Dice(seed));
        let copy = there(&context, &whole).copy_to(&second)?;
        prop_assert_eq!(copy.context().device().number(), 1);
        check_same(&copy, &whole)?;
    }

    #[test]
    fn batches_survive_the_device(
        types in prop::collection::vec(types(), 0..4), rows in 0..20usize, seed in any::<u64>(),
    ) {
        let (_alone, context) = alone();
        let mut dice = Dice(seed);
        let columns: Vec<_> = types.iter().map(|data_type| array(data_type, rows, &mut dice)).collect();
        let fields = columns.iter().map(|column| field("x", column.data_type().clone(), true));
        let metadata = std::collections::HashMap::from([("key".into(), "value".into())]);
        let schema = Schema::new(fields.collect::<Vec<_>>()).with_metadata(metadata);
        let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(schema.into(), columns, &options)?;
        let on_device = DeviceRecordBatch::from_host(&context, &batch)?;
        prop_assert_eq!(&on_device.to_host()?, &batch);
        let part = on_device.slice(rows / 3, rows / 2)?;
        // SAFETY: made here, for this schema.
        let part = unsafe { DeviceRecordBatch::import(&context, part.export()?, batch.schema()) }?;
        let expected = batch.slice(rows / 3, rows / 2);
        prop_assert_eq!((part.num_rows(), part.num_columns()), (expected.num_rows(), expected.num_columns()));
        prop_assert_eq!(&part.to_host()?, &expected);
        for (found, expected) in part.columns().iter().zip(expected.columns()) {
            check_same(found, expected)?;
        }
        let flat = part.to_flat()?;
        let part = DeviceRecordBatch::from_flat(&context, batch.schema(), part.num_rows() as u64, flat)?;
        prop_assert_eq!(&part.to_host()?, &expected);
    }
}

#[test]
fn a_slice_takes_what_it_reaches() {
    let (_alone, context) = alone();
    let words: StringArray = (0..10_000).map(|n| Some(format!("this is number {n:05}"))).collect();
    let lists = ListArray::new(
        field("item", DataType::Utf8, true),
        arrow_buffer::OffsetBuffer::from_lengths(std::iter::repeat_n(5, 2000)),
        Arc::new(words.clone()),
        None,
    );
    let views: StringViewArray = words.iter().collect();
    let list_views = GenericListViewArray::<i64>::new(
        field("item", DataType::Utf8View, true),
        (0..2000).collect(),
        vec![5; 2000].into(),
        Arc::new(views.clone()),
        None,
    );
    let fields = [(3, field("a", DataType::Utf8View, true)), (5, field("b", DataType::Utf8, true))];
    let union = UnionArray::try_new(
        fields.into_iter().collect(),
        [3, 5].repeat(5000).into(),
        Some((0..10_000).map(|row| row / 2).collect()),
        vec![Arc::new(views.clone()), Arc::new(words.clone())],
    );
    let wholes: [ArrayRef; 5] = [
        Arc::new(words),
        Arc::new(lists),
        Arc::new(views),
        Arc::new(list_views),
        Arc::new(union.expect("valid")),
    ];
    for whole in wholes {
        let part = whole.slice(1003, 5);
        let before = allocated(&context);
        let copy = there(&context, &part);
        assert!(allocated(&context) - before < 4096, "{}", allocated(&context) - before);
        assert_eq!(&copy.to_host().expect("valid"), &part);
        let slice = there(&context, &whole).slice(1003, 5).expect("within");
        let back = slice.to_host().expect("valid");
        assert_eq!(&back, &part);
        assert!(back.get_buffer_memory_size() < 4096, "{}", back.get_buffer_memory_size());
    }
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..10_000));
    let part = there(&context, &numbers).slice(1003, 5).expect("within");
    let again = part.copy_to(&context).expect("room");
    assert_eq!(again.buffers()[0].len(), 20);
    assert_eq!(&again.to_host().expect("valid"), &numbers.slice(1003, 5));
}

#[test]
fn all_buffers_are_one_allocation() {
    let (_alone, context) = alone();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let rows = StructArray::from(vec![
        (field("a", DataType::Int32, true), Arc::clone(&numbers)),
        (field("b", DataType::Int32, true), numbers),
    ]);
    let both = |child: DeviceArray| {
        let validity = child.nulls().expect("nulls").private_address();
        [validity, child.buffers()[0].private_address()]
    };
    let addresses: Vec<_> = there(&context, &rows).children().flat_map(both).collect();
    assert!(addresses.windows(2).all(|pair| pair[1] == pair[0] + 256), "{addresses:x?}");
}

#[test]
fn a_bitmap_without_nulls_stays_on_the_host() {
    let (_alone, context) = alone();
    let lists = [vec![None], vec![Some(2), Some(3)]].map(Some);
    let part = ListArray::from_iter_primitive::<Int32Type, _, _>(lists).slice(1, 1);
    assert_eq!(part.values().null_count(), 1);
    let copy = there(&context, &part);
    let items = copy.children().next().expect("items");
    assert!(items.nulls().is_none());
    assert_eq!((items.len(), items.null_count()), (2, Ok(0)));
    assert_eq!(copy.to_host().expect("valid").as_list(), &part);
}
