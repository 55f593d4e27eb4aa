//! Arrays on the host: arrow-rs' own, as nodes, and back.

use crate::Error;
use crate::node::{Memory, Node};
use crate::types::{self, Buffers};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;

impl Node<Buffer> {
    /// An array of arrow-rs, over the same memory.
    pub(crate) fn from_host(data: &ArrayData) -> Self {
        let inner = data.child_data().iter().map(Self::from_host);
        let (children, dictionary) = match types::dictionary(data.data_type()) {
            Some(_) => (Vec::new(), inner.map(Box::new).next()),
            None => (inner.collect(), None),
        };
        Self {
            data_type: data.data_type().clone(),
            length: data.len() as u64,
            offset: data.offset() as u64,
            null_count: Some(match data.data_type() {
                DataType::Null => data.len() as u64,
                _ => data.null_count() as u64,
            }),
            validity: data.nulls().map(|nulls| bits_from(data.offset(), nulls)),
            buffers: data.buffers().to_vec(),
            children,
            dictionary,
        }
    }

    /// An array of arrow-rs, over the same memory.  Everything in it is validated.
    pub(crate) fn into_host(self) -> Result<ArrayData, Error> {
        let mut buffers = self.buffers;
        let end = self.offset + self.length;
        for (buffer, content) in buffers.iter_mut().zip(Buffers::of(&self.data_type).contents) {
            // arrow-rs panics where there is a part of an element more.
            if let Some(size) = types::size(content, end)? {
                *buffer = buffer.part(0, size.min(buffer.size()))?;
            }
        }
        let inner = self.children.into_iter().chain(self.dictionary.map(|values| *values));
        let builder = ArrayData::builder(self.data_type)
            .len(self.length as usize)
            .offset(self.offset as usize)
            .null_bit_buffer(self.validity)
            .buffers(buffers)
            .child_data(inner.map(Self::into_host).collect::<Result<_, _>>()?)
            .align_buffers(true);
        Ok(builder.build()?)
    }
}

/// A bitmap that begins `offset` bits before the first element, as the array's other buffers do.
fn bits_from(offset: usize, nulls: &NullBuffer) -> Buffer {
    if nulls.offset() == offset {
        return nulls.buffer().clone();
    }
    let mut bits = BooleanBufferBuilder::new(offset + nulls.len());
    bits.append_n(offset, true);
    bits.append_buffer(nulls.inner());
    bits.finish().into_inner()
}
