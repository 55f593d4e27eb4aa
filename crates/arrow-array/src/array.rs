//! An array in device memory.

use crate::Error;
use crate::node::{Memory, Node};
use crate::trim::Trimmed;
use arrow_array::{Array, ArrayRef, make_array};
use arrow_buffer::Buffer;
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_layout::Reads;
use arrow_schema::DataType;
use std::fmt;

/// An Arrow array whose buffers lie in the memory of one device: what
/// [`ArrayData`](https://docs.rs/arrow-data/latest/arrow_data/struct.ArrayData.html) is on the host.
///
/// It is not an [`Array`](arrow_array::Array), because functions that take arrays read their buffers, and the host
/// cannot read device memory.  [`to_host`](Self::to_host) copies it to one.  Clones, slices and children share the
/// memory.
///
/// The buffers' contents are validated only when they arrive on the host: until then, offsets may lead anywhere, and
/// strings may be invalid UTF-8.
///
/// ```
/// use arrow_array::{Array, StringArray};
/// use arrow_cuda_array::DeviceArray;
/// use arrow_cuda_context::Context;
///
/// let words = StringArray::from(vec![Some("one"), None, Some("three")]);
/// let there = DeviceArray::from_host(&Context::primary(0)?, &words)?;
/// assert_eq!((there.len(), there.null_count()?), (3, 1));
/// assert_eq!(there.buffers()[1].to_vec()?, b"onethree");
/// assert_eq!(there.slice(2, 1)?.to_host()?.to_data(), words.slice(2, 1).to_data());
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
#[derive(Clone)]
pub struct DeviceArray {
    context: Context,
    pub(crate) node: Node<DeviceBuffer>,
}

/// The parts of a [`DeviceArray`].
///
/// The fields are those of the [columnar format](https://arrow.apache.org/docs/format/Columnar.html).  An
/// array of a kernel's results:
///
/// ```
/// use arrow_array::cast::AsArray;
/// use arrow_array::types::Int32Type;
/// use arrow_cuda_array::{ArrayParts, DeviceArray};
/// use arrow_cuda_buffer::DeviceSlice;
/// use arrow_cuda_context::Context;
/// use arrow_schema::DataType;
///
/// let context = Context::primary(0)?;
/// let results = DeviceSlice::from_slice(&context, &[3i32, 4, 5])?;
/// let parts = ArrayParts {
///     buffers: vec![results.into_buffer()],
///     ..ArrayParts::new(DataType::Int32, 3)
/// };
/// let array = DeviceArray::new(&context, parts)?;
/// assert_eq!(array.to_host()?.as_primitive::<Int32Type>().values(), &[3, 4, 5]);
/// # Ok::<(), arrow_cuda_array::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArrayParts {
    /// The type.
    pub data_type: DataType,
    /// The number of elements.
    pub length: usize,
    /// The position of the first element in the buffers, the bitmap among them, and in children that have
    /// as many elements.
    pub offset: usize,
    /// The number of elements that the bitmap calls null, which is believed; None to have it counted, as after a
    /// kernel has written the bitmap.
    pub null_count: Option<usize>,
    /// A bit for each element, which is 0 for null.
    pub nulls: Option<DeviceBuffer>,
    /// The other buffers, in the format's order.  Of an array of views, those with what the views lead to
    /// follow, without the one with their sizes that the C Data interface knows.
    pub buffers: Vec<DeviceBuffer>,
    /// The arrays within it, in the order of the type's fields.
    pub children: Vec<DeviceArray>,
    /// The values of a dictionary's keys.
    pub dictionary: Option<DeviceArray>,
}

impl ArrayParts {
    /// `length` elements of a type, without buffers, children, nulls or an offset yet.
    ///
    /// ```
    /// use arrow_cuda_array::{ArrayParts, DeviceArray};
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::DataType;
    ///
    /// let parts = ArrayParts::new(DataType::Null, 3); // an array of nulls has no buffers
    /// let nulls = DeviceArray::new(&Context::primary(0)?, parts)?;
    /// assert_eq!((nulls.len(), nulls.null_count()?), (3, 3));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn new(data_type: DataType, length: usize) -> Self {
        Self {
            data_type,
            length,
            offset: 0,
            null_count: None,
            nulls: None,
            buffers: Vec::new(),
            children: Vec::new(),
            dictionary: None,
        }
    }
}

