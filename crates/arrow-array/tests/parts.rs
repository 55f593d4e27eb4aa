//! The parts that arrays and batches may have.

mod common;
#[path = "../../context/tests/common/mod.rs"]
mod device;
#[path = "common/raw.rs"]
mod raw;

use arrow_array::{ArrayRef, Int32Array, Int32RunArray, StringArray, StructArray};
use arrow_cuda_array::{ArrayParts, DeviceArray, DeviceRecordBatch, c_device};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_schema::{DataType, Schema};
use common::{field, there};
use device::{alone, second_device};
use raw::{Raw, import};
use rstest::rstest;
use std::sync::Arc;

#[test]
fn a_batch_has_no_rows_that_are_null() {
    let (_alone, context) = alone();
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let fields = vec![field("x", DataType::Int32, true)];
    let nulls = vec![true, false].into();
    let rows = StructArray::new(fields.clone().into(), vec![numbers], Some(nulls));
    let schema = Arc::new(Schema::new(fields));
    let rows = there(&context, &rows);
    let refused = DeviceRecordBatch::from_struct(schema.clone(), &rows).expect_err("a null");
    assert_eq!(refused.to_string(), "a record batch with 1 rows that are null");
    assert!(
        DeviceRecordBatch::from_struct(schema.clone(), &rows.slice(0, 1).expect("within")).is_ok()
    );
    let other = there(&context, &Int32Array::from(vec![1]));
    assert!(DeviceRecordBatch::from_struct(schema, &other).is_err());
}

#[test]
fn runs_need_as_many_values_as_ends() {
    let (_alone, context) = alone();
    let runs: Int32RunArray = ["a", "a", "b"].into_iter().collect();
    let mut parts = there(&context, &runs).into_parts();
    parts.children[1] = parts.children[1].slice(0, 1).expect("within");
    let refused = DeviceArray::new(&context, parts).expect_err("two ends, one value");
    assert_eq!(refused.to_string(), "2 ends of runs for 1 values");
}

#[test]
fn an_array_without_elements_has_a_first_offset() {
    let (_alone, context) = alone();
    let empty: ArrayRef = Arc::new(StringArray::from(Vec::<&str>::new()));
    let mut structure = there(&context, &empty).export().expect("alive");
    let raw = Raw::of(&mut structure);
    assert_ne!(*raw.buffer(1), 0, "consumers read it");
    // Some producers leave it out.
    *raw.buffer(1) = 0;
    let imported = import(&context, structure, &DataType::Utf8).expect("sound");
    assert_eq!(imported.buffers()[0].to_vec().expect("alive"), [0; 4]);
    assert_eq!(&imported.to_host().expect("valid"), &empty);
}

#[test]
fn parts_of_several_contexts_are_refused() {
    let (_alone, context) = alone();
    let Some(second) = second_device() else { return };
    let parts = there(&second, &Int32Array::from(vec![1])).into_parts();
    let refused = DeviceArray::new(&context, parts).expect_err("another device");
    assert!(refused.to_string().contains("on device 1, in an array of context"), "{refused}");
    let structure = there(&second, &Int32Array::from(vec![1])).export().expect("alive");
    assert_eq!((structure.device_type, structure.device_id), (c_device::CUDA, 1));
    assert!(import(&context, structure, &DataType::Int32).is_err());
}

#[rstest]
#[case::a_short_buffer(|parts: &mut ArrayParts| parts.length = 4, "buffer 0 has 16 bytes, and 4 elements need 20")]
#[case::an_offset(|parts: &mut ArrayParts| parts.offset = 1, "buffer 0 has 16 bytes, and 4 elements need 20")]
#[case::endless(|parts: &mut ArrayParts| parts.offset = usize::MAX, "an impossible length: 3 elements from")]
#[case::a_short_bitmap(|parts: &mut ArrayParts| parts.nulls = Some(shorter(parts, 0)), "the validity bitmap has 0 bytes")]
#[case::a_buffer_less(|parts: &mut ArrayParts| parts.buffers.truncate(1), "Utf8 with 1 buffers, not 2")]
#[case::a_buffer_more(|parts: &mut ArrayParts| parts.buffers.push(shorter(parts, 0)), "Utf8 with 3 buffers, not 2")]
#[case::another_type(|parts: &mut ArrayParts| parts.data_type = DataType::LargeUtf8, "and 3 elements need 32")]
#[case::nulls(|parts: &mut ArrayParts| parts.null_count = Some(4), "4 nulls among 3 elements")]
#[case::no_bitmap(|parts: &mut ArrayParts| parts.nulls = None, "Utf8 with nulls, but without a bitmap")]
#[case::a_bitmap_too_many(|parts: &mut ArrayParts| bitmap_of_null(parts), "Null with a validity bitmap")]
fn parts_that_do_not_fit_are_refused(#[case] change: fn(&mut ArrayParts), #[case] text: &str) {
    let (_alone, context) = alone();
    let words = StringArray::from(vec![Some("one"), None, Some("three")]);
    let mut parts = there(&context, &words).into_parts();
    change(&mut parts);
    let refused = DeviceArray::new(&context, parts).expect_err("parts that do not fit");
    assert!(refused.to_string().contains(text), "{refused}");
}

