//! The buffers and children that a layout prescribes.

/// The memory layout of an array.  Extension types have the layout of their storage, and dictionary arrays the layout
/// of their indices.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// No buffers: all elements are null.
    Null = 0,
    /// A bit for each element.
    Bits = 1,
    /// `width` bytes for each element.
    Fixed = 2,
    /// Strings or binary data behind offsets of `width` bytes.
    Binary = 3,
    /// Views of 16 bytes, and any number of buffers that they lead to.
    BinaryView = 4,
    /// Lists or maps behind offsets of `width` bytes.
    List = 5,
    /// Lists behind offsets and sizes of `width` bytes each.
    ListView = 6,
    /// `width` elements of the child for each element.
    FixedSizeList = 7,
    /// An element of each child for each element.
    Struct = 8,
    /// Type ids, and an element of each child for each element.
    SparseUnion = 9,
    /// Type ids, and offsets into the child of each type.
    DenseUnion = 10,
    /// Ends of runs, and values: two children.
    RunEndEncoded = 11,
}

/// Buffers are padded to multiples of as many bytes.
const PADDING: u64 = 64;

/// The content of a buffer other than the validity bitmap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A bit for each element.
    Bits,
    /// This many bytes for each element.
    Fixed(u64),
    /// The start of each element and the end of the last one, in this many bytes each.
    Offsets(u64),
    /// The data that offsets or views refer to.
    Bytes,
}

impl Layout {
    /// The buffers after the validity bitmap, in order.  The data buffers of views follow them.
    pub fn contents(self, width: u64) -> impl Iterator<Item = Content> {
        let (first, second) = match self {
            Self::Null | Self::FixedSizeList | Self::Struct | Self::RunEndEncoded => (None, None),
            Self::Bits => (Some(Content::Bits), None),
            Self::Fixed => (Some(Content::Fixed(width)), None),
            Self::Binary => (Some(Content::Offsets(width)), Some(Content::Bytes)),
            Self::BinaryView => (Some(Content::Fixed(16)), None),
            Self::List => (Some(Content::Offsets(width)), None),
            Self::ListView => (Some(Content::Fixed(width)), Some(Content::Fixed(width))),
            Self::SparseUnion => (Some(Content::Fixed(1)), None),
            Self::DenseUnion => (Some(Content::Fixed(1)), Some(Content::Fixed(4))),
        };
        first.into_iter().chain(second)
    }

    /// Whether the array may have a validity bitmap.
    pub fn has_validity(self) -> bool {
        !matches!(self, Self::Null | Self::SparseUnion | Self::DenseUnion | Self::RunEndEncoded)
    }

    /// Whether each element may lead anywhere in a child, or in buffers of data.
    pub(crate) fn is_scattered(self) -> bool {
        matches!(self, Self::BinaryView | Self::ListView | Self::DenseUnion)
    }

    /// The number of elements of each child for each element, where it is fixed.
    pub fn elements_of_children(self, width: u64) -> Option<u64> {
        match self {
            Self::FixedSizeList => Some(width),
            Self::Struct | Self::SparseUnion => Some(1),
            _ => None,
        }
    }
}

impl Content {
    /// The size of the buffer for `count` elements, in bytes.  `None` for [`Content::Bytes`], where their
    /// number does not determine it, and if the size does not fit into 64 bits.
    pub fn size(self, count: u64) -> Option<u64> {
        match self {
            Self::Bits => Some(count.div_ceil(8)),
            Self::Fixed(width) => count.checked_mul(width),
            Self::Offsets(width) => count.checked_add(1)?.checked_mul(width),
            Self::Bytes => None,
        }
    }

    /// How many bytes more than it needs the buffer of an array may have that is no slice.
    pub(crate) fn spare(self) -> u64 {
        match self {
            // Each further one may lead to any number of bytes.
            Self::Offsets(width) => width.saturating_sub(1),
            _ => PADDING,
        }
    }

    /// Where an element begins, in bytes; that of bits at a multiple of 8.
    pub fn position(self, element: u64) -> Option<u64> {
        match self {
            Self::Bits => Some(element / 8),
            Self::Fixed(width) | Self::Offsets(width) => element.checked_mul(width),
            Self::Bytes => None,
        }
    }
}
