//! Buffers that are allocated together: the columns of a record batch.
//!
//! They lie one behind the other in one segment, so that one copy moves all of them
//! (`adjacent_copies.rs`).
//!
//! A buffer that outlives the others retains little more than itself: large ones have blocks of their
//! own, and small ones share blocks of limited size, because each block costs time.

use crate::DeviceBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaError, CudaResult};
use std::ops::Range;

/// Where buffers begin, in bytes: at multiples of this, as the driver's own allocations.
const ALIGNMENT: u64 = 256;

/// No device has as much memory.
const MOST: u64 = 1 << 62;

/// Buffers smaller than this share blocks of about this size, and of a larger one where there is much: a
/// block costs a microsecond, in which the device copies 50 KB.
const SHARED: u64 = 256 << 10;
/// All buffers together have at most about so many shared blocks.
const MOST_BLOCKS: u64 = 256;

impl DeviceBuffer {
    /// Allocates a buffer of each size, in bytes, uninitialised: all in one segment, one behind the
    /// other, each at a multiple of 256 bytes.  Only if the device has no room for one segment, there
    /// are several.  A buffer retains its own memory, and of its neighbours' less than 512 KiB, or less than a
    /// 128th of all.
    ///
    /// ```
    /// use arrow_cuda_buffer::DeviceBuffer;
    /// use arrow_cuda_context::Context;
    ///
    /// let buffers = DeviceBuffer::allocate_adjacent(&Context::primary(0)?, &[1000, 0, 3])?;
    /// assert_eq!(buffers[2].address(), buffers[0].address() + 1024);
    /// assert!(buffers[1].is_empty());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the device has no room: `CUDA_ERROR_OUT_OF_MEMORY`; nothing stays allocated then.
    pub fn allocate_adjacent(context: &Context, sizes: &[u64]) -> CudaResult<Vec<Self>> {
        if let Some(buffers) = Self::adjacent_of_allocator(context, sizes)? {
            return Ok(buffers);
        }
        let shares = shares(sizes);
        let sizes_of_blocks: Vec<_> = shares.iter().map(|share| share.size).collect();
        let blocks = match context.allocate_adjacent(&sizes_of_blocks) {
            Err(error) if CudaError::is_out_of_memory(&error) && sizes.len() > 1 => {
                let (first, second) = sizes.split_at(sizes.len() / 2);
                let mut buffers = Self::allocate_adjacent(context, first)?;
                buffers.extend(Self::allocate_adjacent(context, second)?);
                return Ok(buffers);
            }
            allocated => allocated?,
        };
        let nothing = Self::allocate_packed(context, 0)?;
        let mut buffers = Vec::with_capacity(sizes.len());
        for (share, block) in shares.into_iter().zip(blocks) {
            buffers.resize(share.members.start, nothing.clone());
            let (whole, mut end) = (Self::of_block(block), 0);
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

    /// Buffers as parts of one allocation from the allocator that the program has set; `None` without one.
    fn adjacent_of_allocator(context: &Context, sizes: &[u64]) -> CudaResult<Option<Vec<Self>>> {
        let mut end = 0;
        let mut offsets = Vec::with_capacity(sizes.len());
        for size in sizes {
            let offset = if *size == 0 { end } else { begin_behind(end) };
            offsets.push(offset);
            end = offset.saturating_add(*size);
            if end > MOST {
                return Ok(None); // the driver says so
            }
        }
        if end == 0 {
            return Ok(None);
        }
        let Some(whole) = Self::allocate_lent(context, end)? else { return Ok(None) };
        let nothing = Self::allocate_packed(context, 0)?;
        let members = offsets.into_iter().zip(sizes);
        let part = |(offset, size): (u64, &u64)| match size {
            0 => nothing.clone(),
            _ => whole.part(offset, *size),
        };
        Ok(Some(members.map(part).collect()))
    }
}

struct Share {
    size: u64,
    /// The numbers of the buffers, of which those of no bytes have no place in the block.
    members: Range<usize>,
}

/// Which buffers of these sizes share blocks: those that follow each other and are small.
fn shares(sizes: &[u64]) -> Vec<Share> {
    let limit =
        SHARED.max(sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size)) / MOST_BLOCKS);
    let mut shares: Vec<Share> = Vec::new();
    for (number, size) in sizes.iter().copied().enumerate().filter(|(_, size)| *size > 0) {
        match shares.last_mut() {
            Some(last) if last.size < limit && size < limit => {
                last.size = begin_behind(last.size) + size;
                last.members.end = number + 1;
            }
            _ => shares.push(Share { size, members: number..number + 1 }),
        }
    }
    shares
}

/// Where the next buffer in a block begins.
fn begin_behind(end: u64) -> u64 {
    end.next_multiple_of(ALIGNMENT)
}