fn shorter(parts: &ArrayParts, size: usize) -> DeviceBuffer {
    parts.buffers[0].slice_with_length(0, size).expect("within")
}

fn bitmap_of_null(parts: &mut ArrayParts) {
    parts.data_type = DataType::Null;
    parts.buffers.clear();
}

#[test]
fn a_buffer_may_end_within_an_element() {
    let (_alone, context) = alone();
    let words: ArrayRef = Arc::new(StringArray::from(vec!["one", "three"]));
    let mut parts = there(&context, &words).into_parts();
    let longer = DeviceBuffer::allocate(&context, 13).expect("room");
    let offsets = &parts.buffers[0];
    longer.slice(..12).expect("within").copy_from_device(offsets).expect("both alive");
    parts.buffers[0] = longer;
    let array = DeviceArray::new(&context, parts).expect("enough bytes");
    assert_eq!(&array.to_host().expect("valid"), &words);
}

#[test]
fn a_batch_is_made_of_columns_that_fit() {
    let (_alone, context) = alone();
    let numbers = there(&context, &Int32Array::from(vec![Some(1), None]));
    let schema = |data_type, is_nullable| -> Arc<Schema> {
        Arc::new(Schema::new(vec![field("x", data_type, is_nullable)]))
    };
    let refused = |schema: &Arc<Schema>, columns: &[&DeviceArray]| {
        let columns = columns.iter().map(|column| (*column).clone()).collect();
        DeviceRecordBatch::try_new(schema.clone(), columns).expect_err("not a batch").to_string()
    };
    let right = schema(DataType::Int32, true);
    let batch = DeviceRecordBatch::try_new(right.clone(), vec![numbers.clone()]).expect("a batch");
    assert_eq!((batch.num_rows(), batch.column_by_name("y").is_none()), (2, true));
    assert!(batch.project(&[1]).is_err() && batch.slice(1, 2).is_err());
    assert_eq!(batch.project(&[0, 0]).expect("within").num_columns(), 2);
    assert_eq!(batch.copy_to(&context).expect("room").into_parts().2, 2);
    assert_eq!(refused(&right, &[&numbers, &numbers]), "2 columns, for a schema with 1 fields");
    assert_eq!(
        refused(&schema(DataType::Int64, true), &[&numbers]),
        "column x is of Int32, and its field of Int64"
    );
    assert_eq!(
        refused(&schema(DataType::Int32, false), &[&numbers]),
        "column x has nulls, and its field says that it has none"
    );
    let two = Arc::new(Schema::new([&right.fields()[..], &right.fields()[..]].concat()));
    assert_eq!(
        refused(&two, &[&numbers, &numbers.slice(0, 1).expect("within")]),
        "column x has 1 rows, and the first 2"
    );
    assert!(refused(&Arc::new(Schema::empty()), &[]).contains("from_struct"));
}

#[test]
fn lists_that_do_not_fit_are_no_batch() {
    let (_alone, context) = alone();
    let schema: Arc<Schema> = Arc::new(Schema::new(vec![field("x", DataType::Int32, false)]));
    let flat = |numbers: Vec<Option<i32>>| {
        let nullable = Arc::new(Schema::new(vec![field("x", DataType::Int32, true)]));
        let column = there(&context, &Int32Array::from(numbers));
        let batch = DeviceRecordBatch::try_new(nullable, vec![column]).expect("a batch");
        batch.to_flat().expect("room")
    };
    let made = |rows, flat| DeviceRecordBatch::from_flat(&context, schema.clone(), rows, flat);
    let right = flat(vec![Some(1), Some(2)]);
    assert!(made(2, right.clone()).is_ok());
    assert!(made(1, right.clone()).is_err(), "a column is longer than the batch");
    assert!(made(2, flat(vec![Some(1), None])).is_err(), "a field without nulls");
    let mut uncounted = flat(vec![Some(1), None]);
    uncounted.nodes[0].1 = None;
    assert!(made(2, uncounted).is_err(), "nobody has counted them");
    let (mut views, mut dictionaries) = (right.clone(), right);
    views.view_buffers.push(1);
    assert!(made(2, views).is_err(), "no array has taken it");
    dictionaries.dictionaries.push(there(&context, &Int32Array::from(vec![1])));
    assert!(made(2, dictionaries).is_err(), "no array has taken it");
}
