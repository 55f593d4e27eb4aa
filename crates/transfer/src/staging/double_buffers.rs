//! Copies between a device and bytes that the host makes or takes: of files, and of what is compressed.
//!
//! Several threads make such a copy.  Each has two halves of pinned memory: it fills one while the device
//! copies the other.  A thread takes a *stretch* of the device's memory from its first byte to its last,
//! since decompression knows no other order.

use super::plan::Task;
use super::run::stager_for;
use super::settings::transfer_limits;
use arrow_cuda_context::{Context, Current, Slots, Stream, StreamHandle};
use arrow_cuda_driver::{CudaError, CudaResult, Patience};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::slice;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The device reads a smaller half while it lies in a processor's cache, and files are read at full speed.
const LARGEST_HALF: usize = 1 << 20;
/// Where many threads share little pinned memory, some of them stay away.
const SMALLEST_HALF: usize = 64 << 10;
/// Starting a thread takes about as long as copying this many bytes.
const BYTES_PER_THREAD: usize = 2 << 20;
/// How often the calling thread looks for signals while it waits for the others.
const INTERVAL: Duration = Duration::from_millis(20);

/// Memory of a device that one thread copies, from the first byte to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) address: u64,
    pub(crate) size: usize,
    /// Whether the host decompresses the bytes.
    pub(crate) is_serial: bool,
}

/// Bytes within a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The number of the stretch.
    pub(crate) stretch: usize,
    /// Where in the stretch they begin.
    pub(crate) at: usize,
    pub(crate) size: usize,
}

/// Copies all stretches.  `pass` makes the bytes of each piece, or takes them; each thread has a state for
/// it, and passes the pieces of a stretch in their order.  `watch` gets the number of bytes so far, now and
/// then, on the calling thread.
///
/// # Safety
///
/// The stretches must be live memory of the context's device; in an upload they must be the caller's to
/// write.
///
/// # Errors
///
/// The driver's, if the wait for the device fails; otherwise the first error of a thread, and the device is
/// done.  No thread is at work afterwards.
pub(crate) unsafe fn copy_stretches<S: Default, E: From<CudaError> + Send>(
    context: &Context,
    task: Task,
    stretches: &[Stretch],
    pass: impl Fn(&mut S, Piece, &mut [u8]) -> Result<(), E> + Sync,
    watch: &mut dyn FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    if stretches.is_empty() {
        return watch(0);
    }
    let current = context.enter()?;
    let size = stretches.iter().map(|stretch| stretch.size).sum();
    current.await_turn(StreamHandle::DEFAULT)?;
    let mut share = |slots: &Slots, half: usize, threads: usize, stream: Option<&Stream>| {
        let work = Work {
            context,
            task,
            stretches,
            pass: &pass,
            slots,
            half,
            stream,
            next: AtomicUsize::new(0),
            passed: AtomicUsize::new(0),
            is_stopped: AtomicBool::new(false),
            failure: Mutex::new(None),
        };
        catch_unwind(AssertUnwindSafe(|| work.share(threads, watch)))
    };
    let limits = transfer_limits();
    if let Some(stager) = stager_for(&current, task, size, &limits, || Ok(false))? {
        let _copy = stager.count(transfer_limits);
        if let (Ok(streams), Some(mut taken)) =
            (stager.streams(context), stager.take_lane(context, size, &limits))
        {
            let slots = &mut taken.lane().slots;
            let most = slots.room() / (2 * SMALLEST_HALF);
            let threads = threads_for(task, stretches, limits.threads);
            let threads = threads.min(size / BYTES_PER_THREAD + 1).clamp(1, most.max(1));
            let half = slots.room() / (2 * threads) / Slots::ALIGNMENT * Slots::ALIGNMENT;
            let half = half.min(LARGEST_HALF);
            slots.divide(2 * threads, half);
            slots.prepare_ends(&current, 2 * threads)?;
            let stream = streams.of(task);
            let copied = share(slots, half, threads, Some(stream));
            return finish(&current, stream.handle(), copied, || taken.discard(context));
        }
    }
    let half = LARGEST_HALF.min(size);
    let mut slots = Slots::allocate(context, 2 * half + Slots::ALIGNMENT)?;
    slots.divide(2, half);
    slots.prepare_ends(&current, 2)?;
    let copied = share(&slots, half, 1, None);
    finish(&current, StreamHandle::DEFAULT, copied, || slots.give_up())
}

/// How many threads make a copy, of which the calling thread is one.
///
/// Decompression takes longer than all else, so it gets a third more threads.  Only one writes a file: most
/// file systems let no others write to it meanwhile (on an H100's host, 12 wrote 2.9 GB/s, and one 4.0,
/// measured).
fn threads_for(task: Task, stretches: &[Stretch], workers: usize) -> usize {
    match task {
        Task::Download => 1,
        _ if stretches.iter().any(|stretch| stretch.is_serial) => workers + workers.div_ceil(3),
        _ => workers + 1,
    }
}

