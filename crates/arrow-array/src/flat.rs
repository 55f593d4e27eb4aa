//! Arrays as the messages of a stream list them: one list of arrays, depth first, and one of their buffers.

use crate::error::invalid;
use crate::node::{self, Node};
use crate::types::{self, Buffers};
use crate::{DeviceArray, DeviceRecordBatch, Error};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_layout::Content;
use arrow_schema::{DataType, SchemaRef};
use std::vec;

/// A record batch as [a message](https://arrow.apache.org/docs/format/Columnar.html#recordbatch-message) lists it.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use arrow_cuda_array::DeviceRecordBatch;
/// use arrow_cuda_context::Context;
///
/// let words: ArrayRef = Arc::new(StringArray::from(vec!["one", "two"]));
/// let batch = RecordBatch::try_from_iter([("words", words)])?;
/// let context = Context::primary(0)?;
/// let flat = DeviceRecordBatch::from_host(&context, &batch)?.to_flat()?;
/// assert_eq!(flat.nodes, [(2, Some(0))]);
/// let sizes: Vec<_> = flat.buffers.iter().flatten().map(|buffer| buffer.len()).collect();
/// assert_eq!(sizes, [12, 6]); // offsets and bytes; there is no bitmap
/// let again = DeviceRecordBatch::from_flat(&context, batch.schema(), 2, flat)?;
/// assert_eq!(again.to_host()?, batch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FlatArrays {
    /// The number of elements of each array, and of its nulls; `None`: nobody has counted them.
    pub nodes: Vec<(u64, Option<u64>)>,
    /// Their buffers; `None`: there is no bitmap.
    pub buffers: Vec<Option<DeviceBuffer>>,
    /// Of each array of views, the number of buffers that the views lead to.
    pub view_buffers: Vec<u64>,
    /// The values of each dictionary array, in the order of these arrays.  A dictionary within these values is theirs.
    pub dictionaries: Vec<DeviceArray>,
    /// Whether unions have a bitmap, as in versions of the format before 5.
    pub has_bitmaps_of_unions: bool,
}

impl DeviceRecordBatch {
    /// Lists the batch without offsets, and without what slices do not reach.  That is a copy, but for the bytes that
    /// views lead to, which stay whole, and the values of dictionaries.
    ///
    /// ```
    /// use arrow_array::record_batch;
    /// use arrow_cuda_array::DeviceRecordBatch;
    /// use arrow_cuda_context::Context;
    ///
    /// let batch = record_batch!(("x", Int64, [1, 2, 3]))?;
    /// let there = DeviceRecordBatch::from_host(&Context::primary(0)?, &batch)?;
    /// let flat = there.slice(1, 2)?.to_flat()?;
    /// assert_eq!(flat.nodes, [(2, Some(0))]);
    /// let sizes: Vec<_> = flat.buffers.iter().flatten().map(|buffer| buffer.len()).collect();
    /// assert_eq!(sizes, [16]); // without what the slice does not reach
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`concat`](Self::concat).
    pub fn to_flat(&self) -> Result<FlatArrays, Error> {
        let rows = DeviceArray::concat(&[self.to_struct()?])?.node.with_nulls_counted()?;
        let mut flat = FlatArrays::default();
        rows.children.into_iter().for_each(|column| flat.add(self.context(), column));
        Ok(flat)
    }

    /// The batch of what a message lists, which is not copied.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_cuda_array::{DeviceRecordBatch, FlatArrays};
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::{DataType, Field, Schema};
    ///
    /// let context = Context::primary(0)?;
    /// let mut flat = FlatArrays::default();
    /// flat.nodes = vec![(3, Some(0))];
    /// flat.buffers = vec![None, Some(DeviceBuffer::gathered(&context, &[&[1, 2, 3]])?)];
    /// let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::UInt8, false)]));
    /// let batch = DeviceRecordBatch::from_flat(&context, schema, 3, flat)?;
    /// assert_eq!((batch.num_rows(), batch.column(0).null_count()?), (3, 0));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for lists that do not fit the schema, parts that do not fit together, and parts of other
    /// contexts; as [`from_struct`](Self::from_struct).
    pub fn from_flat(
        context: &Context,
        schema: SchemaRef,
        num_rows: u64,
        flat: FlatArrays,
    ) -> Result<Self, Error> {
        let inner = flat.dictionaries.iter().map(DeviceArray::context);
        let buffers = flat.buffers.iter().flatten().map(DeviceBuffer::context);
        if buffers.chain(inner).any(|other| other != context) {
            return invalid("a part of another context: copy_to brings it here");
        }
        let mut left = Left {
            nodes: flat.nodes.into_iter(),
            buffers: flat.buffers.into_iter(),
            view_buffers: flat.view_buffers.into_iter(),
            dictionaries: flat.dictionaries.into_iter(),
            has_bitmaps_of_unions: flat.has_bitmaps_of_unions,
            context,
        };
        let data_type = DataType::Struct(schema.fields().clone());
        types::check(&data_type)?;
        let columns = schema.fields().iter().map(|field| left.take(field.data_type()));
        let mut rows = Node {
            data_type,
            length: num_rows,
            offset: 0,
            null_count: Some(0),
            validity: None,
            buffers: Vec::new(),
            children: columns.collect::<Result<_, _>>()?,
            dictionary: None,
        };
        rows.check()?;
        if let Some(other) = rows.children.iter().find(|column| column.length != num_rows) {
            let length = other.length;
            return invalid(format!("a column of {length} elements in a batch of {num_rows} rows"));
        }
        if left.has_more() {
            return invalid("more arrays, buffers or dictionaries than the schema has");
        }
        Self::from_struct(schema, &DeviceArray::checked(context, rows))
    }
}

