//! Record batches.

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Int32Array, ListArray, NullArray, RecordBatch, StringArray, StringViewArray,
    StructArray,
};
use arrow_schema::Field;
use std::sync::Arc;

/// Columns of every layout, with as many rows.
pub fn columns(rows: usize) -> RecordBatch {
    let words = (0..rows).map(|row| (row % 3 != 1).then(|| "w".repeat(row % 40)));
    let lists = (0..rows).map(|row| (row % 4 != 3).then(|| vec![Some(row as i32); row % 5]));
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..rows as i32));
    let texts: ArrayRef = Arc::new(words.clone().collect::<StringArray>());
    let field = |array: &ArrayRef| Arc::new(Field::new("x", array.data_type().clone(), true));
    let both = vec![(field(&numbers), Arc::clone(&numbers)), (field(&texts), Arc::clone(&texts))];
    let columns: [(&str, ArrayRef, bool); 6] = [
        ("numbers", numbers, false),
        ("texts", texts, true),
        ("views", Arc::new(words.collect::<StringViewArray>()), true),
        ("lists", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists)), true),
        ("both", Arc::new(StructArray::from(both)), true),
        ("nothing", Arc::new(NullArray::new(rows)), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}
