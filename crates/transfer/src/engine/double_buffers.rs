//! Copies between a device and bytes that the host makes or takes: of files, and of what is compressed.
//!
//! Several threads make such a copy.  Each has two halves of pinned memory: it fills one while the device
//! copies the other.  A thread takes a *stretch* of the device's memory from its first byte to its last,
//! since decompression knows no other order.

use super::plan::Task;
use super::run::engine_for;
use super::settings::transfer_limits;
use crate::Staging;
use arrow_cuda_context::{Context, Current, Event, Stream, StreamHandle};
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
/// To start a thread takes about as long as to copy so many bytes.
const BYTES_PER_THREAD: usize = 2 << 20;
/// Files that are read and written past the page cache need memory that begins at a page.
const ALIGNMENT: usize = 4096;
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
    let work = |stream| Work {
        context,
        task,
        stretches,
        pass: &pass,
        stream,
        next: AtomicUsize::new(0),
        passed: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    let limits = transfer_limits();
    if let Some(engine) = engine_for(&current, task, size, &limits, || Ok(false))? {
        let _copy = engine.count(transfer_limits);
        if let (Ok(streams), Some(mut taken)) =
            (engine.streams(context), engine.take_lane(context, size, &limits))
        {
            let most = taken.lane().size() / (2 * SMALLEST_HALF);
            let threads = threads_for(task, stretches, limits.threads);
            let threads = threads.min(size / BYTES_PER_THREAD + 1).clamp(1, most.max(1));
            let half = taken.lane().size() / (2 * threads) / ALIGNMENT * ALIGNMENT;
            let half = half.min(LARGEST_HALF);
            let slots = taken.lane().take_slots(2 * threads * half);
            // SAFETY: the lane's memory, which is this copy's alone and initialised.
            let memory = unsafe { slice::from_raw_parts_mut(slots, 2 * threads * half) };
            let stream = streams.of(task);
            let share = || work(Some(stream)).share(memory, half, watch);
            let copied = catch_unwind(AssertUnwindSafe(share));
            return finish(&current, stream.handle(), copied, || taken.discard(context));
        }
    }
    let half = LARGEST_HALF.min(size);
    let mut staging = Staging::allocate(context, 2 * half + ALIGNMENT)?;
    let start = staging.private_ptr();
    let start = start.wrapping_add(start.align_offset(ALIGNMENT));
    // SAFETY: memory of this copy alone, which is initialised, and large enough for an aligned start.
    let memory = unsafe { slice::from_raw_parts_mut(start, 2 * half) };
    let share = || work(None).share(memory, half, watch);
    let copied = catch_unwind(AssertUnwindSafe(share));
    finish(&current, StreamHandle::DEFAULT, copied, || {
        if let Staging::Pinned(pinned) = &staging {
            pinned.as_ptr(); // others know it as well now: it serves again behind a fence
        }
    })
}

/// How many threads make a copy, of which the calling thread is one.
///
/// To decompress takes longer than all else, so every core does it.  Only one writes a file: most file
/// systems let no others write to it meanwhile (on an H100's host, 12 wrote 2.9 GB/s, and one 4.0, measured).
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
    /// Copies everything, by as many threads as there are halves for.
    fn share<S: Default>(
        &self,
        memory: &mut [u8],
        half: usize,
        watch: &mut dyn FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E>
    where
        P: Fn(&mut S, Piece, &mut [u8]) -> Result<(), E> + Sync,
    {
        let mut parts = memory.chunks_exact_mut(2 * half);
        let Some(own) = parts.next() else { return Ok(()) };
        let mut patience = Patience::new();
        let mut look = || {
            patience.check()?;
            watch(self.passed.load(Ordering::Relaxed))
        };
        let caller = thread::current();
        thread::scope(|scope| {
            let mut helpers = Vec::new();
            for part in parts {
                let help = || {
                    self.note(self.run(part, half, || Ok(())));
                    caller.unpark();
                };
                // The copy takes longer without it.
                helpers.extend(thread::Builder::new().spawn_scoped(scope, help));
            }
            self.note(self.run(own, half, &mut look));
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

    /// The work of one thread.
    fn run<S: Default>(
        &self,
        memory: &mut [u8],
        half: usize,
        mut look: impl FnMut() -> Result<(), E>,
    ) -> Result<(), E>
    where
        P: Fn(&mut S, Piece, &mut [u8]) -> Result<(), E>,
    {
        let current = self.context.enter()?;
        let mut buffer = DoubleBuffer::new(&current, memory, half)?;
        let mut state = S::default();
        let mut pass = |piece: Piece, bytes: &mut [u8]| {
            (self.pass)(&mut state, piece, bytes)?;
            self.passed.fetch_add(piece.size, Ordering::Relaxed);
            Ok::<_, E>(())
        };
        let mut on_its_way = None;
        for (turn, piece) in self.pieces(half).enumerate() {
            look()?;
            if self.task == Task::Upload {
                pass(piece, buffer.settled(turn, piece)?)?;
            }
            self.queue(&current, piece, buffer.bytes(turn, piece))?;
            current.record(buffer.end(turn), self.stream())?;
            if self.task == Task::Download
                && let Some((turn, before)) = on_its_way.replace((turn, piece))
            {
                pass(before, buffer.settled(turn, before)?)?;
            }
        }
        match on_its_way {
            Some((turn, last)) => pass(last, buffer.settled(turn, last)?),
            None => Ok(()),
        }
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

    fn queue(&self, current: &Current<'_>, piece: Piece, bytes: &mut [u8]) -> CudaResult<()> {
        let device = self.stretches[piece.stretch].address + piece.at as u64;
        let (size, stream) = (bytes.len(), self.stream());
        // SAFETY: within a stretch, of which `copy_stretches` was promised that it is live; the half
        // is this thread's, which waits for the event before its next use, and `finish` for all.
        unsafe {
            match self.task {
                Task::Upload => current.queue_copy_from_host(device, bytes.as_ptr(), size, stream),
                _ => current.queue_copy_to_host(bytes.as_mut_ptr(), device, size, stream),
            }
        }
    }
}

/// Two halves of pinned memory, which take turns.
struct DoubleBuffer<'memory> {
    halves: [&'memory mut [u8]; 2],
    /// Behind the last copy of each half; one that was never recorded counts as reached.
    ends: [Event; 2],
}

impl<'memory> DoubleBuffer<'memory> {
    fn new(current: &Current<'_>, memory: &'memory mut [u8], half: usize) -> CudaResult<Self> {
        let (first, second) = memory.split_at_mut(half);
        let ends = [Event::new(current.context())?, Event::new(current.context())?];
        Ok(Self { halves: [first, second], ends })
    }

    fn bytes(&mut self, turn: usize, piece: Piece) -> &mut [u8] {
        &mut self.halves[turn % 2][..piece.size]
    }

    fn end(&self, turn: usize) -> &Event {
        &self.ends[turn % 2]
    }

    /// The same bytes, once the device is done with them.
    fn settled(&mut self, turn: usize, piece: Piece) -> CudaResult<&mut [u8]> {
        self.end(turn).wait()?;
        Ok(self.bytes(turn, piece))
    }
}
