//! Device memory: a block of the driver, new or handed out again.

use crate::cache::class::{self, BLOCK, PACKED_AT_MOST};
use crate::live::Fate;
use crate::{Context, Entered, driver_memory, live};
use arrow_cuda_driver::{CudaError, CudaResult, blocking, may_release, report_failure};
use std::sync::atomic::Ordering;

/// Whether an allocation may share a driver block with others.
///
/// The driver packs allocations of at most 1 MiB into blocks of 2 MiB (seen on an H200), and
/// a process that imports one of them can reach the whole block from its kernels.  So memory
/// that may be exported gets a block of its own, as long as that wastes little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Alone in its block, unless too much memory is wasted that way already.
    Alone,
    /// As the driver likes.
    Packed,
}

/// Other threads may take or cache the room that was made, so it is made again, but not for ever.
const MOST_ATTEMPTS: u32 = 16;

/// One part in this many of a device's memory may be wasted on blocks that are used in part.
const SLACK_SHARE: u64 = 32;

/// An allocation, given back when it is dropped: to its context, which hands it out again, or to
/// the driver.
///
/// ```
/// use arrow_cuda_context::{Context, Placement};
///
/// let block = Context::primary(0)?.allocate(100, Placement::Alone)?;
/// assert!(block.size() == 100 && block.is_alone());
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct Block {
    address: u64,
    size: u64,
    shape: Shape,
    context: Context,
}

/// What a block takes of the driver's memory.
#[derive(Clone, Copy, Debug)]
struct Shape {
    capacity: u64,
    /// The part of it that counts as wasted.
    slack: u64,
    is_alone: bool,
    /// Whether its capacity is one that the cache knows.
    is_cached: bool,
}

impl Context {
    /// Allocates `size` bytes, more than 0, uninitialised.
    ///
    /// Released memory of about that size is handed out again, once no work can touch it any more.
    /// When the device has no room, all that is kept is given back to the driver first.
    ///
    /// # Errors
    ///
    /// When the device has no room for it: `CUDA_ERROR_OUT_OF_MEMORY`; when the context no longer
    /// exists.
    pub fn allocate(&self, size: u64, placement: Placement) -> CudaResult<Block> {
        let current = self.enter()?;
        if self.may_cache() {
            self.check_not_reset()?;
        }
        let is_cached = self.cache_limit()? > 0;
        let mut shape = self.shape(size, placement, is_cached)?;
        let address = match self.reused(&mut shape, &current) {
            Some(address) => address,
            None => self.fresh(&mut shape, size).map_err(|error| {
                self.release_slack(shape.slack);
                error.while_allocating(size)
            })?,
        };
        self.count(size.cast_signed());
        live::remember(address, size, shape.capacity, self.number());
        Ok(Block { address, size, shape, context: self.clone() })
    }

    /// What an allocation takes, its slack reserved.
    fn shape(&self, size: u64, placement: Placement, is_cached: bool) -> CudaResult<Shape> {
        if size > PACKED_AT_MOST {
            let capacity = if is_cached { class::alone(size) } else { size };
            return Ok(Shape { capacity, slack: 0, is_alone: true, is_cached });
        }
        if placement == Placement::Alone {
            let slack = self.reserve_slack(BLOCK - size)?;
            if slack > 0 {
                return Ok(Shape { capacity: BLOCK, slack, is_alone: true, is_cached });
            }
        }
        Ok(packed(size, is_cached))
    }

    /// Memory that was released.
    fn reused(&self, shape: &mut Shape, _current: &Entered<'_>) -> Option<u64> {
        if !shape.is_cached {
            return None;
        }
        let idle = self.cache().take(self.raw(), shape.capacity, shape.is_alone)?;
        shape.capacity = idle.capacity;
        Some(idle.address)
    }

    /// Memory of the driver's.
    fn fresh(&self, shape: &mut Shape, size: u64) -> CudaResult<u64> {
        let mut allocated = driver_memory::allocate(shape.capacity);
        for _ in 0..MOST_ATTEMPTS {
            if !is_out_of_memory(&allocated) || !self.make_room() {
                break;
            }
            allocated = driver_memory::allocate(shape.capacity);
        }
        if is_out_of_memory(&allocated) && shape.slack > 0 {
            // The room that is left may not be a whole block.
            self.release_slack(shape.slack);
            *shape = packed(size, shape.is_cached);
            allocated = driver_memory::allocate(shape.capacity);
        }
        let address = allocated?;
        self.cache().count_allocation(shape.capacity);
        Ok(address)
    }

    /// Takes `bytes` out of what may be wasted; 0 when there is not that much left.
    fn reserve_slack(&self, bytes: u64) -> CudaResult<u64> {
        let limit = self.total_memory()? / SLACK_SHARE;
        let before = self.slack().fetch_add(bytes, Ordering::AcqRel);
        if before + bytes <= limit {
            return Ok(bytes);
        }
        self.release_slack(bytes);
        Ok(0)
    }

    fn release_slack(&self, bytes: u64) {
        self.slack().fetch_sub(bytes, Ordering::AcqRel);
    }
}

fn packed(size: u64, is_cached: bool) -> Shape {
    let capacity = if is_cached { class::packed(size) } else { size };
    Shape { capacity, slack: 0, is_alone: false, is_cached }
}

fn is_out_of_memory(allocated: &CudaResult<u64>) -> bool {
    allocated.as_ref().is_err_and(CudaError::is_out_of_memory)
}

impl Block {
    /// The device address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The size that was asked for, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where the block was allocated.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether no other allocation lies in the same driver block.
    pub fn is_alone(&self) -> bool {
        self.shape.is_alone
    }

    /// Never frees the memory: another process may have it mapped, for as long as it likes.
    /// It goes with the process.
    pub fn keep(&self) {
        live::keep_for_processes(self.address);
    }

    fn free(&self) -> CudaResult<()> {
        if self.context.is_gone() {
            // The memory went with its context, and the address may be somebody else's by now.
            return Ok(());
        }
        self.uncount();
        self.context.free(self.address, self.shape.capacity)
    }

    fn uncount(&self) {
        self.context.count(-self.size.cast_signed());
        self.context.release_slack(self.shape.slack);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if !may_release() {
            return;
        }
        let Shape { capacity, is_alone, is_cached, .. } = self.shape;
        match live::release(self.address, self.context.number(), is_cached) {
            Fate::Cached => {
                self.uncount();
                let evicted = self.context.cache().offer(self.address, capacity, is_alone);
                report_failure("device memory", self.context.give_back(&evicted).1);
            }
            Fate::Freed => report_failure("device memory", blocking(|| self.free())),
            Fate::Kept | Fate::Gone => {}
        }
    }
}
