//! Memory that is cleared before anybody gets it, where clearing fails.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Context, Placement, Stream};
use arrow_cuda_driver::is_simulated;
use common::{Gate, alone};
use simulator::fault;

const SIZE: u64 = 64 << 20;

fn driver_allocations(context: &Context) -> u64 {
    context.cache().stats().expect("alive").driver_allocations
}

#[test]
fn a_block_that_may_still_be_cleared_is_not_reused() {
    // SAFETY: no other thread of this process runs yet that reads variables.
    unsafe { std::env::set_var("PYARROW_CUDA_ZERO", "on") };
    if !is_simulated().expect("a driver") {
        return; // whose calls cannot be made to fail
    }
    let (_guard, context) = alone();
    let busy = Stream::non_blocking(&context).expect("room");
    let gate = Gate::on(&busy);
    let before = driver_allocations(&context);
    fault("cuStreamSynchronize:1=999");
    let failed = context.allocate(SIZE, Placement::Packed);
    fault("");
    assert_eq!(failed.expect_err("the wait fails").code(), Some(999));
    let block = context.allocate(SIZE, Placement::Packed).expect("room");
    assert_eq!(driver_allocations(&context) - before, 2, "the first block is still in flight");
    gate.open();
    busy.synchronize().expect("alive");
    drop(block);
}
