//! Buffers that are allocated together: the columns of a record batch.
//!
//! They follow each other in one segment, so that one copy moves all of them (`suballocated_copies.rs`).
//!
//! A buffer that outlives the others retains little more than itself.  Large buffers have blocks of their own.
//! Small ones share blocks of limited size, because each block costs time.

use crate::DeviceBuffer;
use arrow_cuda_context::{Block, Context};
use arrow_cuda_driver::{CudaError, CudaResult};
use std::ops::Range;

/// Where buffers begin, in bytes: at multiples of this, as the driver's own allocations.
const ALIGNMENT: usize = 256;

/// No device has as much memory.
const MOST: usize = 1 << 62;

/// Buffers smaller than this share blocks of about this size, and of a larger one where there is much: a
/// block costs a microsecond, in which the device copies 50 KB.
const SHARED: usize = 256 << 10;
/// All buffers together have at most about this many shared blocks.
const MOST_BLOCKS: usize = 256;

impl DeviceBuffer {
    /// Allocates a buffer of each size, in bytes, uninitialised: all in one segment, one after the other, each
    /// at a multiple of 256 bytes.  Only if the device has no room for one segment, there are several.  A
    /// buffer retains its own memory, and of its neighbours' less than 512 KiB, or less than a 128th of all.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffers = DeviceBuffer::suballocate(&Context::primary(0)?, &[1000, 0, 3])?;
    /// assert_eq!(buffers[2].private_address(), buffers[0].private_address() + 1024);
    /// assert!(buffers[1].is_empty());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; nothing stays allocated then.
    pub fn suballocate(context: &Context, sizes: &[usize]) -> CudaResult<Vec<Self>> {
        // Of the allocator that the program has set, if any: one allocation for all.
        if let [all] = shares(sizes, usize::MAX).as_slice()
            && all.size <= MOST // else the driver says so
            && let Some(whole) = Self::allocate_lent(context, all.size)?
        {
            return Self::parts(context, sizes, [(all, whole)]);
        }
        let sum = sizes.iter().fold(0, |sum: usize, size| sum.saturating_add(*size));
        let shares = shares(sizes, SHARED.max(sum / MOST_BLOCKS));
        let sizes_of_blocks: Vec<_> = shares.iter().map(|share| share.size as u64).collect();
        let blocks = match Block::suballocate(context, &sizes_of_blocks) {
            Err(error) if CudaError::is_out_of_memory(&error) && sizes.len() > 1 => {
                let (first, second) = sizes.split_at(sizes.len() / 2);
                let mut buffers = Self::suballocate(context, first)?;
                buffers.extend(Self::suballocate(context, second)?);
                return Ok(buffers);
            }
            allocated => allocated?,
        };
        Self::parts(context, sizes, shares.iter().zip(blocks.into_iter().map(Self::of_block)))
    }

    /// The buffers of these sizes, of which each share lies in its own memory.
    fn parts<'a>(
        context: &Context,
        sizes: &[usize],
        shares: impl IntoIterator<Item = (&'a Share, Self)>,
    ) -> CudaResult<Vec<Self>> {
        let nothing = Self::allocate_packed(context, 0)?;
        let mut buffers = Vec::with_capacity(sizes.len());
        for (share, whole) in shares {
            buffers.resize(share.members.start, nothing.clone());
            let mut end = 0;
            let members = sizes.iter().take(share.members.end).skip(share.members.start);
            for size in members {
                buffers.push(match size {
                    0 => nothing.clone(),
                    _ => {
                        let offset = begin_behind(end);
                        end = offset + size;
                        whole.part(offset, *size)
                    }
                });
            }
        }
        buffers.resize(sizes.len(), nothing);
        Ok(buffers)
    }
}

struct Share {
    size: usize,
    /// The numbers of the buffers, of which those of no bytes have no place in the block.
    members: Range<usize>,
}

/// Which buffers of these sizes share blocks: those that follow each other and are smaller than `limit`.
fn shares(sizes: &[usize], limit: usize) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for (number, size) in sizes.iter().copied().enumerate().filter(|(_, size)| *size > 0) {
        match shares.last_mut() {
            Some(last) if last.size < limit && size < limit => {
                last.size = begin_behind(last.size).saturating_add(size);
                last.members.end = number + 1;
            }
            _ => shares.push(Share { size, members: number..number + 1 }),
        }
    }
    shares
}

/// Where the next buffer in a block begins.
fn begin_behind(end: usize) -> usize {
    end.checked_next_multiple_of(ALIGNMENT).unwrap_or(usize::MAX)
}