impl DeviceArray {
    /// An array of parts, all in the memory of one context.
    ///
    /// ```
    /// use arrow_cuda_array::{ArrayParts, DeviceArray};
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::DataType;
    ///
    /// let context = Context::primary(0)?;
    /// let bytes = DeviceBuffer::gathered(&context, &[&[1, 2, 3]])?;
    /// let parts = ArrayParts { buffers: vec![bytes], ..ArrayParts::new(DataType::UInt8, 3) };
    /// assert_eq!(DeviceArray::new(&context, parts.clone())?.len(), 3);
    /// assert!(DeviceArray::new(&context, ArrayParts { length: 4, ..parts }).is_err());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for parts that do not fit together or do not fit the type: numbers of buffers and
    /// children, their types, lengths and sizes, and parts of other contexts.
    pub fn new(context: &Context, parts: ArrayParts) -> Result<Self, Error> {
        let inner = parts.children.iter().chain(&parts.dictionary).map(Self::context);
        let buffers = parts.nulls.iter().chain(&parts.buffers).map(DeviceBuffer::context);
        if let Some(other) = buffers.chain(inner).find(|other| !other.is_same(context)) {
            return Err(Error::Invalid(format!(
                "a part of context {:#x} on device {}, in an array of context {:#x} on device {}",
                other.handle(),
                other.device().number(),
                context.handle(),
                context.device().number()
            )));
        }
        Self::of(
            context,
            Node {
                data_type: parts.data_type,
                length: parts.length as u64,
                offset: parts.offset as u64,
                null_count: parts.null_count.map(|count| count as u64),
                validity: parts.nulls,
                buffers: parts.buffers,
                children: parts.children.into_iter().map(|child| child.node).collect(),
                dictionary: parts.dictionary.map(|values| Box::new(values.node)),
            },
        )
    }

    /// An array over checked ones, whose buffers lie in a context.
    fn of(context: &Context, mut node: Node<DeviceBuffer>) -> Result<Self, Error> {
        node.check()?;
        Ok(Self::checked(context, node))
    }

    pub(crate) fn checked(context: &Context, node: Node<DeviceBuffer>) -> Self {
        Self { context: context.clone(), node }
    }

