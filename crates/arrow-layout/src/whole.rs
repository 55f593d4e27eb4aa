//! Whether arrays need their whole buffers, as far as sizes tell.

use crate::layout::{Content, Layout};
use crate::node::{ArrayNode, Reads};

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
        let has_offsets = matches!(node.layout, Layout::Binary | Layout::List);
        let leads_on = has_offsets || node.layout.is_scattered();
        if node.offset > 0 || node.length > needed || (leads_on && self.reads == Reads::All) {
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
