//! The layout that a type prescribes: buffers, children, and how much of them an array reaches.

use crate::Error;
use arrow_data::{BufferSpec, layout};
use arrow_schema::{DataType, UnionMode};

/// Deeper types are refused, as libarrow refuses them.
const MAX_DEPTH: usize = 64;

/// The contents of a buffer other than the validity bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A bit for each element.
    Bits,
    /// So many bytes for each element.
    Fixed(u64),
    /// Where each element begins and the last one ends, in so many bytes each.
    Offsets(u64),
    /// The data that offsets or views refer to.
    Bytes,
}

impl Content {
    /// The size of the buffer for so many elements, in bytes; none if they do not determine it.
    ///
    /// Fails when there are not so many addresses.
    pub(crate) fn size(self, count: u64) -> Result<Option<u64>, Error> {
        let size = match self {
            Self::Bits => Some(count.div_ceil(8)),
            Self::Fixed(width) => count.checked_mul(width),
            Self::Offsets(width) => count.checked_add(1).and_then(|ends| ends.checked_mul(width)),
            Self::Bytes => return Ok(None),
        };
        size.map(Some).ok_or_else(|| too_long(count))
    }

    /// Where an element begins, in bytes; one at a multiple of 8.
    pub(crate) fn position(self, element: u64) -> u64 {
        match self {
            Self::Bits => element / 8,
            Self::Fixed(width) | Self::Offsets(width) => element * width,
            Self::Bytes => 0,
        }
    }
}

pub(crate) fn too_long(count: u64) -> Error {
    Error::Invalid(format!("{count} elements exceed every address"))
}

/// The buffers of a type.
pub(crate) struct Buffers {
    /// Whether it may have a validity bitmap.
    pub(crate) has_validity: bool,
    /// The others, in order.
    pub(crate) contents: Vec<Content>,
    /// Whether any number of buffers may follow, which hold what views lead to.
    pub(crate) is_variadic: bool,
}

impl Buffers {
    /// Those of a type that was [checked](check).
    pub(crate) fn of(data_type: &DataType) -> Self {
        let layout = layout(data_type);
        let mut contents: Vec<_> = layout.buffers.iter().map(content).collect();
        if has_offsets(data_type)
            && let Some(Content::Fixed(width)) = contents.first().copied()
        {
            contents.splice(..1, [Content::Offsets(width)]);
        }
        let (has_validity, is_variadic) = (layout.can_contain_null_mask, layout.variadic);
        Self { has_validity, contents, is_variadic }
    }

    /// The width of the offsets, if there are any.
    pub(crate) fn offset_width(&self) -> Option<u64> {
        match self.contents.first() {
            Some(Content::Offsets(width)) => Some(*width),
            _ => None,
        }
    }
}

fn content(spec: &BufferSpec) -> Content {
    match spec {
        BufferSpec::FixedWidth { byte_width, .. } => Content::Fixed(*byte_width as u64),
        BufferSpec::BitMap => Content::Bits,
        BufferSpec::VariableWidth | BufferSpec::AlwaysNull => Content::Bytes,
    }
}

fn has_offsets(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::List(_)
            | DataType::LargeList(_)
            | DataType::Map(..)
    )
}

/// The elements of a child that elements of its parent reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// As many, at the same positions, for each element of the parent.
    Each(u64),
    /// From the first offset to the last.
    Offsets,
    /// Any: what the parent's buffers say.
    Any,
}

/// The types of the children, and what is reached of them.
pub(crate) fn children(data_type: &DataType) -> Vec<(&DataType, Reach)> {
    match data_type {
        DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
            vec![(field.data_type(), Reach::Offsets)]
        }
        DataType::ListView(field) | DataType::LargeListView(field) => {
            vec![(field.data_type(), Reach::Any)]
        }
        DataType::FixedSizeList(field, length) => {
            vec![(field.data_type(), Reach::Each(u64::try_from(*length).unwrap_or(0)))]
        }
        DataType::Struct(fields) => {
            fields.iter().map(|field| (field.data_type(), Reach::Each(1))).collect()
        }
        DataType::Union(fields, mode) => {
            let reach = match mode {
                UnionMode::Sparse => Reach::Each(1),
                UnionMode::Dense => Reach::Any,
            };
            fields.iter().map(|(_, field)| (field.data_type(), reach)).collect()
        }
        DataType::RunEndEncoded(ends, values) => {
            vec![(ends.data_type(), Reach::Any), (values.data_type(), Reach::Any)]
        }
        _ => Vec::new(),
    }
}

/// The type of the values of a dictionary.
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
    let inner = children(data_type).into_iter().map(|(child, _)| child);
    inner.chain(dictionary(data_type)).try_for_each(|inner| check_at(inner, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{Field, Fields};
    use rstest::rstest;
    use std::sync::Arc;

    fn field(data_type: DataType) -> Arc<Field> {
        Arc::new(Field::new("x", data_type, true))
    }

    #[rstest]
    #[case::negative_size(DataType::FixedSizeBinary(-1))]
    #[case::negative_length(DataType::FixedSizeList(field(DataType::Int8), -1))]
    #[case::keys(DataType::Dictionary(Box::new(DataType::Utf8), Box::new(DataType::Utf8)))]
    #[case::ends(DataType::RunEndEncoded(field(DataType::Float32), field(DataType::Int8)))]
    #[case::entries(DataType::Map(field(DataType::Int8), false))]
    #[case::inside(DataType::Struct(Fields::from(vec![field(DataType::FixedSizeBinary(-1))])))]
    fn impossible_types_are_refused(#[case] data_type: DataType) {
        assert!(matches!(check(&data_type), Err(Error::Invalid(_))));
    }

    #[test]
    fn deep_types_are_refused() {
        let nested =
            |depth| (0..depth).fold(DataType::Int8, |inner, _| DataType::List(field(inner)));
        assert_eq!(check(&nested(64)), Ok(()));
        assert!(check(&nested(65)).is_err());
    }
}
