//! Contexts.  They are never freed, so that a stale handle stays recognisable until another context has it.

use std::collections::BTreeSet;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use super::line::Line;
use crate::base::code::{Code, Result};
use crate::base::{Handle, lock};
use crate::work::{Health, Mark, Queues};

pub struct Context {
    /// Unique in the process.
    pub id: u64,
    pub device: usize,
    pub is_primary: bool,
    pub queues: Queues,
    health: Arc<Health>,
    /// The handle, where it is not the address of this object.
    pub inherited: OnceLock<Handle>,
    /// The next primary context of the device, which has the same handle.
    pub successor: OnceLock<&'static Context>,
    /// Contexts of other devices, by their numbers, whose memory kernels of this one may use.
    pub peers: Mutex<BTreeSet<u64>>,
    /// Held by a synchronous copy, also while it waits for its turn.
    pub copying: Mutex<()>,
    /// Here, host functions wait for each other.
    pub line: Line,
}

impl Context {
    /// Makes a context whose queued work waits for `latency` before it starts.
    pub fn create(device: usize, is_primary: bool, latency: Duration) -> &'static Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let health = Arc::<Health>::default();
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Box::leak(Box::new(Self {
            id,
            device,
            is_primary,
            queues: Queues::new(id, Arc::clone(&health), latency),
            health,
            inherited: OnceLock::new(),
            successor: OnceLock::new(),
            peers: Mutex::default(),
            copying: Mutex::default(),
            line: Line::default(),
        }))
    }

    /// The handle: the address of this object, or the handle that it inherited.
    pub fn handle(&'static self) -> Handle {
        self.inherited.get().copied().unwrap_or(ptr::from_ref(self).addr())
    }

    /// Fails once the context is destroyed, or once its work has failed, with that error.
    pub fn check(&self) -> Result {
        self.health.check()
    }

    pub fn is_destroyed(&self) -> bool {
        self.health.is_destroyed()
    }

    pub fn error(&self) -> Code {
        self.health.error()
    }

    /// Whether all queued work is complete.
    pub fn is_idle(&self) -> bool {
        self.queues.tails().is_empty()
    }

    /// Waits for all queued work.
    pub fn synchronize(&self) {
        self.queues.tails().iter().for_each(Mark::wait);
    }

    /// Waits for the synchronous copy that another thread makes.  As on an H200, it stalls calls that allocate
    /// or pin memory, make streams, make or record events, or queue copies.  Calls that wait for streams and
    /// events go on.
    pub fn await_copy(&self) {
        drop(lock(&self.copying));
    }

    /// Refuses further use and waits for the work that was queued.
    pub fn destroy(&self) {
        self.health.destroy();
        self.synchronize();
        self.queues.close();
    }
}
