//! An array's structure over buffers of any kind: on the device, or on the host.

use crate::Error;
use crate::error::check_range;
use crate::types;
use arrow_buffer::Buffer;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_layout::Content;
use arrow_schema::DataType;

/// A kind of memory for the buffers of an array.
pub(crate) trait Memory: Clone {
    /// The size, in bytes.
    fn size(&self) -> u64;

    /// `size` bytes from `offset` on, which share the memory.  Fails if they lie outside.
    fn part(&self, offset: u64, size: u64) -> Result<Self, Error>;

    /// The bytes, on the host.
    fn to_vec(&self) -> Result<Vec<u8>, Error>;

    /// The bytes of several, copied together.
    fn to_vecs(all: &[Self]) -> Result<Vec<Vec<u8>>, Error> {
        all.iter().map(Self::to_vec).collect()
    }
}

impl Memory for Buffer {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn part(&self, offset: u64, size: u64) -> Result<Self, Error> {
        let (offset, size) = (offset as usize, size as usize);
        arrow_cuda_buffer::range::within(offset, size, self.len())?;
        Ok(self.slice_with_length(offset, size))
    }

    fn to_vec(&self) -> Result<Vec<u8>, Error> {
        Ok(self.as_slice().to_vec())
    }
}

impl Memory for DeviceBuffer {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn part(&self, offset: u64, size: u64) -> Result<Self, Error> {
        Ok(self.slice_with_length(offset as usize, size as usize)?)
    }

    fn to_vec(&self) -> Result<Vec<u8>, Error> {
        Ok(DeviceBuffer::to_vec(self)?)
    }

    fn to_vecs(all: &[Self]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(DeviceBuffer::to_vecs(&all.iter().collect::<Vec<_>>())?)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Node<B> {
    pub(crate) data_type: DataType,
    pub(crate) length: u64,
    /// The first element's position in the buffers, and in children that have as many elements as the array.
    pub(crate) offset: u64,
    /// None: unknown.
    pub(crate) null_count: Option<u64>,
    pub(crate) validity: Option<B>,
    pub(crate) buffers: Vec<B>,
    pub(crate) children: Vec<Node<B>>,
    pub(crate) dictionary: Option<Box<Node<B>>>,
}

impl<B> Node<B> {
    /// The end of the elements in the buffers.
    pub(crate) fn end(&self) -> u64 {
        self.offset + self.length
    }

    pub(crate) fn all_buffers(&self) -> Vec<&B> {
        let mut found = Vec::new();
        self.visit(&mut |node| found.extend(node.validity.iter().chain(&node.buffers)));
        found
    }

    /// Whether nulls have to be counted, here or in an array within it.
    pub(crate) fn has_unknown_nulls(&self) -> bool {
        let mut found = false;
        self.visit(&mut |node| found |= node.null_count.is_none());
        found
    }

    pub(crate) fn visit<'a>(&'a self, see: &mut impl FnMut(&'a Self)) {
        see(self);
        for inner in self.children.iter().chain(self.dictionary.as_deref()) {
            inner.visit(see);
        }
    }

    pub(crate) fn visit_mut(&mut self, see: &mut impl FnMut(&mut Self)) {
        see(self);
        for inner in self.children.iter_mut().chain(self.dictionary.as_deref_mut()) {
            inner.visit_mut(see);
        }
    }

    /// How many of `length` elements of the array are null, if that is known.
    pub(crate) fn nulls_among(&self, length: u64) -> Option<u64> {
        match self.null_count {
            _ if self.data_type == DataType::Null => Some(length),
            Some(0) => Some(0),
            Some(count) if length == self.length => Some(count),
            Some(count) if count == self.length => Some(length),
            _ => None,
        }
    }

    /// The same array over other buffers, one for each of [`all_buffers`](Self::all_buffers).
    pub(crate) fn with_buffers<C>(
        &self,
        buffers: impl IntoIterator<Item = C>,
    ) -> Result<Node<C>, Error> {
        let node = self.over(&mut buffers.into_iter());
        node.ok_or_else(|| Error::Invalid("an array lacks a buffer".into()))
    }

    fn over<C>(&self, next: &mut impl Iterator<Item = C>) -> Option<Node<C>> {
        let validity = match self.validity {
            Some(_) => Some(next.next()?),
            None => None,
        };
        let buffers = self.buffers.iter().map(|_| next.next()).collect::<Option<_>>()?;
        let children = self.children.iter().map(|child| child.over(next)).collect::<Option<_>>()?;
        let dictionary = match &self.dictionary {
            Some(values) => Some(Box::new(values.over(next)?)),
            None => None,
        };
        Some(Node {
            data_type: self.data_type.clone(),
            length: self.length,
            offset: self.offset,
            null_count: self.null_count,
            validity,
            buffers,
            children,
            dictionary,
        })
    }
}

impl<B: Clone> Node<B> {
    /// `length` elements from `first` on.  Fails if the array has fewer.
    pub(crate) fn range(&self, first: u64, length: u64) -> Result<Self, Error> {
        check_range("elements", first, length, self.length)?;
        let null_count = self.nulls_among(length);
        Ok(Self { offset: self.offset + first, length, null_count, ..self.clone() })
    }
}

impl<B: Memory> Node<B> {
    /// How many elements the bitmap calls null.  Copies it from the device if that is unknown.
    pub(crate) fn count_nulls(&self) -> Result<u64, Error> {
        let Some(bitmap) = self.validity.as_ref().filter(|_| self.null_count.is_none()) else {
            return Ok(self.null_count.unwrap_or(0));
        };
        let skipped = self.offset % 8;
        let size = types::size(Content::Bits, skipped + self.length)?.unwrap_or(0);
        let bytes = bitmap.part(self.offset / 8, size)?.to_vec()?;
        let ones =
            Buffer::from_vec(bytes).count_set_bits_offset(skipped as usize, self.length as usize);
        Ok(self.length - ones as u64)
    }

    /// The same array with all nulls counted.
    pub(crate) fn with_nulls_counted(mut self) -> Result<Self, Error> {
        let mut outcome = Ok(());
        self.visit_mut(&mut |node| match node.count_nulls() {
            Ok(count) => node.null_count = Some(count),
            Err(error) => outcome = Err(error),
        });
        outcome.map(|()| self)
    }
}

impl Node<DeviceBuffer> {
    /// Whether both, which have the same type, have the same elements of the same memory.
    pub(crate) fn is_same_memory(&self, other: &Self) -> bool {
        // Which buffers are whose, too: the lists of two arrays may be equal where their bitmaps are others'.
        let shapes = |node: &Self| {
            let mut found = Vec::new();
            let mut see = |node: &Self| {
                let buffers = (node.validity.is_some(), node.buffers.len());
                found.push((node.offset, node.length, buffers));
            };
            node.visit(&mut see);
            found
        };
        let (ours, theirs) = (self.all_buffers(), other.all_buffers());
        shapes(self) == shapes(other) && ours.iter().zip(&theirs).all(|(a, b)| a.is_same_memory(b))
    }
}

/// The offsets of an array without elements, which some producers leave out.
pub(crate) fn first_offset(context: &Context, width: u64) -> Result<DeviceBuffer, Error> {
    let zero = DeviceBuffer::allocate_packed(context, width as usize)?;
    zero.fill(0)?;
    Ok(zero)
}
