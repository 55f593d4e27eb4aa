//! The history of device memory, while somebody records it: what was allocated and released, in order.

use super::ledger::Ledger;
use arrow_cuda_driver::{CudaResult, Lock, holds_lock};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

/// A kind of [`MemoryEvent`].
///
/// ```
/// use arrow_cuda_context::{Block, Context, MemoryAction, MemoryHistory, Placement};
///
/// let context = Context::primary(0)?;
/// MemoryHistory::start(1000, || None)?;
/// drop(Block::allocate(&context, 700, Placement::Packed)?);
/// let actions: Vec<_> = MemoryHistory::stop()?.iter().map(|event| event.action).collect();
/// assert!(actions.contains(&MemoryAction::Allocate) && actions.contains(&MemoryAction::Release));
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryAction {
    /// A block was allocated.
    Allocate,
    /// A block was released.
    Release,
    /// The driver has allocated a segment.
    AllocateSegment,
    /// A segment goes back to the driver.
    FreeSegment,
}

impl MemoryAction {
    /// Its name, in words.
    ///
    /// ```
    /// use arrow_cuda_context::MemoryAction;
    ///
    /// assert_eq!(MemoryAction::AllocateSegment.name(), "allocate segment");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Allocate => "allocate",
            Self::Release => "release",
            Self::AllocateSegment => "allocate segment",
            Self::FreeSegment => "free segment",
        }
    }
}

/// An event of the [`MemoryHistory`].
///
/// ```
/// use arrow_cuda_context::{Block, Context, MemoryAction, MemoryHistory, Placement};
///
/// let context = Context::primary(0)?;
/// MemoryHistory::start(1000, || None)?;
/// let block = Block::allocate(&context, 700, Placement::Packed)?;
/// let events = MemoryHistory::stop()?;
/// let event = events.iter().find(|event| event.action == MemoryAction::Allocate).expect("one");
/// assert_eq!((event.device, event.address, event.size), (0, block.private_address(), 700));
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MemoryEvent {
    /// The kind of event.
    pub action: MemoryAction,
    /// The number of the device.
    pub device: u32,
    /// Where the memory begins.
    pub address: u64,
    /// The bytes: those that were asked for, or all of a segment.
    pub size: u64,
    /// When.
    pub time: SystemTime,
    /// Where the program has allocated the block, also for its release, if that is known.
    pub origin: Option<Arc<str>>,
}

/// Tells where in the program this thread is.  It is called under no lock of this project.
///
/// ```
/// use arrow_cuda_context::{MemoryHistory, Origin};
///
/// let origin: Origin = || std::thread::current().name().map(String::from);
/// assert!(MemoryHistory::start(1000, origin)?);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
pub type Origin = fn() -> Option<String>;

/// The history of all device memory that the contexts of this process allocate, while it is recorded.
///
/// ```
/// use arrow_cuda_context::{Block, Context, MemoryAction, MemoryHistory, Placement};
///
/// let context = Context::primary(0)?;
/// assert!(MemoryHistory::start(1000, || Some("here".into()))?);
/// let block = Block::allocate(&context, 700, Placement::Packed)?;
/// drop(block);
/// let events = MemoryHistory::stop()?;
/// let last = &events[events.len() - 1];
/// assert_eq!((last.action, last.size), (MemoryAction::Release, 700));
/// assert_eq!(last.origin.as_deref(), Some("here"));
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct MemoryHistory {
    capacity: usize,
    events: VecDeque<MemoryEvent>,
    origin: Origin,
    /// All that the events and the blocks refer to.
    origins: HashSet<Arc<str>>,
    /// The blocks that were allocated since it began, by address.
    in_use: HashMap<u64, Option<Arc<str>>>,
}

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Taken after the lock of a ledger.
static HISTORY: Lock<Option<MemoryHistory>> = Lock::new(None);

impl MemoryHistory {
    /// Begins to record the last `capacity` events.  Returns false, and does nothing, if they are recorded already.
    ///
    /// ```
    /// use arrow_cuda_context::MemoryHistory;
    ///
    /// assert!(MemoryHistory::start(1000, || None)?);
    /// assert!(!MemoryHistory::start(1000, || None)?); // it is on already
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn start(capacity: usize, origin: Origin) -> CudaResult<bool> {
        let mut history = HISTORY.lock()?;
        if history.is_some() {
            return Ok(false);
        }
        let (events, origins, in_use) = Default::default();
        *history = Some(Self { capacity, events, origin, origins, in_use });
        IS_ON.store(true, Ordering::Relaxed);
        Ok(true)
    }

