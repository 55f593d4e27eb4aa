//! Worker threads for staged copies.

use super::job::Job;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// How long a thread spins for the next job before it sleeps: waking it takes about as long.
const SPIN_TIME: Duration = Duration::from_micros(100);

/// The worker threads of one device.  They sleep between copies, access host memory only, and end
/// when this is dropped, or with the process.
#[derive(Debug, Default)]
pub(super) struct Workers(Vec<(Arc<Mailbox>, Thread)>);

/// Holds the next job of one thread.
#[derive(Debug, Default)]
struct Mailbox {
    state: AtomicU8,
    job: Mutex<Option<Arc<Job>>>,
}

const EMPTY: u8 = 0;
const FULL: u8 = 1;
const ASLEEP: u8 = 2;
const ENDED: u8 = 3;

impl Workers {
    /// Starts `size` threads, or as many as the system allows.
    pub(super) fn start(size: usize) -> Self {
        let mut workers = Self::default();
        for number in 0..size {
            let mailbox = Arc::new(Mailbox::default());
            let theirs = mailbox.clone();
            let builder = thread::Builder::new().name(format!("cuda-copy-{number}"));
            let Ok(started) = builder.spawn(move || theirs.work()) else { break };
            workers.0.push((mailbox, started.thread().clone()));
        }
        workers
    }

    /// How many threads there are.
    pub(super) fn size(&self) -> usize {
        self.0.len()
    }

    /// Whether the threads are still spinning after their last job.
    pub(super) fn is_spinning(&self) -> bool {
        let asleep = |mailbox: &Mailbox| mailbox.state.load(Ordering::Relaxed) == ASLEEP;
        self.0.first().is_some_and(|(mailbox, _)| !asleep(mailbox))
    }

    /// Offers a job to `wanted` of the threads.  Threads that come late find it closed.
    pub(super) fn post(&self, job: &Arc<Job>, wanted: usize) {
        for (mailbox, thread) in self.0.iter().take(wanted) {
            *mailbox.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job.clone());
            if mailbox.state.swap(FULL, Ordering::AcqRel) == ASLEEP {
                thread.unpark();
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (mailbox, thread) in &self.0 {
            mailbox.state.store(ENDED, Ordering::Release);
            thread.unpark();
        }
    }
}

impl Mailbox {
    fn work(&self) {
        while self.wait() {
            let job = self.job.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(job) = job {
                job.help();
            }
        }
    }

    /// Waits for a job; false once the thread is to end.
    fn wait(&self) -> bool {
        let since = Instant::now();
        while self.state.load(Ordering::Acquire) == EMPTY && since.elapsed() < SPIN_TIME {
            spin_loop();
        }
        let order = Ordering::AcqRel;
        if self.state.compare_exchange(EMPTY, ASLEEP, order, Ordering::Acquire).is_ok() {
            while self.state.load(Ordering::Acquire) == ASLEEP {
                thread::park();
            }
        }
        let full = self.state.compare_exchange(FULL, EMPTY, order, Ordering::Acquire);
        full.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::host::{Host, HostMemory};
    use crate::engine::job::Task;

    #[test]
    fn workers_help_with_one_job_after_the_other() {
        let workers = Workers::start(3);
        for round in 0..200 {
            let mut memory = [0u8; 640];
            let host = Host::Memory(HostMemory::source([&[0; 640][..], &[1; 640]][round % 2]));
            let job = Arc::new(Job::new(Task::Upload, host, 64, memory.as_mut_ptr(), 10));
            workers.post(&job, 1 + round % 3);
            if round % 20 == 0 {
                thread::sleep(2 * SPIN_TIME); // let them fall asleep
            }
            for piece in 0..job.pieces() {
                while job.ready_pieces(piece, 1) == 0 {
                    job.help_once();
                }
                job.finish_move(piece);
            }
            job.close();
            assert_eq!(memory, [(round % 2) as u8; 640]);
        }
    }
}
