//! Contexts.  They are never freed: a stale handle must stay recognisable.

use std::collections::{BTreeSet, HashMap};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use crate::code::{Answer, CONTEXT_IS_DESTROYED, Code, SUCCESS};
use crate::handles::{Handle, lock};
use crate::queue::{Mark, Order, Stream};

pub struct Context {
    pub id: u64,
    pub device: usize,
    pub is_primary: bool,
    /// The handle, where it is not the address of this very object.
    inherited: OnceLock<Handle>,
    destroyed: AtomicBool,
    /// The first error of its work, which every later call answers.
    error: AtomicI32,
    legacy: OnceLock<Arc<Stream>>,
    /// The other streams.  Held while work is queued, so that the order between streams is
    /// that of the calls.
    streams: Mutex<Vec<Arc<Stream>>>,
    /// Default streams of threads that asked for one of their own.
    per_thread: Mutex<HashMap<u64, Arc<Stream>>>,
    /// Contexts of other devices whose memory kernels here may use.
    peers: Mutex<BTreeSet<u64>>,
}

impl Context {
    pub fn create(device: usize, is_primary: bool) -> &'static Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Box::leak(Box::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            device,
            is_primary,
            inherited: OnceLock::new(),
            destroyed: AtomicBool::new(false),
            error: AtomicI32::new(SUCCESS),
            legacy: OnceLock::new(),
            streams: Mutex::default(),
            per_thread: Mutex::default(),
            peers: Mutex::default(),
        }))
    }

    /// The handle: the address of this very object, or of the first one that it took over from.
    pub fn handle(&'static self) -> Handle {
        self.inherited.get().copied().unwrap_or(ptr::from_ref(self).addr())
    }

    /// Takes the handle of an earlier context over, before anybody has seen its own.
    pub fn inherit(&self, handle: Handle) {
        self.inherited.get_or_init(|| handle);
    }

    /// # Errors
    /// `CONTEXT_IS_DESTROYED`, or the error of its work.
    pub fn healthy(&self) -> Answer {
        if self.is_destroyed() {
            return Err(CONTEXT_IS_DESTROYED);
        }
        match self.error.load(Ordering::Acquire) {
            SUCCESS => Ok(()),
            code => Err(code),
        }
    }

    pub fn is_destroyed(&self) -> bool {
        self.destroyed.load(Ordering::Acquire)
    }

    /// From now on every call that uses the context answers `code`; the first error stays.
    pub fn fail(&self, code: Code) {
        let order = Ordering::AcqRel;
        // A context that failed already keeps its error.
        let _ = self.error.compare_exchange(SUCCESS, code, order, Ordering::Acquire);
    }

    /// The error of its work, or success.
    pub fn error(&self) -> Code {
        self.error.load(Ordering::Acquire)
    }

    pub fn legacy_stream(&'static self) -> &'static Arc<Stream> {
        self.legacy.get_or_init(|| Stream::new(self, Order::Legacy, 0))
    }

    pub fn create_stream(&'static self, order: Order, priority: i32) -> Arc<Stream> {
        let stream = Stream::new(self, order, priority);
        let mut streams = lock(&self.streams);
        streams.retain(|stream| !stream.is_over());
        streams.push(Arc::clone(&stream));
        stream
    }

    /// The calling thread's own default stream.
    pub fn thread_stream(&'static self) -> Arc<Stream> {
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::pthread_self() } as u64;
        let mut per_thread = lock(&self.per_thread);
        let stream =
            per_thread.entry(thread).or_insert_with(|| self.create_stream(Order::Blocking, 0));
        Arc::clone(stream)
    }

    /// Queues something in `stream` by `queue`, which is told what of the context's other
    /// streams must be done first.
    pub fn in_order<T>(
        &'static self,
        stream: &Arc<Stream>,
        queue: impl FnOnce(Vec<Mark>) -> Result<T, Code>,
    ) -> Result<T, Code> {
        let streams = lock(&self.streams);
        let after = match stream.order {
            Order::Legacy => blocking_tails(&streams),
            Order::Blocking => self.legacy_stream().tail().into_iter().collect(),
            Order::NonBlocking => Vec::new(),
        };
        queue(after)
    }

    /// Ends of everything that was queued so far and is not done.
    pub fn tails(&'static self) -> Vec<Mark> {
        let streams = lock(&self.streams);
        let all = streams.iter().chain(self.legacy.get());
        all.filter_map(Stream::tail).collect()
    }

    /// Ends of everything that a synchronisation with `stream` waits for.
    pub fn tails_of(&'static self, stream: &Arc<Stream>) -> Vec<Mark> {
        let mut tails: Vec<Mark> = stream.tail().into_iter().collect();
        if stream.order == Order::Legacy {
            tails.extend(blocking_tails(&lock(&self.streams)));
        }
        tails
    }

    pub fn synchronize(&'static self) {
        for mark in self.tails() {
            mark.wait();
        }
    }

    /// Refuses further use and waits for the work that was queued.
    pub fn destroy(&'static self) {
        self.destroyed.store(true, Ordering::Release);
        self.synchronize();
        for stream in lock(&self.streams).drain(..).chain(self.legacy.get().cloned()) {
            stream.close();
        }
        lock(&self.per_thread).clear();
    }

    /// True if the access was new.
    pub fn add_peer(&self, peer: &Self) -> bool {
        lock(&self.peers).insert(peer.id)
    }

    /// True if there was an access.
    pub fn remove_peer(&self, peer: &Self) -> bool {
        lock(&self.peers).remove(&peer.id)
    }

    pub fn has_peer(&self, peer: &Self) -> bool {
        lock(&self.peers).contains(&peer.id)
    }
}

fn blocking_tails(streams: &[Arc<Stream>]) -> Vec<Mark> {
    let blocking = streams.iter().filter(|stream| stream.order == Order::Blocking);
    blocking.filter_map(Stream::tail).collect()
}