    /// The events so far; empty unless they are recorded.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, MemoryHistory, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// assert!(MemoryHistory::events()?.is_empty());
    /// MemoryHistory::start(1000, || None)?;
    /// let block = Block::allocate(&context, 700, Placement::Packed)?;
    /// assert!(MemoryHistory::events()?.iter().any(|event| event.address == block.private_address()));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn events() -> CudaResult<Vec<MemoryEvent>> {
        let history = HISTORY.lock()?;
        Ok(history.iter().flat_map(|history| &history.events).cloned().collect())
    }

    /// Ends the record.  Returns its events.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, MemoryHistory, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// MemoryHistory::start(1000, || None)?;
    /// drop(Block::allocate(&context, 700, Placement::Packed)?);
    /// assert!(!MemoryHistory::stop()?.is_empty());
    /// assert!(MemoryHistory::stop()?.is_empty());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// In a forked child.
    pub fn stop() -> CudaResult<Vec<MemoryEvent>> {
        IS_ON.store(false, Ordering::Relaxed);
        let history = HISTORY.lock()?.take();
        Ok(history.into_iter().flat_map(|history| history.events).collect())
    }

    fn add(
        &mut self,
        action: MemoryAction,
        device: u32,
        (address, size): (u64, u64),
        origin: Option<Arc<str>>,
    ) {
        if self.events.len() >= self.capacity {
            self.events.pop_front();
        }
        if self.capacity > 0 {
            let time = SystemTime::now();
            self.events.push_back(MemoryEvent { action, device, address, size, time, origin });
        }
    }

    /// One text for all events of an origin.
    fn shared(&mut self, origin: String) -> Arc<str> {
        if let Some(known) = self.origins.get(origin.as_str()) {
            return Arc::clone(known);
        }
        if self.origins.len() > 2 * (self.capacity + self.in_use.len()) {
            self.origins.retain(|origin| Arc::strong_count(origin) > 1);
        }
        let origin = Arc::<str>::from(origin);
        self.origins.insert(Arc::clone(&origin));
        origin
    }
}

fn with_history(work: impl FnOnce(&mut MemoryHistory)) {
    if let Ok(mut history) = HISTORY.lock()
        && let Some(history) = &mut *history
    {
        work(history);
    }
}

/// Records new blocks: their addresses and sizes.  A block must not be released before.
#[inline]
pub(super) fn record_allocations(device: u32, blocks: impl Iterator<Item = (u64, u64)>) {
    if IS_ON.load(Ordering::Relaxed) {
        add_allocations(device, blocks);
    }
}

#[cold]
fn add_allocations(device: u32, blocks: impl Iterator<Item = (u64, u64)>) {
    let mut origin = None;
    if !holds_lock() {
        with_history(|history| origin = Some(history.origin));
    }
    // It may run any code, so under no lock.
    let origin = origin.and_then(|origin| origin());
    with_history(|history| {
        let origin = origin.map(|origin| history.shared(origin));
        for block in blocks {
            history.in_use.insert(block.0, origin.clone());
            history.add(MemoryAction::Allocate, device, block, origin.clone());
        }
    });
}

/// Records a released block.  Nobody may get its memory before.
#[inline]
pub(super) fn record_release(device: u32, block: (u64, u64)) {
    if IS_ON.load(Ordering::Relaxed) {
        with_history(|history| {
            let origin = history.in_use.remove(&block.0).flatten();
            history.add(MemoryAction::Release, device, block, origin);
        });
    }
}

/// Records a segment: its address and size.
pub(super) fn record_segment(action: MemoryAction, device: u32, segment: (u64, u64)) {
    if IS_ON.load(Ordering::Relaxed) {
        with_history(|history| history.add(action, device, segment, None));
    }
}

/// Records that all memory of a ledger is gone.
pub(super) fn record_loss(device: u32, ledger: &Ledger) {
    if !IS_ON.load(Ordering::Relaxed) {
        return;
    }
    for (segment, blocks) in ledger.segments() {
        for (address, size) in blocks.filter_map(|(address, block)| block.in_use(address)) {
            record_release(device, (address, size));
        }
        record_segment(MemoryAction::FreeSegment, device, (segment.address, segment.capacity));
    }
}

/// Where blocks were allocated, by their addresses, as far as the history knows.
pub(super) fn origins() -> HashMap<u64, Option<Arc<str>>> {
    let mut origins = HashMap::new();
    with_history(|history| origins.clone_from(&history.in_use));
    origins
}
