//! Worker threads for staged copies.

use super::job::Job;
use super::machine::Home;
use super::mailbox::Mailbox;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The worker threads of one home.  They sleep while there is nothing to do, access host memory only,
/// and end when this is dropped, or with the process.
#[derive(Debug, Default)]
pub(super) struct Workers {
    mailboxes: Vec<Arc<Mailbox>>,
    busy: Arc<AtomicUsize>,
}

pub(super) struct Crew<'workers> {
    workers: &'workers Workers,
    most: usize,
    may_wake: bool,
}

impl Workers {
    /// Starts `wanted` threads, or as many as the system allows.  One for each core stays at home.
    pub(super) fn start(wanted: usize, home: &Arc<Home>) -> Self {
        let (mut mailboxes, busy) = (Vec::new(), Arc::default());
        mailboxes.resize_with(wanted, Arc::<Mailbox>::default);
        let workers = Self { mailboxes, busy };
        start_all(workers.mailboxes.clone(), workers.busy.clone(), home.clone());
        workers
    }

    pub(super) fn wanted(&self) -> usize {
        self.mailboxes.len()
    }

    /// Counts up to `wanted` more threads as busy, as long as `most` are not.
    fn reserve(&self, wanted: usize, most: usize) -> usize {
        let (mut reserved, order) = (0, Ordering::Relaxed);
        let _ = self.busy.fetch_update(order, order, |busy| {
            reserved = wanted.min(most.saturating_sub(busy));
            (reserved > 0).then_some(busy + reserved)
        });
        reserved
    }
}

/// Starts a thread, which starts the next one: the program does not wait for all of them.
fn start_all(mut mailboxes: Vec<Arc<Mailbox>>, busy: Arc<AtomicUsize>, home: Arc<Home>) {
    let Some(mailbox) = mailboxes.pop() else { return };
    let number = mailboxes.len();
    let name = format!("cuda-copy-{number}");
    // Fewer threads are enough if the system refuses more.
    let _ = thread::Builder::new().name(name).spawn(move || {
        start_all(mailboxes, busy.clone(), home.clone());
        if number < home.cores {
            home.stay();
        }
        mailbox.work(|| {
            busy.fetch_sub(1, Ordering::Relaxed);
        });
    });
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.mailboxes.iter().for_each(|mailbox| mailbox.end());
    }
}

impl<'workers> Crew<'workers> {
    /// Threads for one copy while `others` are made, each of which has a thread of its own.
    pub(super) fn beside(others: usize, workers: &'workers Workers, may_wake: bool) -> Self {
        Self { workers, most: workers.wanted().saturating_sub(others), may_wake }
    }

    /// Offers a new job to as many threads as it is worth.
    pub(super) fn begin(&self, job: &Arc<Job>) {
        self.recruit(job, job.helpers.most);
    }

    /// Offers a job to more threads if it has work for them.
    pub(super) fn grow(&self, job: &Arc<Job>) {
        self.recruit(job, job.lacking_helpers());
    }

    fn recruit(&self, job: &Arc<Job>, wanted: usize) {
        let mut lacking = self.workers.reserve(wanted, self.most);
        if lacking == 0 {
            return;
        }
        job.helpers.expect(lacking);
        let mut recruit_each = |choose: fn(&Mailbox) -> bool| {
            let chosen = self.workers.mailboxes.iter().filter(|mailbox| choose(mailbox));
            for mailbox in chosen.take(lacking) {
                mailbox.put(job.clone());
                lacking -= 1;
            }
        };
        // Those that are asleep take longer to come.
        recruit_each(Mailbox::choose_spinning);
        if self.may_wake {
            recruit_each(Mailbox::choose_asleep);
        }
        job.helpers.forget(lacking);
        self.workers.busy.fetch_sub(lacking, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::staging::affinity::allowed;
    use crate::staging::host::HostMemory;
    use crate::staging::plan::{Plan, Task};
    use std::fs;
    use std::time::{Duration, Instant};

    #[test]
    fn as_many_workers_stay_at_home_as_it_has_cores() {
        let home = Home { cpus: allowed().into_iter().take(1).collect(), cores: 2 };
        let list = format!("Cpus_allowed_list:\t{}\n", home.cpus.first().expect("one of them"));
        let confined = || {
            let tasks = fs::read_dir("/proc/self/task").expect("of every process").flatten();
            let states = tasks.flat_map(|task| fs::read_to_string(task.path().join("status")));
            let workers = states.filter(|state| state.starts_with("Name:\tcuda-copy-"));
            workers.filter(|state| state.contains(&list)).count()
        };
        if allowed().len() > 1 {
            let (_workers, start) = (Workers::start(4, &home.into()), Instant::now());
            while confined() < 2 && start.elapsed() < Duration::from_secs(60) {
                thread::yield_now();
            }
            assert_eq!(confined(), 2); // those that run anywhere have started before
        }
    }

    /// Several copies at the same time never get more threads than there are.
    #[test]
    fn a_crew_is_smaller_beside_others() {
        let workers = Workers::start(3, &Arc::default());
        let mut memory = [0u8; 640];
        let mut job = || {
            let plan = Plan { helpers: 3, piece: 64, slots: 10 };
            let source = HostMemory::source(&[0; 640]);
            Arc::new(Job::new(Task::Download, source, plan, memory.as_mut_ptr()))
        };
        let mut busy = |others| {
            let job = job();
            Crew::beside(others, &workers, true).begin(&job);
            let busy = workers.busy.load(Ordering::Relaxed);
            job.close();
            while workers.busy.load(Ordering::Relaxed) > 0 {
                thread::yield_now();
            }
            busy
        };
        assert!(busy(0) <= 3 && busy(2) <= 1);
        assert_eq!(busy(3), 0);
    }
}
