//! The layout and the children that a type prescribes.

use crate::Error;
use arrow_cuda_layout::{Content, Layout};
use arrow_schema::{DataType, UnionMode};

/// Deeper types are refused, as libarrow refuses them.
const MAX_DEPTH: usize = 64;

/// How an array of a type that was [checked](check) lies in memory, and the width that goes with it.
pub(crate) fn layout(data_type: &DataType) -> (Layout, u64) {
    match data_type {
        DataType::Null => (Layout::Null, 0),
        DataType::Boolean => (Layout::Bits, 0),
        DataType::Utf8 | DataType::Binary => (Layout::Binary, 4),
        DataType::LargeUtf8 | DataType::LargeBinary => (Layout::Binary, 8),
        DataType::Utf8View | DataType::BinaryView => (Layout::BinaryView, 0),
        DataType::List(_) | DataType::Map(..) => (Layout::List, 4),
        DataType::LargeList(_) => (Layout::List, 8),
        DataType::ListView(_) => (Layout::ListView, 4),
        DataType::LargeListView(_) => (Layout::ListView, 8),
        DataType::FixedSizeList(_, length) => {
            (Layout::FixedSizeList, u64::try_from(*length).unwrap_or(0))
        }
        DataType::Struct(_) => (Layout::Struct, 0),
        DataType::Union(_, UnionMode::Sparse) => (Layout::SparseUnion, 0),
        DataType::Union(_, UnionMode::Dense) => (Layout::DenseUnion, 0),
        DataType::RunEndEncoded(..) => (Layout::RunEndEncoded, 0),
        DataType::FixedSizeBinary(size) => (Layout::Fixed, u64::try_from(*size).unwrap_or(0)),
        DataType::Dictionary(keys, _) => layout(keys),
        _ => (Layout::Fixed, data_type.primitive_width().unwrap_or(0) as u64),
    }
}

pub(crate) struct Buffers {
    /// Whether it may have a validity bitmap.
    pub(crate) has_validity: bool,
    /// The others, in order.
    pub(crate) contents: Vec<Content>,
    /// Whether any number of buffers may follow, which hold what views lead to.
    pub(crate) is_variadic: bool,
}

impl Buffers {
    /// The buffers of a type that was [checked](check).
    pub(crate) fn of(data_type: &DataType) -> Self {
        let (layout, width) = layout(data_type);
        let contents = layout.contents(width).collect();
        let is_variadic = layout == Layout::BinaryView;
        Self { has_validity: layout.has_validity(), contents, is_variadic }
    }
}

/// The size of a buffer for `count` elements, in bytes; `None` if their number does not determine it.
///
/// Fails if that is more than the address space has.
pub(crate) fn size(content: Content, count: u64) -> Result<Option<u64>, Error> {
    match content.size(count) {
        None if content != Content::Bytes => Err(too_long(count)),
        size => Ok(size),
    }
}

pub(crate) fn too_long(count: u64) -> Error {
    Error::Invalid(format!("{count} elements exceed every address"))
}

/// The types of the children that an array of a type has, in their order.
///
/// ```
/// use arrow_schema::{DataType, Field};
///
/// let list = DataType::List(Field::new("item", DataType::Int8, true).into());
/// assert_eq!(arrow_cuda_array::child_types(&list), [&DataType::Int8]);
/// assert!(arrow_cuda_array::child_types(&DataType::Int8).is_empty());
/// ```
pub fn children(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::Map(field, _)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _) => vec![field.data_type()],
        DataType::Struct(fields) => fields.iter().map(|field| field.data_type()).collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field.data_type()).collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends.data_type(), values.data_type()],
        _ => Vec::new(),
    }
}

/// The type ids of a union's children, in their order.
pub(crate) fn type_ids(data_type: &DataType) -> Vec<u8> {
    match data_type {
        DataType::Union(fields, _) => fields.iter().map(|(id, _)| id.cast_unsigned()).collect(),
        _ => Vec::new(),
    }
}

/// The width of a dictionary's keys, in bytes, and the largest of them.
pub(crate) fn keys(data_type: &DataType) -> (u64, u64) {
    let width = layout(data_type).1.clamp(1, 8);
    let most = u64::MAX >> (64 - 8 * width);
    match data_type {
        DataType::Dictionary(keys, _) if keys.is_signed_integer() => (width, most >> 1),
        _ => (width, most),
    }
}

pub(crate) fn dictionary(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::Dictionary(_, values) => Some(values),
        _ => None,
    }
}

/// Refuses a type that no array can have, and that arrow-rs would panic over.
pub(crate) fn check(data_type: &DataType) -> Result<(), Error> {
    check_at(data_type, 0)
}

fn check_at(data_type: &DataType, depth: usize) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(Error::Invalid("the type is nested too deeply".into()));
    }
    let is_possible = match data_type {
        DataType::FixedSizeBinary(size) | DataType::FixedSizeList(_, size) => *size >= 0,
        DataType::Dictionary(keys, _) => keys.is_dictionary_key_type(),
        DataType::RunEndEncoded(ends, _) => ends.data_type().is_run_ends_type(),
        DataType::Union(fields, _) => fields.iter().all(|(id, _)| id >= 0),
        DataType::Map(entries, _) => {
            matches!(entries.data_type(), DataType::Struct(fields) if fields.len() == 2)
        }
        _ => true,
    };
    if !is_possible {
        return Err(Error::Invalid(format!("no array has the type {data_type}")));
    }
    let inner = children(data_type).into_iter();
    inner.chain(dictionary(data_type)).try_for_each(|inner| check_at(inner, depth + 1))
}