impl FlatArrays {
    fn add(&mut self, context: &Context, array: Node<DeviceBuffer>) {
        let layout = Buffers::of(&array.data_type);
        self.nodes.push((array.length, array.null_count));
        if layout.has_validity {
            self.buffers.push(array.validity);
        }
        if layout.is_variadic {
            self.view_buffers.push((array.buffers.len() - layout.contents.len()) as u64);
        }
        self.buffers.extend(array.buffers.into_iter().map(Some));
        array.children.into_iter().for_each(|child| self.add(context, child));
        let values = array.dictionary.map(|values| DeviceArray::checked(context, *values));
        self.dictionaries.extend(values);
    }
}

/// The rest of the lists, which no array has taken yet.
struct Left<'a> {
    nodes: vec::IntoIter<(u64, Option<u64>)>,
    buffers: vec::IntoIter<Option<DeviceBuffer>>,
    view_buffers: vec::IntoIter<u64>,
    dictionaries: vec::IntoIter<DeviceArray>,
    has_bitmaps_of_unions: bool,
    context: &'a Context,
}

impl Left<'_> {
    fn has_more(&mut self) -> bool {
        self.nodes.next().is_some()
            || self.buffers.next().is_some()
            || self.view_buffers.next().is_some()
            || self.dictionaries.next().is_some()
    }

    /// The next array, of a type that was checked.
    fn take(&mut self, data_type: &DataType) -> Result<Node<DeviceBuffer>, Error> {
        let Some((length, null_count)) = self.nodes.next() else {
            return invalid("fewer arrays than the schema has");
        };
        let layout = Buffers::of(data_type);
        let has_bitmap = matches!(data_type, DataType::Union(..)) && self.has_bitmaps_of_unions;
        let bitmap = match layout.has_validity || has_bitmap {
            true => self.buffer()?,
            false => None,
        };
        let mut count = layout.contents.len();
        if layout.is_variadic {
            let more = self.view_buffers.next().and_then(|more| usize::try_from(more).ok());
            let Some(more) = more.and_then(|more| more.checked_add(count)) else {
                return invalid(
                    "fewer numbers of view buffers than the schema has arrays of views",
                );
            };
            count = more;
        }
        let mut buffers = Vec::new();
        for number in 0..count {
            let buffer = self.buffer()?.filter(|buffer| !buffer.is_empty());
            buffers.push(match (layout.contents.get(number), buffer) {
                (_, Some(buffer)) => buffer,
                (Some(Content::Offsets(width)), None) if length == 0 => {
                    node::first_offset(self.context, *width)?
                }
                (_, None) => DeviceBuffer::allocate(self.context, 0)?,
            });
        }
        let children = types::children(data_type).into_iter().map(|child| self.take(child));
        let children = children.collect::<Result<_, _>>()?;
        let dictionary = match types::dictionary(data_type) {
            None => None,
            Some(_) => match self.dictionaries.next() {
                Some(values) => Some(Box::new(values.node)),
                None => return invalid("fewer dictionaries than the schema has"),
            },
        };
        let mut node = Node {
            data_type: data_type.clone(),
            length,
            offset: 0,
            null_count,
            // Without nulls, what is there means nothing.
            validity: bitmap.filter(|bits| null_count != Some(0) && !bits.is_empty()),
            buffers,
            children,
            dictionary,
        };
        node.check()?;
        Ok(node)
    }

    fn buffer(&mut self) -> Result<Option<DeviceBuffer>, Error> {
        match self.buffers.next() {
            Some(buffer) => Ok(buffer),
            None => invalid("fewer buffers than the schema has"),
        }
    }
}
