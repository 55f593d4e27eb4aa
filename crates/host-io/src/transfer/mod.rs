//! Copies between host memory and devices, as fast as the link between them.
//!
//! The driver moves ordinary (pageable) memory with one thread, at a fraction of what the link can
//! do. Here several threads move it through pinned memory: they copy between the host memory and
//! slots of pinned memory, while the device moves other slots. Memory that is pinned already needs
//! none of that, and small copies are as fast by the driver.
//!
//! A copy is ordered as the driver's is: it sees the work that was queued on the legacy default
//! stream before, and is complete when the call returns.

mod crew;
#[expect(unsafe_code, reason = "advises the kernel")]
mod fresh;
#[expect(unsafe_code, reason = "copies between raw parts of memory")]
mod job;
mod plan;
#[expect(unsafe_code, reason = "calls the driver")]
mod ring;
mod settings;

use arrow_cuda_buffer::{DeviceBuffer, Error, mapped_address, range};
use arrow_cuda_context::Context;
use crew::Crew;
use job::Job;
pub use plan::TransferLimits;
use plan::{Direction, Plan};
use ring::Ring;
pub use settings::{set_transfer_limits, transfer_limits};
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Copies host bytes into a buffer, from `position` on.
///
/// ```
/// use arrow_cuda_buffer::DeviceBuffer;
/// use arrow_cuda_context::Context;
///
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 4 << 20)?;
/// arrow_cuda_host_io::upload(&buffer, 0, &vec![7; 4 << 20])?;
/// assert_eq!(buffer.slice(1 << 20, 2)?.to_vec()?, [7, 7]);
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::OutOfBounds`], [`Error::ReadOnly`], or the driver's.
pub fn upload(buffer: &DeviceBuffer, position: u64, data: &[u8]) -> Result<(), Error> {
    let host = data.as_ptr().cast_mut();
    let copied = staged(Direction::Upload, buffer, position, host, data.len())?;
    if copied { Ok(()) } else { buffer.copy_from_host(position, data) }
}

/// Copies `out.len()` bytes of a buffer, from `position` on, to the host.
///
/// # Errors
///
/// [`Error::OutOfBounds`], or the driver's.
pub fn download(buffer: &DeviceBuffer, position: u64, out: &mut [u8]) -> Result<(), Error> {
    let copied = staged(Direction::Download, buffer, position, out.as_mut_ptr(), out.len())?;
    if copied { Ok(()) } else { buffer.copy_to_host(position, out) }
}

/// As [`download`], into memory that nobody has written to yet.  All of it is initialised when the
/// call succeeds.
///
/// # Errors
///
/// [`Error::OutOfBounds`], or the driver's.
pub fn download_to_uninit(
    buffer: &DeviceBuffer,
    position: u64,
    out: &mut [MaybeUninit<u8>],
) -> Result<(), Error> {
    let host = out.as_mut_ptr().cast();
    let copied = staged(Direction::Download, buffer, position, host, out.len())?;
    if copied { Ok(()) } else { buffer.copy_to_uninit(position, out) }
}

/// Makes a copy through pinned memory; false where the driver is to make it.
fn staged(
    direction: Direction,
    buffer: &DeviceBuffer,
    position: u64,
    host: *mut u8,
    size: usize,
) -> Result<bool, Error> {
    let limits = transfer_limits();
    let Plan::Staged { threads, piece } = limits.plan(direction, size) else { return Ok(false) };
    let context = buffer.context();
    // A borrowed context may be destroyed, and what is made in it would go with it.
    if !context.is_primary() || is_pinned(context, host, size)? {
        return Ok(false);
    }
    range::within(position, size as u64, buffer.size())?;
    if direction == Direction::Upload {
        buffer.check_mutable()?;
    }
    buffer.check_alive()?;
    let engine = engine_of(context);
    let mut engine = lock(&engine);
    let Some((crew, ring)) = engine.ready(context, &limits) else { return Ok(false) };
    let job = Arc::new(Job::new(direction, host, size, piece.min(ring.slot_size()), ring.slots()));
    let _current = context.enter()?;
    if direction == Direction::Download {
        fresh::prefer_huge_pages(host as usize, size);
    }
    // From here on nothing may return before the job is closed: others work on the memory.
    crew.post(&job, threads);
    let moved = ring.issue(&job, buffer.address() + position);
    job.close();
    moved?;
    Ok(true)
}

/// Whether the driver knows the memory: then it moves it at full speed itself.
fn is_pinned(context: &Context, host: *mut u8, size: usize) -> Result<bool, Error> {
    let known = |address: u64| Ok::<_, Error>(mapped_address(context, address)?.is_some());
    // The ends tell, as far as somebody has not pinned the middle alone: it is slower then, no more.
    Ok(known(host as u64)? || known(host as u64 + size as u64 - 1)?)
}

/// What copies of one device share; one copy at a time uses it, and saturates the link.
#[derive(Debug, Default)]
struct Engine {
    made_for: Option<TransferLimits>,
    crew: Crew,
    ring: Option<Ring>,
}

/// By the context's identity.
type Engines = HashMap<(usize, u64), Arc<Mutex<Engine>>>;

static ENGINES: Mutex<Option<Engines>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn engine_of(context: &Context) -> Arc<Mutex<Engine>> {
    lock(&ENGINES).get_or_insert_default().entry(context.identity()).or_default().clone()
}

impl Engine {
    /// The threads and the pinned memory, made for these limits; none where no memory can be pinned.
    fn ready(&mut self, context: &Context, limits: &TransferLimits) -> Option<(&Crew, &mut Ring)> {
        if self.made_for != Some(*limits) {
            let (slots, slot_size) = limits.ring()?;
            self.ring = None; // before the new one takes its place
            self.ring = Ring::new(context, slots, slot_size).ok();
            if self.crew.size() != limits.threads {
                self.crew = Crew::start(limits.threads);
            }
            // Without memory the next copy tries again.
            self.made_for = self.ring.is_some().then_some(*limits);
        }
        let Self { crew, ring, .. } = self;
        ring.as_mut().map(|ring| (&*crew, ring))
    }
}
