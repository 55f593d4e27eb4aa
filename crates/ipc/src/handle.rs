//! The bytes that identify device memory to another process.  Pure.

use crate::Error;

/// Identifies device memory of one process to another on the same machine.
///
/// The bytes are the size (8 bytes, native order), then the driver's handle of the allocation (64
/// bytes); memory of no bytes has the size alone.  Arrow's own CUDA support has the same format.
/// Memory that does not begin where its allocation begins needs 8 more bytes, for the offset; a
/// reader that does not know them sees the allocation's beginning.  Handles of other lengths are refused.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
/// use arrow_cuda_ipc::{IpcMemHandle, export};
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 100)?;
/// let bytes = export(&buffer)?.to_bytes();
/// assert_eq!(bytes.len(), 8 + 64);
/// assert_eq!(IpcMemHandle::from_bytes(&bytes)?.size(), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IpcMemHandle {
    size: u64,
    /// The driver's own handle of the allocation, and the memory's offset in it.
    allocation: Option<([u8; ALLOCATION], u64)>,
}

const SIZE: usize = 8;
pub(crate) const ALLOCATION: usize = 64;
const WHOLE: usize = SIZE + ALLOCATION;
const WITH_OFFSET: usize = WHOLE + 8;

impl IpcMemHandle {
    /// The handle for memory of no bytes.
    pub(crate) fn empty() -> Self {
        Self { size: 0, allocation: None }
    }

    pub(crate) fn new(size: u64, allocation: [u8; ALLOCATION], offset: u64) -> Self {
        Self { size, allocation: Some((allocation, offset)) }
    }

    /// The size of the memory, in bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::export;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 100)?;
    /// assert_eq!(export(&buffer.slice(..30)?)?.size(), 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// The driver's own handle of the allocation, and the memory's offset in it; `None` for memory
    /// of no bytes.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::export;
    ///
    /// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 100)?;
    /// let (whole, part) = (export(&buffer)?, export(&buffer.slice(64..)?)?);
    /// let (of_whole, of_part) = (whole.allocation().unwrap(), part.allocation().unwrap());
    /// assert_eq!((of_whole.0, of_part.1 - of_whole.1), (of_part.0, 64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allocation(&self) -> Option<(&[u8; ALLOCATION], usize)> {
        self.allocation.as_ref().map(|(allocation, offset)| (allocation, *offset as usize))
    }

    /// Reads a handle that another process has created.
    ///
    /// ```
    /// use arrow_cuda_ipc::IpcMemHandle;
    ///
    /// let sent = [&100u64.to_ne_bytes()[..], &[7; 64]].concat(); // by another process
    /// let handle = IpcMemHandle::from_bytes(&sent)?;
    /// assert_eq!((handle.size(), handle.allocation()), (100, Some((&[7; 64], 0))));
    /// assert!(IpcMemHandle::from_bytes(&sent[..70]).is_err());
    /// # Ok::<(), arrow_cuda_ipc::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Handle`] for bytes of another length than a handle's, and for a negative size.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let wrong_length = || Error::Handle(wrong_length(bytes.len()));
        let (size, rest) = bytes.split_first_chunk::<SIZE>().ok_or_else(wrong_length)?;
        let size = i64::from_ne_bytes(*size);
        let Ok(size) = u64::try_from(size) else {
            return Err(Error::Handle(format!("the IPC handle's size is negative: {size}")));
        };
        if size == 0 && rest.is_empty() {
            return Ok(Self::empty());
        }
        let (allocation, rest) = rest.split_first_chunk::<ALLOCATION>().ok_or_else(wrong_length)?;
        let offset = match rest {
            [] => 0,
            // With more or less bytes, the offset would name other memory.
            _ => u64::from_ne_bytes(rest.try_into().map_err(|_| wrong_length())?),
        };
        match size {
            0 => Ok(Self::empty()),
            _ => Ok(Self::new(size, *allocation, offset)),
        }
    }

    /// The handle as bytes, to be sent to another process.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_ipc::{IpcMemHandle, export};
    ///
    /// let handle = export(&DeviceBuffer::allocate(&Context::primary(0)?, 100)?)?;
    /// assert_eq!(IpcMemHandle::from_bytes(&handle.to_bytes())?, handle);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.size.to_ne_bytes().to_vec();
        if let Some((allocation, offset)) = self.allocation {
            bytes.extend_from_slice(&allocation);
            if offset != 0 {
                bytes.extend_from_slice(&offset.to_ne_bytes());
            }
        }
        bytes
    }
}

fn wrong_length(length: usize) -> String {
    format!("the IPC handle has {length} bytes, {WHOLE} or {WITH_OFFSET} are needed")
}
