//! Decides whether to stage a task through pinned memory, and runs it.

use super::host::{HostMemory, prefer_huge_pages};
use super::issuer::Issuer;
use super::job::{ClosedOnDrop, Job};
use super::plan::{MIN_WAKING, Task, TransferLimits};
use super::pools;
use super::settings::transfer_limits;
use super::stager::Stager;
use super::throttle::Throttle;
use super::workers::Crew;
use crate::pinned;
use arrow_cuda_context::{Current, StreamHandle};
use arrow_cuda_driver::{CudaError, CudaResult};
use std::sync::Arc;
use std::time::Instant;

/// Runs a task between host memory and device memory at an address.  Returns whether a comparison
/// has found a difference, or `None` if the driver should do the work: the copy is small, the
/// memory is pinned already, no memory can be pinned, or other copies have all that may be.
///
/// # Safety
///
/// As many bytes at `device` must be live memory of the current context's device; in an upload they
/// must be the caller's to write.
pub(crate) unsafe fn run(
    current: &Current<'_>,
    task: Task,
    host: HostMemory<'_>,
    device: u64,
) -> CudaResult<Option<bool>> {
    // SAFETY: the job is closed before this returns, and no thread accesses the memory afterwards.
    let host = unsafe { host.without_lifetime() };
    let (limits, context) = (transfer_limits(), current.context());
    let size = host.size();
    let is_accessible = || match host.contiguous_start() {
        Some(start) => pinned::is_device_accessible(current, start, size),
        None => Ok(false),
    };
    let Some(stager) = stager_for(current, task, size, &limits, is_accessible)? else {
        return Ok(None);
    };
    current.await_turn(StreamHandle::DEFAULT)?;
    // Admits the next copy once this one has given its lane back.
    let _admitted = if size >= MIN_WAKING { Some(stager.admit(task)?) } else { None };
    let may_wake = size >= MIN_WAKING || stager.has_just_copied();
    let copy = stager.count(transfer_limits);
    // New threads start while memory is pinned.
    let workers = pools::workers_of(context.device(), limits.threads);
    let (Ok(workers), Ok(streams)) = (workers, stager.streams(context)) else {
        return Ok(None);
    };
    let Some(mut taken) = stager.take_lane(context, size, &limits) else { return Ok(None) };
    if task == Task::Download {
        for (address, _, length) in host.runs(0, size) {
            prefer_huge_pages(address as usize, length);
        }
    }
    let lane = taken.lane();
    let plan = limits.plan(task, size, lane.slots.room());
    lane.slots.divide(plan.slots, plan.piece);
    let job = Arc::new(Job::new(task, host, plan, lane.slots.slot(0)));
    let crew = Crew::beside(copy.others, &workers, may_wake);
    let (moves, stream) = (plan.moves(task, job.pieces()), streams.of(task).handle());
    let closed = ClosedOnDrop(&job);
    let throttle = Throttle::new(&stager.small_copies, Instant::now());
    let moved = Issuer { current, job: &job, crew, lane, stream, device, moves, throttle }.run();
    drop(closed);
    if moved.as_ref().is_err_and(|error| *error != CudaError::Interrupted) {
        // The device could not be waited for with certainty, and must not write to other copies' slots.
        taken.discard(context);
    }
    moved.map(|()| Some(job.differs()))
}

/// The stager, if it is to make a copy of `size` bytes, and the device cannot access the host side itself.
pub(super) fn stager_for<'a>(
    current: &'a Current<'_>,
    task: Task,
    size: usize,
    limits: &TransferLimits,
    is_accessible: impl FnOnce() -> CudaResult<bool>,
) -> CudaResult<Option<&'a Stager>> {
    let context = current.context();
    if !limits.should_stage(task, size) {
        if let Some(stager) = context.extension::<Stager>() {
            stager.count_small_copy();
        }
        return Ok(None);
    }
    // The owner of a borrowed context would destroy the stager's resources with it.
    if !(context.is_primary() && context.is_numbered()) {
        return Ok(None);
    }
    if is_accessible()? {
        return Ok(None); // the device copies pinned memory directly, at full speed
    }
    let stager = Stager::of(context);
    Ok(stager.should_start(size, limits).then_some(stager))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_cuda_context::{Block, Context, Placement};
    use std::sync::atomic::Ordering;

    #[test]
    fn a_small_copy_is_counted_while_others_are_made() {
        let context = Context::primary(0).expect("a device");
        let block = Block::allocate(&context, 8, Placement::Packed).expect("memory");
        let (stager, current) = (Stager::of(&context), context.enter().expect("a device"));
        let count = || {
            let small = HostMemory::source(&[1; 8]);
            // SAFETY: a live block of eight bytes.
            let made = unsafe { run(&current, Task::Upload, small, block.private_address()) };
            assert_eq!(made, Ok(None), "the driver makes it");
            stager.small_copies.load(Ordering::Relaxed)
        };
        let copy = stager.count(TransferLimits::of_this_machine);
        let before = count();
        assert_eq!(count(), before + 1);
        drop(copy);
        assert_eq!(count(), before + 1, "nobody needs to give way");
    }
}
