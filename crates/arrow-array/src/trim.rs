//! The part of its buffers that an array reaches: a slice of a large array is copied as a slice, not as all
//! that its buffers hold.

use crate::Error;
use crate::node::{Memory, Node};
use crate::types::{Buffers, Content, Reach, children};
use arrow_buffer::Buffer;
use arrow_schema::DataType;

/// An array without what it does not reach.
pub(crate) struct Trimmed<B> {
    pub(crate) node: Node<B>,
    /// For each array, in the order of [`Node::visit_mut`], how much was trimmed away before what its first
    /// offset led to.  Its offsets still count that.
    bases: Vec<u64>,
}

impl<B: Memory> Node<B> {
    /// Trims away what the elements do not reach.  Elements begin at one of the first 8 positions then, so
    /// that no bit moves.
    pub(crate) fn trim(&self) -> Result<Trimmed<B>, Error> {
        let mut bases = Vec::new();
        Ok(Trimmed { node: self.trim_into(&mut bases)?, bases })
    }

    fn trim_into(&self, bases: &mut Vec<u64>) -> Result<Self, Error> {
        let start = match self.data_type {
            // Its positions are what the ends of runs count.
            DataType::RunEndEncoded(..) => 0,
            _ => self.offset - self.offset % 8,
        };
        let count = self.end() - start;
        let layout = Buffers::of(&self.data_type);
        let trimmed = |buffer: &B, content: Content| match content.size(count)? {
            Some(size) => buffer.part(content.position(start), size),
            None => Ok(buffer.clone()),
        };
        let validity =
            self.validity.as_ref().map(|bits| trimmed(bits, Content::Bits)).transpose()?;
        let others = std::iter::repeat(Content::Bytes); // those that views lead to
        let contents = layout.contents.iter().copied().chain(others);
        let buffers =
            self.buffers.iter().zip(contents).map(|(buffer, content)| trimmed(buffer, content));
        let mut buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        let reached = match (layout.offset_width(), &*buffers, &*self.buffers) {
            // Without a copy, an untrimmed buffer may lead to everything.
            (Some(_), [offsets, ..], [whole, ..])
                if !B::IS_ON_HOST && offsets.size() == whole.size() =>
            {
                None
            }
            (Some(width), [offsets, ..], _) => Some(ends(offsets, width)?),
            _ => None,
        };
        if let (Some((first, last)), [_, bytes]) = (reached, &mut *buffers) {
            *bytes = bytes.part(first, last - first)?;
        }
        bases.push(reached.map_or(0, |(first, _)| first));
        let reaches = children(&self.data_type).into_iter().map(|(_, reach)| reach);
        let children = self.children.iter().zip(reaches).map(|(child, reach)| {
            match (reach, reached) {
                (Reach::Each(number), _) => child.range(start * number, count * number)?,
                (Reach::Offsets, Some((first, last))) => child.range(first, last - first)?,
                _ => child.clone(),
            }
            .trim_into(bases)
        });
        let children = children.collect::<Result<_, _>>()?;
        let dictionary = match &self.dictionary {
            Some(values) => Some(Box::new(values.trim_into(bases)?)),
            None => None,
        };
        let (data_type, offset) = (self.data_type.clone(), self.offset - start);
        let (length, null_count) = (self.length, self.null_count);
        Ok(Self { data_type, length, offset, null_count, validity, buffers, children, dictionary })
    }
}

/// The first offset and the last one.
fn ends<B: Memory>(offsets: &B, width: u64) -> Result<(u64, u64), Error> {
    let (first, last) =
        (offset_at(offsets, 0, width)?, offset_at(offsets, offsets.size() - width, width)?);
    if first > last {
        return Err(Error::Invalid(format!("the offsets descend from {first} to {last}")));
    }
    Ok((first, last))
}

/// The offset at a position in bytes.
pub(crate) fn offset_at<B: Memory>(offsets: &B, position: u64, width: u64) -> Result<u64, Error> {
    let bytes = offsets.part(position, width)?.to_vec()?;
    let value = match (<[u8; 4]>::try_from(&*bytes), <[u8; 8]>::try_from(&*bytes)) {
        (Ok(bytes), _) => i32::from_ne_bytes(bytes).into(),
        (_, Ok(bytes)) => i64::from_ne_bytes(bytes),
        _ => -1,
    };
    u64::try_from(value).map_err(|_| Error::Invalid(format!("an offset of {value}")))
}

impl<B> Trimmed<B> {
    /// The same over other buffers.
    pub(crate) fn with_buffers<C>(
        &self,
        buffers: impl IntoIterator<Item = C>,
    ) -> Option<Trimmed<C>> {
        let node = self.node.with_buffers(buffers)?;
        Some(Trimmed { node, bases: self.bases.clone() })
    }
}

impl Trimmed<Buffer> {
    /// The array whose offsets count what is left.
    pub(crate) fn into_rebased(self) -> Node<Buffer> {
        let Self { mut node, bases } = self;
        let mut bases = bases.into_iter();
        node.visit_mut(&mut |node| {
            let base = bases.next().unwrap_or(0);
            let width = Buffers::of(&node.data_type).offset_width();
            if let (1.., Some(width), Some(offsets)) = (base, width, node.buffers.first_mut()) {
                *offsets = lowered(offsets, width, base);
            }
        });
        node
    }
}

/// Offsets less what was trimmed away.  Those that lead nowhere still do.
fn lowered(offsets: &Buffer, width: u64, base: u64) -> Buffer {
    if width == 4 {
        let (offsets, _) = offsets.as_chunks::<4>();
        let lowered =
            offsets.iter().map(|bytes| i32::from_ne_bytes(*bytes).wrapping_sub(base as i32));
        return Buffer::from_vec(lowered.collect::<Vec<_>>());
    }
    let (offsets, _) = offsets.as_chunks::<8>();
    let lowered = offsets.iter().map(|bytes| i64::from_ne_bytes(*bytes).wrapping_sub(base as i64));
    Buffer::from_vec(lowered.collect::<Vec<_>>())
}
