//! Arrays in device memory: a buffer, and the layout of the elements in it.

#[cfg(any(feature = "cudarc", feature = "cust"))]
mod adopted;
#[expect(unsafe_code, reason = "queues copies of host memory that the caller answers for")]
mod copies;
mod views;

use crate::error::invalid;
use crate::{ElementType, Error, StridedLayout};
use arrow_cuda_buffer::DeviceBuffer;
use arrow_cuda_context::{Context, Ready};

/// An n-dimensional array in device memory.
///
/// It shares the memory with its buffer and with every view of it, and neither cloning nor indexing
/// copies an element.
///
/// ```
/// use arrow_cuda_context::Context;
/// use arrow_cuda_numba_bridge::{StridedArray, ElementType, Index, StridedLayout, Order};
///
/// let layout = StridedLayout::row_major(ElementType::int(2), vec![2, 3])?;
/// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
/// array.copy_from_host(&[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0], Order::C)?;
///
/// let column = array.index(&[Index::Rest, Index::At(1)])?;
/// assert_eq!(column.to_vec(Order::C)?, [2, 0, 5, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct StridedArray {
    /// All bytes that the elements span, and no others.
    buffer: DeviceBuffer,
    layout: StridedLayout,
}

impl StridedArray {
    /// An array over a buffer's memory, whose first element begins `offset` bytes after the
    /// buffer's start.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Order, StridedArray, StridedLayout};
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 6)?;
    /// buffer.copy_from_host(&[1, 2, 3, 4, 5, 6])?;
    /// let every_other = StridedLayout::strided(ElementType::uint(1), vec![2], vec![2])?;
    /// let array = StridedArray::new(&buffer, 3, every_other.clone())?;
    /// assert_eq!(array.to_vec(Order::C)?, [4, 6]);
    /// assert!(StridedArray::new(&buffer, 4, every_other).is_err()); // one would lie beyond the end
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for elements that do not lie within the buffer.
    pub fn new(buffer: &DeviceBuffer, offset: usize, layout: StridedLayout) -> Result<Self, Error> {
        let span = layout.span();
        let start = offset.checked_add_signed(span.start as isize);
        match start.and_then(|start| buffer.slice_with_length(start, span.size).ok()) {
            Some(buffer) => Ok(Self { buffer, layout }),
            None => invalid(format!(
                "elements of {} bytes from byte {} on do not fit into a buffer of {} bytes",
                span.size,
                offset as i128 + i128::from(span.start),
                buffer.len()
            )),
        }
    }

    /// A buffer's bytes, as unsigned integers.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::StridedArray;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 3)?;
    /// assert_eq!(StridedArray::of_bytes(&buffer)?.layout().shape(), [3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a size of more than 63 bits, which no memory has.
    pub fn of_bytes(buffer: &DeviceBuffer) -> Result<Self, Error> {
        let layout = StridedLayout::row_major(ElementType::uint(1), vec![buffer.len() as i64])?;
        Self::new(buffer, 0, layout)
    }

    /// A new array, uninitialised, in memory that other processes can import.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// assert_eq!(array.buffer().len(), 24);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors; [`Error::Invalid`] for a layout with gaps or overlaps.
    pub fn allocate(context: &Context, layout: StridedLayout) -> Result<Self, Error> {
        if !layout.is_contiguous() {
            return invalid("a new array has neither gaps nor overlaps");
        }
        let buffer = DeviceBuffer::allocate(context, layout.size());
        Ok(Self { buffer: buffer.map_err(arrow_cuda_buffer::Error::from)?, layout })
    }

    /// The memory, from the first byte of any element to the last one.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, Index, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// let column = array.index(&[Index::Rest, Index::At(0)])?;
    /// assert_eq!(column.buffer().len(), 12 + 4); // two elements and the gap between them
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn buffer(&self) -> &DeviceBuffer {
        &self.buffer
    }

    /// How the elements lie in the memory.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::float(4), vec![2, 3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// assert_eq!((array.layout().shape(), array.layout().strides()), (&[2, 3][..], &[12, 4][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn layout(&self) -> &StridedLayout {
        &self.layout
    }

    /// The type of the elements.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray};
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 3)?;
    /// assert_eq!(StridedArray::of_bytes(&buffer)?.element(), ElementType::uint(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn element(&self) -> ElementType {
        self.layout.element()
    }

    /// The device address of the first element, for a consumer who was made ready for.  Asking for it
    /// [exposes](DeviceBuffer::expose) the memory.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context};
    /// use arrow_cuda_numba_bridge::{ElementType, Index, StridedArray, StridedLayout};
    ///
    /// let context = Context::primary(0)?;
    /// let array = StridedArray::allocate(&context, StridedLayout::row_major(ElementType::int(8), vec![3])?)?;
    /// let last = array.index(&[Index::At(-1)])?;
    /// let ready = context.make_ready_for(Consumer::OnDefaultStream, &[])?;
    /// assert_eq!(last.address(&ready) - array.address(&ready), 16);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn address(&self, ready: &Ready) -> u64 {
        self.buffer.address(ready) + self.first() as u64
    }

    /// The same address, without exposing the memory: other libraries must not get it.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{ElementType, StridedArray, StridedLayout};
    ///
    /// let layout = StridedLayout::row_major(ElementType::int(8), vec![3])?;
    /// let array = StridedArray::allocate(&Context::primary(0)?, layout)?;
    /// assert!(array.private_address().is_multiple_of(8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn private_address(&self) -> u64 {
        self.buffer.private_address() + self.first() as u64
    }

    /// Fails if not all elements begin at multiples of `alignment`, where a kernel of another library would
    /// fault, which ends the context.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_numba_bridge::{StridedArray, ElementType, StridedLayout};
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 12)?;
    /// let layout = StridedLayout::row_major(ElementType::int(8), vec![1])?;
    /// assert!(StridedArray::new(&buffer, 0, layout.clone())?.check_aligned(8).is_ok());
    /// assert!(StridedArray::new(&buffer, 4, layout)?.check_aligned(8).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`].
    pub fn check_aligned(&self, alignment: usize) -> Result<(), Error> {
        let layout = &self.layout;
        if layout.count() == 0 {
            return Ok(());
        }
        let dimensions = layout.shape().iter().zip(layout.strides());
        let strides = dimensions.filter(|(length, _)| **length > 1);
        let places = strides.map(|(_, stride)| stride.unsigned_abs());
        let all = places.fold(self.private_address(), |all, place| all | place);
        match all.checked_rem(alignment as u64) {
            None | Some(0) => Ok(()),
            Some(_) => Err(Error::Unsupported(format!(
                "not all elements begin at multiples of {alignment} bytes, and kernels of other libraries \
                 would fault: array.copy() has them in memory where they do"
            ))),
        }
    }

    /// Where in the buffer the first element begins, in bytes.
    fn first(&self) -> usize {
        self.layout.span().start.unsigned_abs() as usize
    }
}