    /// Copies an array to the device, by one allocation and one copy.  What a slice does not reach of its
    /// buffers is left out.
    ///
    /// ```
    /// use arrow_array::StringArray;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let words = StringArray::from(vec!["one", "two"]);
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &words)?;
    /// assert_eq!(there.buffers()[1].to_vec()?, b"onetwo");
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; other driver errors.
    pub fn from_host(context: &Context, array: &dyn Array) -> Result<Self, Error> {
        let host = Node::from_host(&array.to_data());
        let mut host = host.trim(Reads::All)?.into_rebased().with_nulls_counted()?;
        host.visit_mut(&mut |node| drop(node.validity.take_if(|_| node.null_count == Some(0))));
        let parts: Vec<_> = host.all_buffers().into_iter().map(Buffer::as_slice).collect();
        let buffers = DeviceBuffer::suballocated_from_host(context, &parts)?;
        Self::of(context, host.with_buffers(buffers)?)
    }

    /// Copies the array to the host, and validates it there.  What a slice does not reach of its buffers is
    /// left out.
    ///
    /// ```
    /// use arrow_array::cast::AsArray;
    /// use arrow_array::Int32Array;
    /// use arrow_array::types::Int32Type;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = Int32Array::from(vec![1, 2, 3]);
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;
    /// assert_eq!(there.to_host()?.as_primitive::<Int32Type>(), &numbers);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Arrow`] or [`Error::Invalid`] when what the buffers hold is not a valid array, or driver
    /// errors.
    pub fn to_host(&self) -> Result<ArrayRef, Error> {
        let Trimmed { node, bases, replaced } = self.node.trim(Reads::OfSlices)?;
        let buffers = DeviceBuffer::to_vecs(&node.all_buffers())?;
        let node = node.with_buffers(buffers.into_iter().map(Buffer::from_vec))?;
        Ok(make_array(Trimmed { node, bases, replaced }.into_rebased().into_host()?))
    }

    /// Copies the array to another context, perhaps of another device, by one allocation.  What a slice
    /// does not reach is left out, except behind offsets and views.
    ///
    /// ```
    /// use arrow_array::{Array, Int32Array};
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let numbers = Int32Array::from(vec![1, 2, 3]);
    /// let first = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;
    /// let copy = first.copy_to(&Context::primary(Device::count()? - 1)?)?;
    /// assert!(!copy.is_same_memory(&first));
    /// assert_eq!(copy.to_host()?.to_data(), numbers.to_data());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`from_host`](Self::from_host).
    pub fn copy_to(&self, context: &Context) -> Result<Self, Error> {
        let node = self.node.trim(Reads::None)?.node;
        let buffers = DeviceBuffer::suballocated_copies(context, &node.all_buffers())?;
        Ok(Self::checked(context, node.with_buffers(buffers)?))
    }

    /// The elements from `offset` on, as many as `length` says, which share the memory.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2, 3]))?;
    /// assert_eq!(numbers.slice(1, 2)?.len(), 2);
    /// assert!(numbers.slice(2, 2).is_err());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] when the array does not have them.
    pub fn slice(&self, offset: usize, length: usize) -> Result<Self, Error> {
        let node = self.node.range(offset as u64, length as u64)?;
        Ok(Self::checked(&self.context, node))
    }

    /// The context that the memory belongs to.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = DeviceArray::from_host(&context, &Int32Array::from(vec![1, 2, 3]))?;
    /// assert_eq!(numbers.context(), &context);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The type.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::DataType;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2, 3]))?;
    /// assert_eq!(numbers.data_type(), &DataType::Int32);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn data_type(&self) -> &DataType {
        &self.node.data_type
    }

    /// The number of elements.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2, 3]))?;
    /// assert_eq!(numbers.len(), 3);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.node.length as usize
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int32Array::from(vec![1, 2, 3]))?;
    /// assert!(!numbers.is_empty() && numbers.slice(3, 0)?.is_empty());
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.node.length == 0
    }

    /// The position of the first element in the buffers, and in children that have as many elements.
    ///
    /// ```
    /// use arrow_array::BooleanArray;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let bits = BooleanArray::from(vec![true, false, true]);
    /// let bits = DeviceArray::from_host(&Context::primary(0)?, &bits)?.slice(1, 2)?;
    /// assert_eq!(bits.offset(), 1);
    /// assert_eq!(bits.buffers()[0].to_vec()?[0] & 0b111, 0b101); // from position 0 on
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn offset(&self) -> usize {
        self.node.offset as usize
    }

    /// How many elements are null by the bitmap; all of an array of nulls.  If that is unknown, as it is
    /// for some slices, the bitmap is copied to the host and counted.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = Int32Array::from(vec![Some(1), None, Some(3)]);
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;
    /// assert_eq!((there.null_count()?, there.slice(2, 1)?.null_count()?), (1, 0));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, where the bitmap is copied.
    pub fn null_count(&self) -> Result<usize, Error> {
        Ok(self.node.count_nulls()? as usize)
    }

    /// A read-only bitmap, which is 0 for null: that of the element `i` is the bit [`offset()`](Self::offset) + `i`.
    /// None: there are no nulls, or the type has no bitmap.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = Int32Array::from(vec![Some(1), None, Some(3)]);
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &numbers)?;
    /// let bitmap = there.nulls().map(|bits| bits.to_vec()).transpose()?;
    /// assert!(bitmap.is_some_and(|bytes| bytes[0] & 0b111 == 0b101));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn nulls(&self) -> Option<DeviceBuffer> {
        self.node.validity.as_ref().map(DeviceBuffer::read_only)
    }

    /// The other buffers, in the format's order.  They are whole: those of a slice begin
    /// [`offset()`](Self::offset) elements before it.
    ///
    /// ```
    /// use arrow_array::StringArray;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let words = DeviceArray::from_host(&Context::primary(0)?, &StringArray::from(vec!["one", "two"]))?;
    /// let [offsets, bytes] = words.buffers() else { panic!("strings have two buffers") };
    /// assert_eq!((offsets.len(), bytes.to_vec()?), (12, b"onetwo".to_vec()));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn buffers(&self) -> &[DeviceBuffer] {
        &self.node.buffers
    }

    /// The arrays within it, in the order of the type's fields.  They are whole, as the [buffers](Self::buffers) are.
    ///
    /// ```
    /// use arrow_array::{StructArray, record_batch};
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let rows = StructArray::from(record_batch!(("x", Int64, [1, 2]), ("y", Utf8, ["one", "two"]))?);
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &rows)?;
    /// let types: Vec<_> = there.children().map(|child| child.data_type().to_string()).collect();
    /// assert_eq!(types, ["Int64", "Utf8"]);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn children(&self) -> impl ExactSizeIterator<Item = Self> {
        self.node.children.iter().map(|child| Self::checked(&self.context, child.clone()))
    }

    /// The values of a dictionary's keys.
    ///
    /// ```
    /// use arrow_array::DictionaryArray;
    /// use arrow_array::types::Int8Type;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let words: DictionaryArray<Int8Type> = vec!["one", "two", "one"].into_iter().collect();
    /// let there = DeviceArray::from_host(&Context::primary(0)?, &words)?;
    /// assert_eq!(there.buffers()[0].to_vec()?, [0, 1, 0]); // the keys
    /// assert!(there.dictionary().is_some_and(|values| values.len() == 2));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn dictionary(&self) -> Option<Self> {
        let values = self.node.dictionary.as_deref()?;
        Some(Self::checked(&self.context, values.clone()))
    }

    /// Whether both have the same elements of the same memory.
    ///
    /// ```
    /// use arrow_array::Int64Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int64Array::from(vec![1, 2]))?;
    /// assert!(numbers.is_same_memory(&numbers.slice(0, 2)?));
    /// assert!(!numbers.is_same_memory(&numbers.slice(1, 1)?));
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn is_same_memory(&self, other: &Self) -> bool {
        self.node.data_type == other.node.data_type && self.node.is_same_memory(&other.node)
    }

    /// Whether both have the same type and the same elements.  Unless they share their memory, both are copied to the
    /// host to be compared.
    ///
    /// ```
    /// use arrow_array::Int64Array;
    /// use arrow_cuda_array::DeviceArray;
    /// use arrow_cuda_context::Context;
    ///
    /// let numbers = DeviceArray::from_host(&Context::primary(0)?, &Int64Array::from(vec![1, 2, 1]))?;
    /// assert!(numbers.slice(0, 1)?.equals(&numbers.slice(2, 1)?)?);
    /// assert!(!numbers.slice(0, 2)?.equals(&numbers.slice(1, 2)?)?);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`to_host`](Self::to_host).
    pub fn equals(&self, other: &Self) -> Result<bool, Error> {
        if self.data_type() != other.data_type() || self.len() != other.len() {
            return Ok(false);
        }
        if self.is_same_memory(other) {
            // There are no elements any more when the context is gone.
            drop(self.context.enter()?);
            return Ok(true);
        }
        Ok(self.to_host()? == other.to_host()?)
    }

    /// The array's parts.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use arrow_cuda_array::{ArrayParts, DeviceArray};
    /// use arrow_cuda_context::Context;
    /// use arrow_schema::DataType;
    ///
    /// let context = Context::primary(0)?;
    /// let numbers = DeviceArray::from_host(&context, &Int32Array::from(vec![1, 2, 3]))?;
    /// let parts = ArrayParts { data_type: DataType::Float32, ..numbers.into_parts() }; // the same bits
    /// let floats = DeviceArray::new(&context, parts)?;
    /// assert_eq!(floats.to_host()?.data_type(), &DataType::Float32);
    /// # Ok::<(), arrow_cuda_array::Error>(())
    /// ```
    pub fn into_parts(self) -> ArrayParts {
        let (children, dictionary) = (self.children().collect(), self.dictionary());
        let node = self.node;
        ArrayParts {
            data_type: node.data_type,
            length: node.length as usize,
            offset: node.offset as usize,
            null_count: node.null_count.map(|count| count as usize),
            nulls: node.validity,
            buffers: node.buffers,
            children,
            dictionary,
        }
    }
}

impl fmt::Debug for DeviceArray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceArray")
            .field("data_type", self.data_type())
            .field("len", &self.len())
            .field("offset", &self.offset())
            .field("device", &self.context.device().number())
            .field("bytes", &self.node.all_buffers().into_iter().map(Memory::size).sum::<u64>())
            .finish_non_exhaustive()
    }
}
