//! Models of how threads hand work and memory to each other, in every order of their steps, and with
//! every value that weakly ordered memory may show them: `ci/check loom`.
//!
//! Memory that is handed over is a cell here, in which loom finds accesses that nothing orders.

use super::admission::Admission;
use super::helpers::Helpers;
use super::host::HostMemory;
use super::job::Job;
use super::mailbox::Mailbox;
use super::plan::Plan;
use super::plan::Task;
use super::sync::{AtomicUsize, Ordering, thread};
use super::turns::{Side, Turns};
use loom::cell::UnsafeCell;
use loom::sync::Arc;

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

#[derive(Default)]
struct Slots([UnsafeCell<usize>; 2]);

// SAFETY: the point of the models: loom reports accesses at the same time.
unsafe impl Sync for Slots {}
// SAFETY: as above.
unsafe impl Send for Slots {}

impl Slots {
    fn put(&self, piece: usize, value: usize) {
        // SAFETY: loom checks the access.
        self.0[piece % 2].with_mut(|slot| unsafe { *slot = value });
    }

    fn get(&self, piece: usize) -> usize {
        // SAFETY: loom checks the access.
        self.0[piece % 2].with(|slot| unsafe { *slot })
    }
}

/// The pieces of an upload pass through slots: no side touches one at the other's turn.
#[test]
fn a_slot_belongs_to_one_side_at_a_time() {
    loom::model(|| {
        let shared = Arc::new((Turns::of(Side::Copier, 2), Slots::default()));
        let theirs = shared.clone();
        let copier = thread::spawn(move || {
            let (turns, slots) = &*theirs;
            for piece in 0..3 {
                until(|| turns.is(Side::Copier, piece));
                slots.put(piece, piece + 1);
                turns.end(Side::Copier, piece);
            }
        });
        let (turns, slots) = &*shared;
        for piece in 0..3 {
            until(|| turns.is(Side::Issuer, piece));
            assert_eq!(slots.get(piece), piece + 1);
            turns.end(Side::Issuer, piece);
        }
        copier.join().expect("no panic");
    });
}

/// Once a job is closed, its memory is its creator's alone, whether helpers have come or not.
#[test]
fn nobody_touches_the_memory_of_a_closed_job() {
    loom::model(|| {
        let shared = Arc::new((Helpers::at_most(2), Slots::default()));
        let helper = |piece| {
            let shared = shared.clone();
            shared.0.expect(1);
            thread::spawn(move || shared.0.help(|| shared.1.put(piece, 1)))
        };
        let helpers = [helper(0), helper(1)];
        shared.0.close();
        for piece in 0..2 {
            shared.1.put(piece, shared.1.get(piece) + 1);
        }
        for helper in helpers {
            helper.join().expect("no panic");
        }
        assert_eq!(shared.0.count(), 0);
    });
}

/// An upload of one byte.
fn job(host: &'static [u8], slots: &mut [u8; 1]) -> std::sync::Arc<Job> {
    let plan = Plan { helpers: 1, piece: 1, slots: 1 };
    let host = HostMemory::source(host);
    std::sync::Arc::new(Job::new(Task::Upload, host, plan, slots.as_mut_ptr()))
}

/// A worker does what it is chosen for, also if it is about to sleep, and ends when it is to end.
#[test]
fn a_chosen_worker_comes_and_ends() {
    loom::model(|| {
        let shared = Arc::new((Mailbox::default(), AtomicUsize::new(0)));
        let theirs = shared.clone();
        let worker = thread::spawn(move || {
            theirs.0.work(|| {
                theirs.1.fetch_add(1, Ordering::Relaxed);
            });
        });
        let (mailbox, done) = &*shared;
        let mut slot = [0];
        let job = job(&[7], &mut slot);
        let is_chosen = mailbox.choose_spinning() || mailbox.choose_asleep();
        if is_chosen {
            job.helpers.expect(1);
            mailbox.put(job.clone());
            until(|| done.load(Ordering::Relaxed) == 1);
        }
        mailbox.end();
        worker.join().expect("no panic");
        job.close();
        assert_eq!(
            (done.load(Ordering::Relaxed), slot),
            if is_chosen { (1, [7]) } else { (0, [0]) }
        );
    });
}

/// A worker that starts or falls asleep while it must end does not sleep for ever.
#[test]
fn a_worker_that_is_to_end_ends() {
    loom::model(|| {
        let mailbox = Arc::new(Mailbox::default());
        let theirs = mailbox.clone();
        let worker = thread::spawn(move || theirs.work(|| {}));
        mailbox.end();
        worker.join().expect("no panic");
    });
}

/// No more copies are made than are admitted, each of which finds what those before it have written, and none
/// waits for ever.
#[test]
fn copies_are_admitted_one_at_a_time() {
    loom::model(|| {
        let shared = Arc::new((Admission::default(), Slots::default()));
        let copy = |shared: &(Admission, Slots)| {
            let _admitted = shared.0.enter().expect("no signal");
            shared.1.put(0, shared.1.get(0) + 1);
        };
        let threads = [(); 2].map(|()| {
            let shared = shared.clone();
            thread::spawn(move || copy(&shared))
        });
        copy(&shared);
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(shared.1.get(0), 3);
    });
}
