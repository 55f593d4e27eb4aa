//! Arrays that a tree consists of, and what slices reach of them.

use crate::layout::{Content, Layout};
use std::collections::BTreeMap;

/// One array of a tree.  A list of nodes has each array before its children, and those before its dictionary.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayNode {
    /// How it lies in memory.
    pub layout: Layout,
    /// Whether its first buffer is a validity bitmap.
    pub has_validity: bool,
    /// Whether it has a dictionary.
    pub has_dictionary: bool,
    /// The type id of its elements, if it is the child of a union.
    pub type_id: u8,
    /// The number of its children.
    pub children: u32,
    /// The number of its buffers, with the bitmap.
    pub buffers: u32,
    /// The width that the layout names.
    pub width: u64,
    /// The number of its elements.
    pub length: u64,
    /// The position of the first element in the buffers, and in children that have as many elements.
    pub offset: u64,
}

impl ArrayNode {
    /// The contents of its buffers, the bitmap first.  Buffers that views refer to follow.
    pub(crate) fn all_contents(&self) -> impl Iterator<Item = Content> {
        let bitmap = self.has_validity.then_some(Content::Bits);
        bitmap.into_iter().chain(self.layout.contents(self.width))
    }

    /// The number of its children, and of its dictionary.
    pub(crate) fn inner(&self) -> usize {
        (self.children as usize).saturating_add(usize::from(self.has_dictionary))
    }

    pub(crate) fn whole(&self) -> Reached {
        Reached { offset: self.offset, length: self.length, base: 0 }
    }
}

/// Where an array's buffers begin, and the arrays within it end.
#[derive(Clone, Copy, Default)]
pub(crate) struct ArrayBounds {
    pub(crate) buffers: usize,
    pub(crate) end: usize,
}

pub(crate) fn places(arrays: &[ArrayNode]) -> Vec<ArrayBounds> {
    let mut places = Vec::with_capacity(arrays.len());
    let mut buffers = 0;
    for array in arrays {
        places.push(ArrayBounds { buffers, end: 0 });
        buffers = usize::saturating_add(buffers, array.buffers as usize);
    }
    // Backwards: the arrays within one follow it.
    for (number, array) in arrays.iter().enumerate().rev() {
        let mut end = number.saturating_add(1);
        for _ in 0..array.inner() {
            let Some(inner) = places.get(end) else { break };
            end = inner.end;
        }
        if let Some(place) = places.get_mut(number) {
            place.end = end;
        }
    }
    places
}

/// The position and length of an array in the parts of its buffers that [`reach`](crate::reach()) has found.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The position of the first element in the parts.
    pub offset: u64,
    /// The number of elements, which for a child may be smaller than before.
    pub length: u64,
    /// The bytes or elements left out before the first offset; [`lower`](crate::lower()) subtracts them from all
    /// offsets.
    pub base: u64,
}

/// A part of a buffer, in bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// Where it begins, from the buffer's start.
    pub start: u64,
    /// Its size.
    pub size: u64,
}

/// Numbers, such as offsets, that [`reach`](crate::reach()) asks its callback to read.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The number of the buffer.
    pub buffer: usize,
    /// The position of the first of them in the buffer, in bytes.
    pub position: u64,
    /// The size of each, in bytes: 1, 2, 4 or 8.
    pub width: u64,
    /// How many: more than one where elements may lead anywhere, as those of views do.
    pub count: u64,
}

/// Which offsets, views, list views and elements of dense unions [`reach`](crate::reach()) reads.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// None: the data that they refer to stays whole.
    None = 0,
    /// Offsets and elements of slices.
    OfSlices = 1,
    /// All offsets; of others also few that may lead to much, as in a slice whose buffers end with it.
    All = 2,
    /// All offsets, for [`plan_join`](crate::plan_join()): children begin with the first element that is reached, whatever
    /// bits lie before it in its parent.
    ToJoin = 3,
}

/// The result of [`reach`](crate::reach()).
#[derive(Debug, Default)]
pub struct Reach {
    /// Each array's position in the parts.
    pub arrays: Vec<Reached>,
    /// The part of each buffer that the arrays reach.
    pub ranges: Vec<ByteRange>,
    /// Bytes, by numbers of buffers, that take the place of a buffer's part: views, and offsets of list views and dense
    /// unions, that count from what is left.
    pub replaced: BTreeMap<usize, Vec<u8>>,
}
