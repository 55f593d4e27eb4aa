//! Reduces arrays to the parts of their buffers that they reach, so that a copy of a slice does not copy the
//! whole array.

use crate::Error;
use crate::node::{Memory, Node};
use crate::types;
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_cuda_layout::{ArrayNode, Reads, Wanted, lower, reach};

pub(crate) struct Trimmed<B> {
    pub(crate) node: Node<B>,
    /// For each array, in the order of [`Node::visit_mut`], how much was trimmed away before what its first
    /// offset led to.  Its offsets still count that.
    pub(crate) bases: Vec<u64>,
}

impl<B: Memory> Node<B> {
    /// Trims away what the elements do not reach.  What lies behind offsets that are not read stays whole.
    pub(crate) fn trim(&self, reads: Reads) -> Result<Trimmed<B>, Error> {
        let mut nodes = Vec::new();
        self.list(0, &mut nodes);
        let buffers = self.all_buffers();
        let sizes: Vec<_> = buffers.iter().map(|buffer| buffer.size()).collect();
        let read = |wanted: &[_], offsets: &mut [_]| read_offsets(&buffers, wanted, offsets);
        let found = reach(&nodes, &sizes, reads, read)?;
        let Some(found) = found else {
            return Ok(Trimmed { node: self.clone(), bases: vec![0; nodes.len()] });
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
        Ok(Trimmed { node, bases: found.arrays.iter().map(|reached| reached.base).collect() })
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

/// Copies the offsets that [`reach`] wants to the host.
pub(crate) fn read_offsets<B: Memory>(
    buffers: &[&B],
    wanted: &[Wanted],
    offsets: &mut [u64],
) -> Result<(), Error> {
    let parts = wanted
        .iter()
        .filter_map(|each| Some(buffers.get(each.buffer)?.part(each.position, each.width)));
    let bytes = B::to_vecs(&parts.collect::<Result<Vec<_>, _>>()?)?;
    for (offset, bytes) in offsets.iter_mut().zip(bytes) {
        *offset = self::offset(&bytes);
    }
    Ok(())
}

/// The offset that bytes are; a negative one is more than any array's.
pub(crate) fn offset(bytes: &[u8]) -> u64 {
    let value = match *bytes {
        [a, b] => i16::from_ne_bytes([a, b]).into(),
        [a, b, c, d] => i32::from_ne_bytes([a, b, c, d]).into(),
        _ => <[u8; 8]>::try_from(bytes).map_or(-1, i64::from_ne_bytes),
    };
    value.cast_unsigned()
}

impl Trimmed<Buffer> {
    /// The array whose offsets count what is left.
    pub(crate) fn into_rebased(self) -> Node<Buffer> {
        let Self { mut node, bases } = self;
        let mut bases = bases.into_iter();
        node.visit_mut(&mut |node| {
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
