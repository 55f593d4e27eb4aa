//! Host memory that buffers writes: pinned, or pageable if none can be pinned.

use crate::HostBuffer;
use arrow_cuda_buffer::Error;
use arrow_cuda_context::Context;

#[derive(Debug)]
pub(crate) enum Staging {
    Pinned(HostBuffer),
    Pageable(Vec<u8>),
}

impl Staging {
    pub(crate) fn allocate(context: &Context, size: usize) -> Result<Self, Error> {
        match HostBuffer::allocate(context, size) {
            Ok(pinned) => Ok(Self::Pinned(pinned)),
            // Slower copies are better than none.
            Err(error) if error.is_out_of_memory() => {
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(size).map_err(|_| Error::Cuda(error))?;
                bytes.resize(size, 0);
                Ok(Self::Pageable(bytes))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Pinned(pinned) => pinned.as_mut_slice(),
            Self::Pageable(bytes) => bytes,
        }
    }
}
