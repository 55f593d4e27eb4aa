//! Finds the block that contains an address, in any context.
//!
//! The driver's allocation may be larger than the block, and outlives the block's release.  Checks of an address
//! against its allocation must therefore look here first.

use super::Source;
use super::ledger::Ledger;
use super::pools::Pools;
use crate::{Attribute, Context, Current, contexts};
use arrow_cuda_driver::CudaResult;
use std::sync::atomic::{AtomicU64, Ordering};

/// The smallest range of addresses that holds all memory that was ever added, so that most other addresses
/// are known without a lock.
pub(super) struct AddressRange {
    start: AtomicU64,
    end: AtomicU64,
}

impl AddressRange {
    const fn new() -> Self {
        Self { start: AtomicU64::new(u64::MAX), end: AtomicU64::new(0) }
    }

    pub(super) fn add(&self, address: u64, capacity: u64) {
        self.start.fetch_min(address, Ordering::Relaxed);
        self.end.fetch_max(address.saturating_add(capacity), Ordering::Relaxed);
    }

    fn contains(&self, address: u64) -> bool {
        (self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed)).contains(&address)
    }
}

/// The addresses of each source's memory: those of device memory and of host memory lie far apart.
pub(super) static RANGES: [AddressRange; Source::ALL.len()] =
    [const { AddressRange::new() }; Source::ALL.len()];

/// Queries the ledgers of all contexts about an address.  Contexts that are gone do not count: the
/// address may belong to somebody else by now.
pub(super) fn query<T>(address: u64, question: impl Fn(&mut Ledger) -> Option<T>) -> Vec<T> {
    let may_have = |source: &Source| RANGES[*source as usize].contains(address);
    if !Source::ALL.iter().any(may_have) {
        return Vec::new();
    }
    let answer = |context: &Context| {
        let pools = context.extension::<Pools>()?;
        let sources = Source::ALL.into_iter().filter(may_have);
        let mut answers = sources.map(|source| pools.get(source).with_ledger(&question));
        let answer = answers.find_map(|answer| answer.ok().flatten())?;
        // Asks the driver, so not under the lock, and only where it matters.
        context.is_alive().then_some(answer)
    };
    contexts::all().iter().filter_map(answer).collect()
}

/// Whether the memory at an address was released, although the driver still has it allocated.
///
/// ```
/// assert!(!arrow_cuda_context::is_released(0x1000));
/// ```
pub fn is_released(address: u64) -> bool {
    !query(address, |ledger| ledger.is_idle(address).then_some(())).is_empty()
}

/// The address and requested size, in bytes, of the block that contains `address`.  The driver
/// reserved the block's memory from `reserved_from` on.  `None` for memory that was not allocated
/// here, or was released.
///
/// ```
/// assert_eq!(arrow_cuda_context::block_at(0x1000, 0x800), None);
/// ```
pub fn block_at(address: u64, reserved_from: u64) -> Option<(u64, u64)> {
    // Contexts of one device have adjacent blocks: the nearest one counts.
    let on_devices = query(address, |ledger| ledger.block_at(address, reserved_from));
    on_devices.into_iter().max()
}

/// Whether all bytes from an address on lie in one block of pinned memory that is in use.  `false` says nothing about
/// memory that was not allocated here.
///
/// ```
/// assert!(!arrow_cuda_context::is_pinned_block(0x1000, 1));
/// ```
pub fn is_pinned_block(address: u64, size: u64) -> bool {
    let contains = |(start, length)| address.saturating_add(size) <= start + length;
    !query(address, |ledger| ledger.block_at(address, 0).filter(|block| contains(*block)))
        .is_empty()
}

impl Current<'_> {
    /// Whether all bytes from an address on lie in one block of the context's device memory that is in use.  `false`
    /// says nothing about memory that was not allocated here, or if only the driver can tell whether the context is
    /// gone.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let block = Block::allocate(&context, 1000, Placement::Alone)?;
    /// let address = block.private_address();
    /// assert!(current.has_block(address + 10, 990));
    /// assert!(!current.has_block(address + 10, 991) && !current.has_block(address + 1000, 0));
    /// drop(block);
    /// assert!(!current.has_block(address, 1000));
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    pub fn has_block(&self, address: u64, size: u64) -> bool {
        let source = Source::Device;
        let contains = |(start, length): (u64, u64)| {
            address - start < length && size <= length - (address - start)
        };
        RANGES[source as usize].contains(address)
            && self.context().is_numbered()
            && self.context().extension::<Pools>().is_some_and(|pools| {
                let block = pools.get(source).with_ledger(|ledger| ledger.block_at(address, 0));
                block.ok().flatten().is_some_and(contains)
            })
    }

    /// The address at which the context's device reaches the device memory or pinned host memory at
    /// `address`.  `None` for memory that the driver does not know, or that was released here
    /// although the driver still has it allocated.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 100, Placement::Packed)?, context.enter()?);
    /// let address = block.private_address();
    /// assert_eq!(current.device_address(address)?, Some(address));
    /// drop(block);
    /// assert_eq!(current.device_address(address)?, None);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// All other driver errors.
    pub fn device_address(&self, address: u64) -> CudaResult<Option<u64>> {
        if is_released(address) {
            return Ok(None);
        }
        self.attribute_if_known(Attribute::DevicePointer, address)
    }

    /// The start and size of the device memory or pinned host memory at an address that the driver was given at once.
    /// `None` where [`device_address`](Self::device_address) is.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let (block, current) = (Block::allocate(&context, 100, Placement::Packed)?, context.enter()?);
    /// let (start, size) = current.known_range(block.private_address())?.expect("device memory");
    /// assert!(start <= block.private_address() && size >= 100);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn known_range(&self, address: u64) -> CudaResult<Option<(u64, u64)>> {
        if is_released(address) {
            return Ok(None);
        }
        let asked = [Attribute::RangeStart, Attribute::RangeSize];
        let [start, size] = self.attributes(asked, address)?;
        Ok((start <= address && address - start < size).then_some((start, size)))
    }
}
