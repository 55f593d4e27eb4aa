//! Reduces arrays to the parts of their buffers that they reach, so that a copy of a slice does not copy the
//! whole array.

use crate::Error;
use crate::node::{Memory, Node};
use crate::types;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_cuda_layout::{ArrayNode, Reads, Wanted, lower, reach};
use std::collections::BTreeMap;

/// The data of views is trimmed if a slice has at most this fraction of the elements, or if the elements take at most
/// that fraction of all bytes.  Else reading them takes much longer than a copy of all data.
const OF_ELEMENTS: u64 = 8;
const OF_BYTES: u64 = 1024;

pub(crate) struct Trimmed<B> {
    pub(crate) node: Node<B>,
    /// For each array, in the order of [`Node::visit_mut`], how much was trimmed away before what its first
    /// offset led to.  Its offsets still count that.
    pub(crate) bases: Vec<u64>,
    /// Bytes that take the place of buffers, by their numbers in [`Node::all_buffers`].
    pub(crate) replaced: BTreeMap<usize, Vec<u8>>,
}

impl<B: Memory> Node<B> {
    /// Trims away what the elements do not reach.  What lies behind offsets and views that are not read stays whole.
    pub(crate) fn trim(&self, reads: Reads) -> Result<Trimmed<B>, Error> {
        let mut nodes = Vec::new();
        self.list(0, &mut nodes);
        let buffers = self.all_buffers();
        let sizes: Vec<_> = buffers.iter().map(|buffer| buffer.size()).collect();
        let read = |wanted: &[_], numbers: &mut [_]| read_numbers(&buffers, wanted, numbers);
        let found = reach(&nodes, &sizes, reads, read)?;
        let Some(found) = found else {
            let (bases, replaced) = (vec![0; nodes.len()], BTreeMap::new());
            return Ok(Trimmed { node: self.clone(), bases, replaced });
        };
        let parts = buffers.iter().zip(&found.ranges);
        let parts = parts.map(|(buffer, part)| buffer.part(part.start, part.size));
        let mut node = self.with_buffers(parts.collect::<Result<Vec<_>, _>>()?)?;
        let mut arrays = found.arrays.iter();
        node.visit_mut(&mut |node| {
            if let Some(reached) = arrays.next() {
                node.null_count = node.nulls_among(reached.length);
                (node.offset, node.length) = (reached.offset, reached.length);
            }
        });
        let bases = found.arrays.iter().map(|reached| reached.base).collect();
        Ok(Trimmed { node, bases, replaced: found.replaced })
    }

    /// Adds the array and those within it, in the order of [`Node::visit`].
    pub(crate) fn list(&self, type_id: u8, all: &mut Vec<ArrayNode>) {
        all.push(self.as_array_node(type_id));
        let mut ids = types::type_ids(&self.data_type).into_iter();
        for child in &self.children {
            child.list(ids.next().unwrap_or(0), all);
        }
        if let Some(values) = &self.dictionary {
            values.list(0, all);
        }
    }

    fn as_array_node(&self, type_id: u8) -> ArrayNode {
        let (layout, width) = types::layout(&self.data_type);
        ArrayNode {
            layout,
            has_validity: self.validity.is_some(),
            has_dictionary: self.dictionary.is_some(),
            type_id,
            children: self.children.len() as u32,
            buffers: (self.buffers.len() + usize::from(self.validity.is_some())) as u32,
            width,
            length: self.length,
            offset: self.offset,
        }
    }
}

/// Copies the numbers that [`reach`] wants to the host, unless they are too many.
pub(crate) fn read_numbers<B: Memory>(
    buffers: &[&B],
    wanted: &[Wanted],
    numbers: &mut [u64],
) -> Result<bool, Error> {
    let (mut parts, mut read, mut whole) = (Vec::new(), 0, 0);
    for each in wanted {
        let Some(buffer) = buffers.get(each.buffer) else { continue };
        let part = buffer.part(each.position, each.width.saturating_mul(each.count))?;
        if each.count > 1 {
            read += part.size();
            whole += buffer.size();
        }
        parts.push(part);
    }
    let all: u64 = buffers.iter().map(|buffer| buffer.size()).sum();
    if read > (whole / OF_ELEMENTS).max(all / OF_BYTES) {
        return Ok(false);
    }
    let bytes = B::to_vecs(&parts)?;
    let all = wanted.iter().zip(&bytes).flat_map(|(each, bytes)| bytes.chunks(each.width as usize));
    for (number, bytes) in numbers.iter_mut().zip(all) {
        *number = self::number(bytes);
    }
    Ok(true)
}

/// The number that bytes are; a negative one is more than any offset.
pub(crate) fn number(bytes: &[u8]) -> u64 {
    let value = match *bytes {
        [a] => a.cast_signed().into(),
        [a, b] => i16::from_ne_bytes([a, b]).into(),
        [a, b, c, d] => i32::from_ne_bytes([a, b, c, d]).into(),
        _ => <[u8; 8]>::try_from(bytes).map_or(-1, i64::from_ne_bytes),
    };
    value.cast_unsigned()
}

impl Trimmed<Buffer> {
    /// The array whose offsets count what is left.
    pub(crate) fn into_rebased(self) -> Node<Buffer> {
        let Self { mut node, bases, mut replaced } = self;
        let (mut bases, mut buffers) = (bases.into_iter(), 0..);
        node.visit_mut(&mut |node| {
            for (buffer, number) in
                node.validity.iter_mut().chain(&mut node.buffers).zip(&mut buffers)
            {
                if let Some(bytes) = replaced.remove(&number) {
                    *buffer = bytes.into();
                }
            }
            let (base, width) = (bases.next().unwrap_or(0), types::layout(&node.data_type).1);
            if let (1.., Some(offsets)) = (base, node.buffers.first_mut()) {
                let mut lowered = MutableBuffer::from_len_zeroed(offsets.len());
                lower(offsets, &mut lowered, width, base);
                *offsets = lowered.into();
            }
        });
        node
    }
}
