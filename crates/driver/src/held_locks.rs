//! How many locks each thread holds, and the tasks that wait until the thread has released them.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;

type Task = Box<dyn FnOnce()>;

/// A thread's locks and deferred tasks.
struct Ours {
    /// How many of each kind it holds.
    short: Cell<u32>,
    long: Cell<u32>,
    /// Whether tasks wait until it has released all of them.
    has_later: Cell<bool>,
}

thread_local! {
    static OURS: Ours =
        const { Ours { short: Cell::new(0), long: Cell::new(0), has_later: Cell::new(false) } };
    static LATER: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
}

impl Ours {
    fn of(&self, kind: Kind) -> &Cell<u32> {
        match kind {
            Kind::Short => &self.short,
            Kind::Long => &self.long,
        }
    }

    fn holds_any(&self) -> bool {
        self.short.get() + self.long.get() > 0
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Short,
    Long,
}

#[derive(Debug)]
pub(crate) struct Held {
    kind: Kind,
    /// It is counted for this thread.
    not_send: PhantomData<*const ()>,
}

impl Held {
    pub(crate) fn count(kind: Kind) -> Self {
        OURS.with(|ours| ours.of(kind).update(|count| count + 1));
        Self { kind, not_send: PhantomData }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let has_tasks = OURS.with(|ours| {
            ours.of(self.kind).update(|count| count - 1);
            ours.has_later.get() && !ours.holds_any()
        });
        if has_tasks {
            run_tasks();
        }
    }
}

#[cold]
fn run_tasks() {
    OURS.with(|ours| ours.has_later.set(false));
    // A thread that ends has nothing left to do.
    let later = LATER.try_with(RefCell::take).unwrap_or_default();
    later.into_iter().for_each(|task| task());
}

/// Whether this thread holds a [`Lock`](crate::Lock) or a [`LongLock`](crate::LongLock), and so must not run Python
/// code.
pub fn holds_lock() -> bool {
    OURS.with(Ours::holds_any)
}

/// Whether this thread holds a [`Lock`](crate::Lock), and so must not wait for the interpreter either.
pub fn holds_short_lock() -> bool {
    OURS.with(|ours| ours.short.get() > 0)
}

/// Runs a task now, or as soon as this thread holds no lock: one that may block, or run Python code.
pub fn without_locks(task: impl FnOnce() + 'static) {
    if !holds_lock() {
        return task();
    }
    let mut task: Option<Task> = Some(Box::new(task));
    if LATER.try_with(|later| later.borrow_mut().extend(task.take())).is_ok() {
        OURS.with(|ours| ours.has_later.set(true));
    }
    // A thread that is about to end, under a lock: there is no later.
    if let Some(task) = task {
        task();
    }
}
