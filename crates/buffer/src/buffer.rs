//! A contiguous range of device memory, and its owner.

use crate::allocator::{self, Allocation};
use crate::{Error, foreign, range};
use arrow_cuda_context::{Arrival, Block, Context, Placement, Ready, Stream};
use arrow_cuda_driver::{CudaError, CudaResult, codes};
use std::any::Any;
use std::fmt;
use std::ops::RangeBounds;
use std::sync::Arc;

/// Device memory: an address, a size in bytes, and a shared owner that keeps it valid.
///
/// Cloning and slicing copy nothing; the memory is released with its last buffer.  A buffer knows
/// whether it is mutable, but clones do not exclude each other: as everywhere in CUDA, writes
/// through one are visible through the others.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
///
/// let whole = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
/// whole.fill(b'-')?;
/// let part = whole.slice(2..6)?;
/// part.copy_from_host(b"here")?;
/// assert_eq!(whole.to_vec()?, b"--here--");
/// assert!(part.slice(3..5).is_err() && part.read_only().fill(0).is_err());
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
#[derive(Clone)]
pub struct DeviceBuffer {
    pub(crate) private_address: u64,
    pub(crate) size: usize,
    is_mutable: bool,
    memory: Arc<Memory>,
}

struct Memory {
    context: Context,
    kind: Kind,
}

enum Kind {
    /// No memory at all: a buffer of no bytes.
    Empty,
    /// Allocated here, freed with the last buffer.
    Owned(Block),
    /// An allocator's that the program has set: all of what it gave, released with the last buffer.
    Lent { address: u64, size: usize, _owner: Box<dyn Any + Send + Sync> },
    /// Somebody else's, kept valid by its owner; streams are ordered after its arrival.
    Foreign { arrival: Arrival, _owner: Box<dyn Any + Send + Sync> },
    /// Another process's, kept mapped by its owner.
    Imported { _mapping: Box<dyn Any + Send + Sync> },
}

