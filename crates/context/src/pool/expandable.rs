//! The expandable segment of a pool of device memory: reserves its addresses, maps chunks there and moves them.
//!
//! The ledger decides which chunks, and where.

use super::Source;
use super::allocate::MAX_ATTEMPTS;
use super::ledger::{Place, Plan, Request, Segment};
use super::lookup::{RANGES, query};
use super::pools::Pool;
use crate::calls::chunks::{
    free_addresses, map_chunk, release_chunk, reserve_addresses, set_access, unmap_chunk,
};
use crate::{Context, Current, Device, Unused};
use arrow_cuda_driver::{CallError, CudaError, CudaResult, Variable, codes};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

static VARIABLE: Variable = Variable::new("PYARROW_CUDA_EXPANDABLE_SEGMENTS", "'on' or 'off'");
/// The segment has so many times the addresses of the device's memory.  They cost nothing, and holes between blocks are
/// filled where that takes the fewest chunks.
const ADDRESSES: u64 = 2;

/// Sets whether device memory that is allocated from now on, in blocks of more than 1 MiB, lies in an expandable segment: a
/// range of addresses, one for each context, in which physical chunks are mapped where blocks need them.  That
/// leaves less memory unused, takes more calls of the driver, and cannot be shared with other processes.  Memory that
/// is not cached stays as it is.
///
/// `PYARROW_CUDA_EXPANDABLE_SEGMENTS` sets it at first; without that, it is off.
///
/// ```
/// use arrow_cuda_context::{Context, Placement, is_in_expandable_segment, set_expandable_segments};
///
/// set_expandable_segments(true);
/// let block = Context::primary(0)?.allocate(3 << 20, Placement::Packed)?;
/// assert!(is_in_expandable_segment(block.private_address()));
/// set_expandable_segments(false);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
pub fn set_expandable_segments(is_on: bool) {
    setting().store(is_on, Ordering::Relaxed);
}

pub(super) fn is_on() -> bool {
    setting().load(Ordering::Relaxed)
}

fn setting() -> &'static AtomicBool {
    static SETTING: OnceLock<AtomicBool> = OnceLock::new();
    SETTING.get_or_init(|| {
        let value = VARIABLE.read("expandable segments are off", |text| match text {
            "on" | "1" => Some(true),
            "off" | "0" => Some(false),
            _ => None,
        });
        AtomicBool::new(value == Ok(Some(true)))
    })
}

/// Whether an address lies in an expandable segment, which no other process can map.
///
/// ```
/// assert!(!arrow_cuda_context::is_in_expandable_segment(0x1000));
/// ```
pub fn is_in_expandable_segment(address: u64) -> bool {
    !query(address, |ledger| ledger.is_expandable(address).then_some(())).is_empty()
}

/// What a pool knows of its segment beside the ledger.
#[derive(Debug, Default)]
pub(super) struct Expandable {
    /// Where the range begins, and its size, once it is reserved.
    range: Option<(u64, u64)>,
    granularity: u64,
    /// The devices that have access to the memory beside its own.
    peers: Vec<Device>,
}

impl Expandable {
    fn reserve(&mut self, pool: &Pool, device: Device) -> CudaResult<()> {
        if self.range.is_some() {
            return Ok(());
        }
        if !device.maps_chunks()? {
            return Err(unsupported(device));
        }
        self.granularity = device.chunk_granularity()?;
        let size = (device.total_memory()? * ADDRESSES).next_multiple_of(self.granularity);
        let start = reserve_addresses(size)?;
        self.range = Some((start, size));
        RANGES[Source::Device as usize].add(start, size);
        pool.with_ledger(|ledger| ledger.add_range(start..start + size))
    }

    /// Gives the addresses back when the context is gone, and its chunks are unmapped.
    pub(super) fn abandon(&mut self) {
        if let Some((start, size)) = self.range.take() {
            // A reset may have done so.
            // SAFETY: reserved above, and the ledger knows no block there any more.
            drop(unsafe { free_addresses(start, size) });
        }
        self.peers.clear();
    }
}

fn unsupported(device: Device) -> CudaError {
    CudaError::Call(CallError {
        function: "cuMemAddressReserve",
        code: codes::NOT_SUPPORTED,
        name: Some("CUDA_ERROR_NOT_SUPPORTED".to_owned()),
        text: Some(format!(
            "device {} has no virtual memory management, which expandable segments need; turn them off",
            device.number()
        )),
        requested_bytes: None,
        device_memory: None,
    })
}

/// Unmaps a chunk and gives it back to the driver.
///
/// # Safety
///
/// The ledger has removed the chunk, or does not know it yet.
pub(super) unsafe fn free(chunk: &Segment, unused: &Unused) -> CudaResult<()> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        unmap_chunk(chunk.address, chunk.capacity, unused)?;
        release_chunk(chunk.handle)
    }
}

