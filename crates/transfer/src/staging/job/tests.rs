use super::*;
use proptest::prelude::*;
use std::mem::MaybeUninit;
use std::thread;

fn of(host: &mut [u8]) -> HostMemory<'static> {
    let host = std::ptr::from_mut(host) as *mut [MaybeUninit<u8>];
    // SAFETY: the tests outlive their jobs, which only store initialised bytes.
    unsafe { HostMemory::target(&mut *host).without_lifetime() }
}

fn plan(piece: usize, slots: usize) -> Plan {
    Plan { helpers: 4, piece, slots }
}

/// Plays the device: moves pieces between slots and "device memory".
fn issue(job: &Job, device: &mut [u8], most: usize) {
    let mut piece = 0;
    while piece < job.pieces() && !job.is_stopped() {
        let count = job.ready_pieces(piece, most);
        if count == 0 {
            if !job.help_once() {
                thread::yield_now();
            }
            continue;
        }
        let (at, length) = job.span(piece, count);
        // SAFETY: it is the issuer's turn for these slots, which lie side by side.
        let slots = unsafe { std::slice::from_raw_parts_mut(job.slot(piece), length) };
        match job.task {
            Task::Upload => device[at..at + length].copy_from_slice(slots),
            Task::Download | Task::Compare => slots.copy_from_slice(&device[at..at + length]),
        }
        for _ in 0..count {
            job.finish_move(piece);
            piece += 1;
        }
    }
    while job.help_once() {}
}

fn finish(job: &Job, device: &mut [u8], helpers: usize, most: usize) {
    thread::scope(|scope| {
        for _ in 0..helpers {
            job.helpers.expect(1);
            scope.spawn(|| job.help());
        }
        issue(job, device, most);
        job.close();
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_byte_arrives_once(
        size in 1..2000usize, piece in 1..100usize, slots in 1..5usize, helpers in 0..4usize,
        down in any::<bool>(), most in 1..4usize,
    ) {
        let from: Vec<u8> = (0..size).map(|at| (at * 7 + 1) as u8).collect();
        let (mut host, mut device, mut task) = (from.clone(), vec![0; size], Task::Upload);
        if down {
            (host, device, task) = (vec![0; size], from.clone(), Task::Download);
        }
        let mut memory = vec![0; slots * piece];
        let host_memory = of(&mut host);
        let job = Job::new(task, host_memory, plan(piece, slots), memory.as_mut_ptr());
        finish(&job, &mut device, helpers, most);
        prop_assert_eq!(&host, &from);
        prop_assert_eq!(&device, &from);
    }

    #[test]
    fn a_job_that_is_stopped_ends(helpers in 1..4usize, issued in 0..3usize) {
        let mut host = vec![0u8; 1000];
        let mut memory = [0u8; 20];
        let host_memory = of(&mut host);
        let job = Job::new(Task::Upload, host_memory, plan(10, 2), memory.as_mut_ptr());
        thread::scope(|scope| {
            for _ in 0..helpers {
                job.helpers.expect(1);
                scope.spawn(|| job.help());
            }
            for piece in 0..issued {
                while job.ready_pieces(piece, 1) == 0 {
                    job.help_once();
                }
                job.finish_move(piece);
            }
            job.stop();
            job.close();
        });
    }
}

#[test]
fn a_panic_of_the_issuer_lets_helpers_go_first() {
    let mut memory = [0; 10];
    let job = Job::new(Task::Download, of(&mut [1; 100]), plan(10, 1), memory.as_mut_ptr());
    thread::scope(|scope| {
        job.helpers.expect(1);
        let helper = scope.spawn(|| job.help());
        let panicked = scope.spawn(|| {
            let _closed = ClosedOnDrop(&job);
            std::panic::resume_unwind(Box::new("without a message"));
        });
        assert!(panicked.join().is_err());
        helper.join().expect("no panic");
    });
    assert!(job.is_stopped() && job.helpers.count() == 0);
}
