//! Whether arrays need their whole buffers, as far as sizes tell.

use crate::layout::{Content, Layout};
use crate::node::{ArrayNode, Reads};

/// Elements that may lead to so many times as much may be those of a slice whose buffers end with it.
const FAR: u64 = 1024;

/// Whether as many elements may lead to so much that they have to be read on the way to a device.
pub(crate) fn leads_far(data: u64, elements: u64) -> bool {
    data / FAR > elements
}

/// The size of the data that views may lead to, in views.  `sizes` are those of the array's buffers.
pub(crate) fn view_data(node: &ArrayNode, sizes: &[u64]) -> u64 {
    let own = usize::from(node.has_validity).saturating_add(1);
    sizes.iter().skip(own).fold(0, |all, size| u64::saturating_add(all, *size)) / 16
}

/// Whether no array is a slice, as far as that is known before offsets are read.
pub(crate) fn is_whole(arrays: &[ArrayNode], sizes: &[u64], reads: Reads) -> bool {
    let mut rest = Rest { arrays, sizes, reads };
    while !rest.arrays.is_empty() {
        if rest.skip_whole(None).is_none() {
            return false;
        }
    }
    true
}

/// Arrays that were not looked at, and the sizes of their buffers.
struct Rest<'a> {
    arrays: &'a [ArrayNode],
    sizes: &'a [u64],
    reads: Reads,
}

impl Rest<'_> {
    /// Skips an array and those within it.  None if one of them is a slice, or has more elements than its
    /// parent needs.
    fn skip_whole(&mut self, needed: Option<u64>) -> Option<()> {
        let (node, others) = self.arrays.split_first()?;
        let (sizes, other_sizes) = self.sizes.split_at_checked(node.buffers as usize)?;
        (self.arrays, self.sizes) = (others, other_sizes);
        let needed = needed.unwrap_or(node.length);
        let is_read = match node.layout {
            Layout::BinaryView => leads_far(view_data(node, sizes), node.length),
            Layout::Binary | Layout::List | Layout::ListView | Layout::DenseUnion => true,
            _ => false,
        };
        if node.offset > 0 || node.length > needed || (is_read && self.reads == Reads::All) {
            return None;
        }
        for (content, size) in node.all_contents().zip(sizes) {
            if content != Content::Bytes
                && size.saturating_sub(content.size(node.length)?) > content.spare()
            {
                return None;
            }
        }
        let number = node.layout.elements_of_children(node.width);
        for _ in 0..node.children {
            self.skip_whole(number.map(|number| node.length.saturating_mul(number)))?;
        }
        if node.has_dictionary { self.skip_whole(None) } else { Some(()) }
    }
}