/// Gives a chunk back whose context is gone, as far as neither a reset nor an attempt before has done so.
///
/// # Safety
///
/// As for [`free`].
pub(super) unsafe fn abandon(chunk: &Segment, unused: &Unused) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        drop(unmap_chunk(chunk.address, chunk.capacity, unused));
        drop(release_chunk(chunk.handle));
    }
}

impl Context {
    /// Serves a request by chunks.  `None` if no addresses are left.
    pub(super) fn expand(
        &self,
        pool: &Pool,
        current: &Current<'_>,
        request: &Request,
    ) -> CudaResult<Option<Place>> {
        let mut attempts = MAX_ATTEMPTS;
        loop {
            match pool.expand(current, request) {
                Err(error)
                    if error.is_out_of_memory() && attempts > 0 && self.reclaim(pool, current) =>
                {
                    attempts -= 1;
                }
                outcome => return outcome.map_err(|error| error.while_allocating(request.size)),
            }
        }
    }

    /// Lets a device use the memory of this context's expandable segment, now and later.
    pub(crate) fn share_expandable_segment(&self, peer: Device) -> CudaResult<()> {
        let pool = self.pool(Source::Device);
        let mut expandable = pool.expandable.lock()?;
        if !expandable.peers.contains(&peer) {
            for chunk in pool.with_ledger(|ledger| ledger.chunks())? {
                set_access(chunk.address, chunk.capacity, &[peer])?;
            }
            expandable.peers.push(peer);
        }
        Ok(())
    }
}

impl Pool {
    fn expand(&self, current: &Current<'_>, request: &Request) -> CudaResult<Option<Place>> {
        let mut expandable = self.expandable.lock()?;
        expandable.reserve(self, current.context().device())?;
        let granularity = expandable.granularity;
        loop {
            let (found, plan) = self.with_ledger(|ledger| match ledger.reuse(request) {
                None => (None, ledger.plan(request, granularity)),
                found => {
                    ledger.account.stats.cache_hits -= 1; // it counts as a miss already
                    (found, None)
                }
            })?;
            let Some(plan) = plan else { return Ok(found) };
            self.carry_out(current.context(), plan, &expandable.peers)?;
            // Another thread may take what was added.
        }
    }

    /// Maps the chunks of a plan.  After a failure, those that were not touched are where they were, and the driver
    /// has the others.
    fn carry_out(&self, context: &Context, plan: Plan, peers: &[Device]) -> CudaResult<()> {
        let device = context.device();
        // SAFETY: the chunks that are moved lay free, so no work uses them but small copies, which are awaited first;
        // nobody has the others yet.
        let unused = unsafe { Unused::promised() };
        let mut untouched = plan.moved.into_iter();
        // Each with whether it counts as reserved: the chunks that are mapped nowhere, and those that are.
        let (mut loose, mut mapped) = (Vec::new(), Vec::new());
        let mut map_all = || {
            // If there is no room for new ones, the others still lie free, and can be given back.
            for size in &plan.created {
                loose.push((false, Segment::of_chunk(0, *size, device.create_chunk(*size)?)));
            }
            if !untouched.as_slice().is_empty() {
                context.await_small_copies()?; // which may be into blocks that were released meanwhile
            }
            while let Some(chunk) = untouched.as_slice().first().copied() {
                // SAFETY: the ledger has taken the chunk out.
                unsafe { unmap_chunk(chunk.address, chunk.capacity, &unused) }?;
                loose.extend(untouched.next().map(|chunk| (true, chunk)));
            }
            let mut next = plan.address;
            while let Some((_, chunk)) = loose.last_mut() {
                map_chunk(next, chunk.capacity, chunk.handle)?;
                chunk.address = next;
                next += chunk.capacity;
                mapped.extend(loose.pop());
            }
            set_access(plan.address, next - plan.address, &[&[device], peers].concat())
        };
        let outcome = map_all();
        // SAFETY: mapped above or nowhere, and not in the ledger.
        let free = |chunk: &Segment| outcome.is_err() && unsafe { free(chunk, &unused) }.is_ok();
        let mapped =
            mapped.into_iter().map(|(is_counted, chunk)| (is_counted, free(&chunk), chunk));
        // SAFETY: as above.
        let release = |chunk: &Segment| unsafe { release_chunk(chunk.handle) }.is_ok();
        let loose =
            loose.into_iter().map(|(is_counted, chunk)| (is_counted, release(&chunk), chunk));
        let (mapped, loose) = (mapped.collect::<Vec<_>>(), loose.collect::<Vec<_>>());
        self.with_ledger(|ledger| {
            untouched.for_each(|chunk| ledger.add_chunk(&chunk, true));
            for (is_counted, is_freed, chunk) in mapped.iter().chain(&loose) {
                match (is_counted, is_freed) {
                    (true, true) => ledger.count_freed(chunk.capacity),
                    (false, false) => ledger.count_created(chunk.capacity),
                    _ => {}
                }
            }
            for (_, _, chunk) in mapped.iter().filter(|(_, is_freed, _)| !is_freed) {
                ledger.add_chunk(chunk, outcome.is_ok());
            }
        })?;
        outcome
    }
}
