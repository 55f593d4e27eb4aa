//! Buffers that are allocated together and copied together, on a stream.

#[path = "../../context/tests/common/mod.rs"]
mod common;
#[path = "common/padding.rs"]
mod padding;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer};
use arrow_cuda_context::{Context, Retained, Stream};
use arrow_cuda_driver::CudaError;
use arrow_cuda_transfer::HostBuffer;
use common::{Gate, alone, second_device};
use padding::with_padding;
use simulator::calls_of;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

/// An owner, and a way to tell whether it is retained.
fn owner() -> (Retained, Arc<()>) {
    let owner = Arc::new(());
    (Box::new(owner.clone()), owner)
}

fn bytes_of(buffers: &[DeviceBuffer]) -> Vec<Vec<u8>> {
    buffers.iter().map(|buffer| buffer.to_vec().expect("alive")).collect()
}

/// The parts on the device, as the default stream copies them.
fn uploaded(context: &Context, parts: &[&[u8]]) -> Vec<DeviceBuffer> {
    DeviceBuffer::suballocated_from_host(context, parts).expect("a copy")
}

fn queued_copies(
    stream: &Stream,
    context: &Context,
    sources: &[&DeviceBuffer],
    retained: Retained,
) -> Vec<DeviceBuffer> {
    let order = CopyOrder::On(stream);
    DeviceBuffer::suballocated_copies_in(order, context, sources, retained).expect("a copy").0
}

#[test]
fn pinned_parts_are_queued_and_retain_their_owner() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let mut pinned = HostBuffer::allocate(&context, 1000).expect("room");
    pinned.as_mut_slice().fill(7);
    let bytes = pinned.as_slice();
    let (retained, owner) = owner();
    // SAFETY: the memory lives until the stream is done.
    let (buffers, _) = unsafe {
        let parts = [&bytes[..10], &bytes[100..], &bytes[50..50]];
        DeviceBuffer::suballocated_from_host_in(CopyOrder::On(&stream), &context, &parts, retained)
    }
    .expect("a copy");
    assert_eq!(Arc::strong_count(&owner), 2);
    drop(stream.synchronize().expect("alive"));
    assert_eq!(Arc::strong_count(&owner), 1);
    assert_eq!(bytes_of(&buffers), [vec![7; 10], vec![7; 900], vec![]]);
}

#[test]
fn copies_on_the_device_go_by_one_call_and_clear_the_gaps() {
    let (_alone, context) = alone();
    let stream = Stream::new(&context).expect("room");
    let parts: Vec<Vec<u8>> = (0..200_u8).map(|number| vec![number; 10]).collect();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let sources = uploaded(&context, &parts);
    let sources: Vec<_> = sources.iter().collect();
    let (retained, owner) = owner();
    let mut copies = Vec::new();
    let calls = calls_of(c"cuMemcpyDtoDAsync", || {
        copies = queued_copies(&stream, &context, &sources, retained);
    });
    assert!(calls.is_none_or(|calls| calls == 1), "{calls:?}");
    drop(stream.synchronize().expect("alive"));
    assert_eq!(Arc::strong_count(&owner), 1);
    assert_eq!(bytes_of(&copies), parts);
    // Of every other source only, so that the copies are one by one.
    drop(copies);
    for residue in DeviceBuffer::suballocate(&context, &[200 * 256]).expect("room") {
        residue.fill(0xEE).expect("alive");
    }
    let some: Vec<_> = sources.iter().copied().step_by(2).collect();
    let copies = queued_copies(&stream, &context, &some, Box::new(()));
    drop(stream.synchronize().expect("alive"));
    let all = with_padding(&copies[..2]); // of zeros, and of twos
    assert!(all[..all.len() - 10].iter().all(|byte| *byte == 0), "padding is cleared");
}

#[test]
fn copies_to_another_device_on_a_stream_of_either() {
    let (_alone, context) = alone();
    let Some(other) = second_device() else { return };
    let sources = uploaded(&context, &[b"one", b"two"]);
    let sources: Vec<_> = sources.iter().collect();
    for of in [&context, &other] {
        let stream = Stream::new(of).expect("room");
        let copies = queued_copies(&stream, &other, &sources, Box::new(()));
        drop(stream.synchronize().expect("alive"));
        assert_eq!(bytes_of(&copies), [b"one", b"two"]);
    }
}

/// The memory of what is produced, and of its copies, serves others once the panic goes on.
#[test]
fn a_panic_of_a_watcher_waits_for_the_copies_on_their_way() {
    let (_alone, context) = alone();
    let opener = Mutex::new(None);
    let produce = |_: &mut (), _, at, out: &mut [u8]| {
        out.fill(1);
        if at == 0 {
            // The copy of these bytes has to wait for this.
            let gate = Gate::on_default_stream(&context);
            opener.lock().expect("no panic").replace(gate.open_soon());
        }
        Ok::<_, CudaError>(())
    };
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let sizes = [(3 << 20, false)];
        DeviceBuffer::suballocated_from_producer(&context, &sizes, produce, |_, made| {
            match made {
                0 => Ok(()),
                _ => resume_unwind(Box::new("a bug in the caller")), // prints nothing
            }
        })
    }));
    let is_complete = Stream::default_of(&context).is_complete().expect("alive");
    assert!(panicked.is_err() && is_complete);
    let opener = opener.into_inner().expect("no panic").expect("the first bytes were made");
    opener.join().expect("no panic");
}