/// Waits for the device, which may be at work on the memory also after a failure, or a panic of `pass` or `watch`.
/// If the wait fails, too, the caller gets its error: the context may be of no use any more.
fn finish<E: From<CudaError>>(
    current: &Current<'_>,
    stream: StreamHandle<'_>,
    copied: thread::Result<Result<(), E>>,
    retain: impl FnOnce(),
) -> Result<(), E> {
    let waited = current.synchronize_stream(stream);
    if waited.is_err() {
        retain();
    }
    let copied = copied.unwrap_or_else(|panic| resume_unwind(panic));
    waited.map_err(E::from).and(copied)
}

/// A copy, as its threads share it.
struct Work<'copy, P, E> {
    context: &'copy Context,
    task: Task,
    stretches: &'copy [Stretch],
    pass: &'copy P,
    /// Two for each thread.
    slots: &'copy Slots,
    half: usize,
    /// None for the default stream.
    stream: Option<&'copy Stream>,
    /// The next stretch that no thread has taken.
    next: AtomicUsize,
    /// How many bytes have passed.
    passed: AtomicUsize,
    is_stopped: AtomicBool,
    failure: Mutex<Option<E>>,
}

impl<P, E: From<CudaError> + Send> Work<'_, P, E> {
    /// Copies everything by `threads` threads, or fewer if the system starts no more.
    fn share<S: Default>(
        &self,
        threads: usize,
        watch: &mut dyn FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E>
    where
        P: Fn(&mut S, Piece, &mut [u8]) -> Result<(), E> + Sync,
    {
        let mut patience = Patience::new();
        let mut look = || {
            patience.check()?;
            watch(self.passed.load(Ordering::Relaxed))
        };
        let caller = thread::current();
        thread::scope(|scope| {
            let mut helpers = Vec::new();
            let caller = &caller;
            for number in 1..threads {
                let help = move || {
                    self.note(self.run(number, || Ok(())));
                    caller.unpark();
                };
                // The copy takes longer without it.
                helpers.extend(thread::Builder::new().spawn_scoped(scope, help));
            }
            self.note(self.run(0, &mut look));
            while helpers.iter().any(|helper| !helper.is_finished()) {
                self.note(look());
                thread::park_timeout(INTERVAL);
            }
        });
        self.note(look());
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), Err)
    }

    /// Stops all threads after a failure, and keeps the first one.
    fn note(&self, outcome: Result<(), E>) {
        if let Err(error) = outcome {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            self.is_stopped.store(true, Ordering::Relaxed);
        }
    }

    /// The work of one thread, which has two slots.
    fn run<S: Default>(
        &self,
        number: usize,
        mut look: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E>
    where
        P: Fn(&mut S, Piece, &mut [u8]) -> Result<(), E>,
    {
        let current = self.context.enter()?;
        let mut state = S::default();
        let mut pass = |(slot, piece): (usize, Piece)| {
            self.slots.end(slot).wait()?;
            // SAFETY: initialised bytes of a slot of this thread, which the device has done with.
            let bytes = unsafe { slice::from_raw_parts_mut(self.slots.slot(slot), piece.size) };
            (self.pass)(&mut state, piece, bytes)?;
            self.passed.fetch_add(piece.size, Ordering::Relaxed);
            Ok::<_, E>(())
        };
        let mut on_its_way = None;
        for (turn, piece) in self.pieces(self.half).enumerate() {
            look()?;
            let slot = 2 * number + turn % 2;
            if self.task == Task::Upload {
                pass((slot, piece))?;
            }
            self.queue(&current, slot, piece)?;
            if self.task == Task::Download
                && let Some(before) = on_its_way.replace((slot, piece))
            {
                pass(before)?;
            }
        }
        on_its_way.map_or(Ok(()), pass)
    }

    /// The pieces of the stretches that this thread takes, until the copy is stopped.
    fn pieces(&self, most: usize) -> impl Iterator<Item = Piece> {
        let stretches = std::iter::from_fn(|| {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            Some((number, self.stretches.get(number)?.size))
        });
        let pieces = stretches.flat_map(move |(stretch, size)| {
            let piece = move |at| Piece { stretch, at, size: most.min(size - at) };
            (0..size).step_by(most).map(piece)
        });
        pieces.take_while(|_| !self.is_stopped.load(Ordering::Relaxed))
    }

    fn stream(&self) -> StreamHandle<'_> {
        self.stream.map_or(StreamHandle::DEFAULT, Stream::handle)
    }

    fn queue(&self, current: &Current<'_>, slot: usize, piece: Piece) -> CudaResult<()> {
        let device = self.stretches[piece.stretch].address + piece.at as u64;
        let (memory, stream) = (self.slots.slot(slot), self.stream());
        // SAFETY: within a stretch, of which `copy_stretches` was promised that it is live; the slot
        // is this thread's, which waits for the event before its next use, and `finish` for all.
        unsafe {
            match self.task {
                Task::Upload => current.queue_copy_from_host(device, memory, piece.size, stream),
                _ => current.queue_copy_to_host(memory, device, piece.size, stream),
            }
        }?;
        current.record(self.slots.end(slot), stream)
    }
}
