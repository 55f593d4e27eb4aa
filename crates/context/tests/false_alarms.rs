//! Releases in a context of which a single call says that it is gone.  Nothing may be forgotten then.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Block, Cache, Context, Event, Placement, Stream};
use arrow_cuda_driver::{CudaError, set_reporter};
use common::alone_with_simulator;
use rstest::rstest;
use simulator::{count_of, fault, live};
use std::sync::atomic::{AtomicUsize, Ordering};

static REPORTS: AtomicUsize = AtomicUsize::new(0);

fn count_report(_what: &str, error: &CudaError) {
    assert_eq!(error.code(), Some(201), "{error}");
    REPORTS.fetch_add(1, Ordering::Relaxed);
}

/// The kind of memory to release, and how much of it the driver has.
type Kind = (fn(&Context) -> Box<dyn Send>, fn() -> u64);

const DEVICE: Kind = (
    |context| Box::new(Block::allocate(context, 32 << 20, Placement::Alone).expect("room")),
    || live(c"cuda_sim_live_allocations").unwrap_or(0),
);
const PINNED: Kind = (
    |context| Box::new(Block::allocate_pinned(context, 4096).expect("room")),
    || live(c"cuda_sim_live_host_allocations").unwrap_or(0),
);
const STREAM: Kind = (
    |context| Box::new(Stream::new(context).expect("room")),
    || count_of(c"cuStreamCreate").unwrap_or(0) - count_of(c"cuStreamDestroy").unwrap_or(0),
);
const EVENT: Kind = (
    |context| Box::new(Event::new(context).expect("room")),
    || count_of(c"cuEventCreate").unwrap_or(0) - count_of(c"cuEventDestroy").unwrap_or(0),
);

#[rstest]
#[case::device_memory(DEVICE)]
#[case::pinned_memory(PINNED)]
#[case::stream(STREAM)]
#[case::event(EVENT)]
fn a_release_is_made_or_reported(#[case] (make, count): Kind) {
    let Some((_guard, context)) = alone_with_simulator() else { return };
    set_reporter(count_report);
    context.cache().set_limit(0).expect("alive");
    Cache::Pinned.set_limit(0).expect("alive");
    drop(make(&context)); // what the first one needs stays
    for call in 1..20 {
        let (before, reported) = (count(), REPORTS.load(Ordering::Relaxed));
        let made = make(&context);
        fault(&format!("*:{call}=201"));
        drop(made);
        fault("");
        let is_reported = REPORTS.load(Ordering::Relaxed) > reported;
        // Fewer are left where this release made earlier ones, too, which were reported.
        assert!(count() <= before || is_reported, "lost by call {call}");
    }
}