impl DeviceBuffer {
    /// Allocates `size` uninitialised bytes, in a segment of their own if that wastes little, so that
    /// other processes can import them and nothing else with them.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 1000)?;
    /// assert!(buffer.len() == 1000 && buffer.is_mutable());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`.
    pub fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        Self::allocate_placed(context, size, Placement::Alone)
    }

    /// Allocates `size` bytes, uninitialised, packed with other allocations: for the many small
    /// buffers of an Arrow array.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let bitmap = DeviceBuffer::allocate_packed(&context, 1)?;
    /// let values = DeviceBuffer::allocate_packed(&context, 32)?;
    /// assert_eq!((bitmap.len(), values.len()), (1, 32));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`.
    pub fn allocate_packed(context: &Context, size: usize) -> CudaResult<Self> {
        Self::allocate_placed(context, size, Placement::Packed)
    }

    fn allocate_placed(context: &Context, size: usize, placement: Placement) -> CudaResult<Self> {
        if size == 0 {
            return Ok(Self::with_memory(context, 0, 0, true, Kind::Empty));
        }
        match Self::allocate_lent(context, size)? {
            Some(lent) => Ok(lent),
            None => Ok(Self::of_block(Block::allocate(context, size as u64, placement)?)),
        }
    }

    /// All of the memory that the program's allocator gives; `None` if it has set none for the context's device.
    pub(crate) fn allocate_lent(context: &Context, size: usize) -> CudaResult<Option<Self>> {
        let Some(Allocation { address, owner }) = allocator::allocate(context, size)? else {
            return Ok(None);
        };
        let kind = Kind::Lent { address, size, _owner: owner };
        Ok(Some(Self::with_memory(context, address, size, true, kind)))
    }

    pub(crate) fn of_block(block: Block) -> Self {
        let (context, address, size) =
            (block.context().clone(), block.private_address(), block.size() as usize);
        Self::with_memory(&context, address, size, true, Kind::Owned(block))
    }

    /// A view of memory that `owner` keeps valid: device memory, or host memory that the device
    /// can reach, at the device's address or the host's.  [`Context::take_over`] gives the arrival, from what
    /// is known of the work on the memory; work here comes after that.  Of memory that another context has, this
    /// waits for the work of that context.
    ///
    /// The driver checks that the memory exists, is large enough, and belongs to the context's
    /// device, now and before each copy.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Context, Pending, Ready, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let theirs = DeviceBuffer::gathered(&context, &[b"abcd"])?; // as if of another library
    /// let address = theirs.address(&Ready::by_caller());
    /// let arrival = context.take_over(&Pending::Event(Stream::new(&context)?.record()?))?;
    /// // SAFETY: the owner keeps the 4 bytes, which nobody writes to.
    /// let ours =
    ///     unsafe { DeviceBuffer::view(&context, address, 4, false, arrival, Box::new(theirs)) }?;
    /// assert!(ours.to_vec()? == b"abcd" && !ours.is_mutable());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The memory must stay valid as long as `owner` lives, and must be the caller's to write where
    /// `is_mutable` is true.
    ///
    /// # Errors
    ///
    /// Driver errors for an address that it does not know; [`Error::Invalid`] for memory that
    /// ends too early or lies on another device.
    pub unsafe fn view(
        context: &Context,
        address: u64,
        size: usize,
        is_mutable: bool,
        arrival: Arrival,
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, Error> {
        let address = foreign::take_in(context, address, size)?;
        let kind = Kind::Foreign { arrival, _owner: owner };
        Ok(Self::with_memory(context, address, size, is_mutable, kind))
    }

    /// Memory of another process, mapped at `address` as long as `mapping` lives.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Context, Ready};
    ///
    /// let context = Context::primary(0)?;
    /// let mapping = DeviceBuffer::gathered(&context, &[b"abcd"])?; // as if of another process
    /// let address = mapping.address(&Ready::by_caller());
    /// // SAFETY: 4 bytes are there as long as the mapping lives.
    /// let imported = unsafe { DeviceBuffer::imported(&context, address, 4, Box::new(mapping)) };
    /// assert!(imported.is_imported() && imported.equals_host(b"abcd")?);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Safety
    ///
    /// `size` bytes at `address` must be mapped as long as `mapping` lives.
    pub unsafe fn imported(
        context: &Context,
        address: u64,
        size: usize,
        mapping: Box<dyn Any + Send + Sync>,
    ) -> Self {
        Self::with_memory(context, address, size, true, Kind::Imported { _mapping: mapping })
    }

    fn with_memory(
        context: &Context,
        address: u64,
        size: usize,
        is_mutable: bool,
        kind: Kind,
    ) -> Self {
        let memory = Arc::new(Memory { context: context.clone(), kind });
        Self { private_address: address, size, is_mutable, memory }
    }

    /// The bytes of a range, which share the memory.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcdef"])?;
    /// assert_eq!(buffer.slice(2..4)?.to_vec()?, b"cd");
    /// assert!(buffer.slice(5..=6).is_err());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] when the range does not lie within the buffer, or ends before it begins.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<Self, Error> {
        let (start, length) = range::resolved(&range, "bytes", self.len())?;
        Ok(self.part(start, length))
    }

    /// The slice of `length` bytes from `offset` on, which shares the memory.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::gathered(&Context::primary(0)?, &[b"abcdef"])?;
    /// assert_eq!(buffer.slice_with_length(2, 3)?.to_vec()?, b"cde");
    /// assert!(buffer.slice_with_length(5, 2).is_err());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OutOfBounds`] when the slice does not lie within the buffer.
    pub fn slice_with_length(&self, offset: usize, length: usize) -> Result<Self, Error> {
        range::within(offset, length, self.size)?;
        Ok(self.part(offset, length))
    }

    /// A slice of a range that lies within the buffer.
    pub(crate) fn part(&self, offset: usize, length: usize) -> Self {
        debug_assert!(range::within(offset, length, self.size).is_ok());
        let private_address = self.private_address + offset as u64;
        Self { private_address, size: length, ..self.clone() }
    }

    /// A read-only view of the same memory.
    ///
    /// ```
    /// use arrow_cuda_buffer::{DeviceBuffer, Error};
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4)?;
    /// let view = buffer.read_only();
    /// assert_eq!(view.fill(1), Err(Error::ReadOnly));
    /// buffer.fill(2)?;
    /// assert_eq!(view.to_vec()?, [2; 4]);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    #[must_use]
    pub fn read_only(&self) -> Self {
        Self { is_mutable: false, ..self.clone() }
    }

    /// The device address, for a consumer who was made ready for; 0 for an allocation of no bytes.  Asking for
    /// it [exposes](Self::expose) the memory.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::{Consumer, Context, Ready};
    ///
    /// let context = Context::primary(0)?;
    /// let buffer = DeviceBuffer::allocate(&context, 8)?;
    /// let ready = context.make_ready_for(Consumer::OnDefaultStream, &[])?;
    /// let address = buffer.address(&ready); // for a kernel on the default stream
    /// assert_eq!(buffer.address(&Ready::by_caller()), address);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// When the readiness is that of another context: its work might not be complete here.
    pub fn address(&self, ready: &Ready) -> u64 {
        assert!(self.is_empty() || ready.is_for(self.context()), "ready in another context");
        self.expose();
        self.private_address
    }

    /// The device address, without exposing the memory: for work that is complete, or retains the
    /// buffer, when the call returns or fails.  Other libraries must not get it.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// let part = buffer.slice(3..)?;
    /// assert_eq!(part.private_address(), buffer.private_address() + 3);
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn private_address(&self) -> u64 {
        self.private_address
    }

    /// Marks the memory as exposed: other libraries may use it from now on, in work that this project does not
    /// know.  Once released, it is reused only when there is evidence that such work is complete.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert!(buffer.block().is_some_and(|block| !block.is_exposed()));
    /// buffer.expose();
    /// assert!(buffer.block().is_some_and(|block| block.is_exposed()));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn expose(&self) {
        if let Kind::Owned(block) = &self.memory.kind {
            block.expose();
        }
    }

    /// A failed call may leave work in flight, so the memory counts as exposed then.
    pub(crate) fn expose_on_failure<T, E: Into<Error>>(
        &self,
        outcome: Result<T, E>,
    ) -> Result<T, Error> {
        outcome.map_err(|error| self.explained(error.into())).inspect_err(|error| {
            // The copy that the device was too busy for has not begun.
            if *error != Error::Cuda(CudaError::Busy) {
                self.expose();
            }
        })
    }

    /// A bare refusal of the driver, with its reason where that is known.
    fn explained(&self, error: Error) -> Error {
        let is_bare =
            matches!(&error, Error::Cuda(cause) if cause.code() == Some(codes::INVALID_VALUE));
        let reason = (is_bare && matches!(self.memory.kind, Kind::Foreign { .. }))
            .then(|| foreign::refused_copy(self.context(), self.private_address));
        reason.flatten().unwrap_or(error)
    }

    /// The size, in bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert!(buffer.len() == 8 && buffer.slice(8..)?.is_empty());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn len(&self) -> usize {
        self.size
    }

    /// Whether there are no bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// assert!(DeviceBuffer::allocate(&context, 0)?.is_empty());
    /// assert!(!DeviceBuffer::allocate(&context, 1)?.is_empty());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Whether the memory may be written to through this buffer.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert!(buffer.is_mutable() && !buffer.read_only().is_mutable());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn is_mutable(&self) -> bool {
        self.is_mutable
    }

    /// Whether the memory belongs to another process.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert!(!buffer.is_imported()); // this process has allocated it
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn is_imported(&self) -> bool {
        matches!(self.memory.kind, Kind::Imported { .. })
    }

    /// The address and the size, in bytes, of the allocation that the memory belongs to, if an
    /// [`Allocator`](crate::Allocator) has made it.
    ///
    /// ```
    /// use arrow_cuda_buffer::{Allocation, Allocator, CudaResult, DeviceBuffer, set_allocator};
    /// use arrow_cuda_context::{Block, Context, Placement, Ready};
    /// use std::sync::Arc;
    ///
    /// struct Packed;
    /// // SAFETY: blocks of the context are of its memory, and the owner keeps the block.
    /// unsafe impl Allocator for Packed {
    ///     fn allocate(&self, context: &Context, size: usize) -> CudaResult<Allocation> {
    ///         let block = Block::allocate(&context, size as u64, Placement::Packed)?;
    ///         Ok(Allocation { address: block.address(&Ready::by_caller()), owner: Box::new(block) })
    ///     }
    /// }
    ///
    /// set_allocator(0, Some(Arc::new(Packed)))?;
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// let allocation = Some((buffer.private_address(), 8));
    /// assert_eq!(buffer.slice(4..)?.lent_allocation(), allocation);
    /// # set_allocator(0, None)?;
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn lent_allocation(&self) -> Option<(u64, usize)> {
        match &self.memory.kind {
            Kind::Lent { address, size, .. } => Some((*address, *size)),
            _ => None,
        }
    }

    /// Whether both are the same bytes of the same memory.  An address alone does not tell: after a reset of
    /// a device, its next context hands out the same addresses.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert!(buffer.is_same_memory(&buffer.read_only()));
    /// assert!(!buffer.is_same_memory(&buffer.slice(..4)?));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn is_same_memory(&self, other: &Self) -> bool {
        let range = |buffer: &Self| (buffer.private_address, buffer.size);
        range(self) == range(other) && self.context().is_same(other.context())
    }

    /// Whether one copy may reach from one to the other: both are parts of one segment, mapping or
    /// foreign memory.
    pub(crate) fn shares_memory(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.memory, &other.memory)
            || match (&self.memory.kind, &other.memory.kind) {
                (Kind::Owned(ours), Kind::Owned(theirs)) => ours.shares_segment(theirs),
                _ => false,
            }
    }

    /// The range from the start of this buffer to the end of a later one, with which it shares its
    /// memory.  It retains the first one only: it is for work that is complete before the caller gives
    /// up the others.
    pub(crate) fn through(&self, last: &Self) -> Self {
        debug_assert!(self.shares_memory(last) && self.private_address <= last.private_address);
        let distance = (last.private_address - self.private_address) as usize;
        Self { size: distance + last.size, ..self.clone() }
    }

    /// The range from an address within the same memory to the start of this buffer.
    pub(crate) fn gap_from(&self, address: u64) -> Self {
        debug_assert!(address <= self.private_address);
        let size = (self.private_address - address) as usize;
        Self { private_address: address, size, ..self.clone() }
    }

    /// The memory's context.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert_eq!(buffer.context().device().number(), 0);
    /// let neighbour = DeviceBuffer::allocate(buffer.context(), 8)?;
    /// assert_eq!(neighbour.context(), buffer.context());
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn context(&self) -> &Context {
        &self.memory.context
    }

    /// The allocation that the buffer is or belongs to, if it was allocated here.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 1000)?;
    /// let part = buffer.slice(10..20)?;
    /// assert!(part.block().is_some_and(|block| block.size() == 1000));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    pub fn block(&self) -> Option<&Block> {
        match &self.memory.kind {
            Kind::Owned(block) => Some(block),
            _ => None,
        }
    }

    /// Fails when the driver no longer knows the memory.  A foreign owner may have freed it under
    /// the buffer, and some drivers crash on its use.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert_eq!(buffer.check_memory(), Ok(())); // as always with an allocation of our own
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, or [`Error::Invalid`].
    pub fn check_memory(&self) -> Result<(), Error> {
        match self.memory.kind {
            Kind::Foreign { .. } => {
                foreign::check(self.context(), self.private_address, self.size).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Orders a stream after the work of the memory's producer.  Called before each use of the memory on the
    /// stream.
    pub(crate) fn order(&self, stream: &Stream) -> CudaResult<()> {
        match &self.memory.kind {
            Kind::Foreign { arrival, .. } => arrival.order(self.context(), stream),
            _ => Ok(()),
        }
    }

    /// Fails when the buffer is read-only.
    ///
    /// ```
    /// use arrow_cuda_buffer::{DeviceBuffer, Error};
    /// use arrow_cuda_context::Context;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
    /// assert_eq!(buffer.check_mutable(), Ok(()));
    /// assert_eq!(buffer.read_only().check_mutable(), Err(Error::ReadOnly));
    /// # Ok::<(), arrow_cuda_buffer::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`].
    pub fn check_mutable(&self) -> Result<(), Error> {
        if self.is_mutable { Ok(()) } else { Err(Error::ReadOnly) }
    }
}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceBuffer")
            .field("address", &format_args!("{:#x}", self.private_address))
            .field("size", &self.size)
            .field("device", &self.context().device().number())
            .finish_non_exhaustive()
    }
}
