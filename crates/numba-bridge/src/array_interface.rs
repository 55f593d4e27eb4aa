//! The CUDA array interface: the dictionary by which Python libraries describe their device arrays
//! to each other.

use crate::error::invalid;
use crate::{ElementType, Error, Span, StridedArray, StridedLayout};
use arrow_cuda_context::{Pending, Ready};

/// The version of the interface in exported descriptions.
pub const VERSION: i64 = 3;

const LEGACY_DEFAULT_STREAM: u64 = 1;

/// The entries of `__cuda_array_interface__`.
///
/// ```
/// use arrow_cuda_numba_bridge::array_interface::{ArrayInterface, VERSION};
///
/// let of_another_library = ArrayInterface {
///     shape: vec![2, 3],
///     element: "<f4".parse()?,
///     address: Some(0x7f00_0000_0000),
///     is_read_only: false,
///     strides: None,
///     version: Some(VERSION),
///     stream: None,
///     has_mask: false,
/// };
/// assert_eq!(of_another_library.memory()?.layout.strides(), [12, 4]);
/// # Ok::<(), arrow_cuda_numba_bridge::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayInterface {
    /// The number of elements along each dimension.
    pub shape: Vec<i64>,
    /// The type of the elements, from `typestr`.
    pub element: ElementType,
    /// The address of the first element, the first item of `data`: `None` or 0 only for an array
    /// without elements.
    pub address: Option<u64>,
    /// Whether the memory must not be written to, the second item of `data`.
    pub is_read_only: bool,
    /// The distance between neighbours along each dimension, in bytes; `None` for dense elements in
    /// C order.
    pub strides: Option<Vec<i64>>,
    /// The version of the interface; `None` if the dictionary has no number for it.
    pub version: Option<i64>,
    /// The stream on which work on the array may be pending: 1 and 2 are the default streams, other
    /// numbers are handles.
    pub stream: Option<u64>,
    /// Whether a mask says which elements are valid.
    pub has_mask: bool,
}

/// The memory of an array's elements.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::{Consumer, Context};
/// use arrow_cuda_numba_bridge::array_interface::{ArrayInterface, ArrayMemory};
/// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
///
/// let context = Context::primary(0)?;
/// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
/// let theirs = StridedArray::allocate(&context, layout)?;
/// let interface = ArrayInterface::of(&theirs, &context.make_ready_for(Consumer::Unknown, &[])?);
///
/// let ArrayMemory { address, layout, is_mutable, pending, .. } = interface.memory()?;
/// let (arrival, size) = (context.take_over(&pending)?, layout.span().size);
/// // SAFETY: the owner keeps the memory, which nobody else uses.
/// let view = unsafe { DeviceBuffer::view(&context, address, size, is_mutable, arrival, Box::new(theirs)) }?;
/// assert_eq!(StridedArray::new(&view, 0, layout)?.layout().shape(), [2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ArrayMemory {
    /// The start of the elements' span; 0 without elements.
    pub address: u64,
    /// How the elements lie in it.
    pub layout: StridedLayout,
    /// Whether it may be written to.
    pub is_mutable: bool,
    /// The work that may still write to it.
    pub pending: Pending,
}

impl ArrayInterface {
    /// Describes an array that was made ready for any consumer: without pending work.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let context = Context::primary(0)?;
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&context, layout)?;
    /// let interface = ArrayInterface::of(&array, &context.make_ready_for(Consumer::Unknown, &[])?);
    /// assert_eq!((interface.shape, interface.strides), (vec![2, 3], None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(array: &StridedArray, ready: &Ready) -> Self {
        let layout = array.layout();
        let strides = (!layout.is_row_major()).then(|| layout.strides().to_vec());
        Self {
            shape: layout.shape().to_vec(),
            element: layout.element(),
            address: Some(array.address(ready)),
            is_read_only: !array.buffer().is_mutable(),
            strides,
            version: Some(VERSION),
            stream: None,
            has_mask: false,
        }
    }

    /// The memory of the array's elements, and how they lie in it.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::array_interface::ArrayInterface;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let context = Context::primary(0)?;
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&context, layout)?;
    /// let interface = ArrayInterface::of(&array, &context.make_ready_for(Consumer::Unknown, &[])?);
    /// let memory = interface.memory()?;
    /// assert_eq!((memory.address, &memory.layout), (array.private_address(), array.layout()));
    /// assert!(ArrayInterface { has_mask: true, ..interface }.memory().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for arrays with a mask, and for an inconsistent description.
    pub fn memory(&self) -> Result<ArrayMemory, Error> {
        if self.has_mask {
            return invalid("masked arrays are not supported");
        }
        let shape = self.shape.clone();
        let layout = match &self.strides {
            None => StridedLayout::row_major(self.element, shape)?,
            Some(strides) => StridedLayout::strided(self.element, shape, strides.clone())?,
        };
        let Span { start, size } = layout.span();
        let address = match self.address.unwrap_or(0) {
            0 if size > 0 => return invalid(format!("an array of {size} bytes at no address")),
            0 => 0,
            first => first.checked_add_signed(start).ok_or_else(|| {
                Error::Invalid("the array's strides leave the address space".into())
            })?,
        };
        let is_mutable = !self.is_read_only;
        Ok(ArrayMemory { address, layout, is_mutable, pending: self.pending()? })
    }

    fn pending(&self) -> Result<Pending, Error> {
        match self.stream {
            Some(0) => invalid("stream 0 is not allowed in __cuda_array_interface__"),
            // Numba names no stream for work on the default one.
            None if self.version.is_some_and(|version| version >= VERSION) => {
                Ok(Pending::DefaultStream)
            }
            Some(LEGACY_DEFAULT_STREAM) => Ok(Pending::DefaultStream),
            Some(_) => Ok(Pending::AnyStream),
            // Before version 3, an array could not name its stream; PyTorch and JAX still export
            // such arrays.
            None => Ok(Pending::AnyStream),
        }
    }
}
