//! Device memory that this crate and `cudarc` share, and the order of work on it.

#![cfg(feature = "cudarc")]

#[path = "../../driver/tests/common/cudarc.rs"]
mod common;

use arrow_cuda_buffer::{CopyOrder, DeviceBuffer, Error};
use arrow_cuda_context::{Context, Device, Ready, Stream};
use arrow_cuda_driver::sys::cuMemsetD8Async;
use common::simulator::live;
use common::with_cudarc;
use cudarc::driver::{CudaContext, CudaStream, DevicePtr, result};
use std::sync::Arc;
use std::thread;

/// Work on each stream begins late, so what should wait for it and does not shows.
const SLOW: &[(&str, &str)] = &[("CUDA_SIM_LATENCY", "20000")];

fn ours() -> Context {
    Context::primary(0).expect("a device")
}

fn stream(context: &Arc<CudaContext>) -> Arc<CudaStream> {
    context.new_stream().expect("a stream")
}

/// Two streams of one object of `cudarc`, which then orders work between them.
fn two_streams() -> [Arc<CudaStream>; 2] {
    let context = ours().to_cudarc().expect("a primary context");
    [stream(&context), stream(&context)]
}

fn live_allocations() -> Option<u64> {
    live(c"cuda_sim_live_allocations")
}

#[test]
fn memory_of_cudarc_is_a_buffer_like_any_other() {
    with_cudarc(SLOW, || {
        let [stream, _] = two_streams();
        let theirs = stream.clone_htod(&[1u32, 2]).expect("room");
        let ours = DeviceBuffer::from_cudarc(theirs).expect("a buffer");
        assert_eq!(ours.to_vec().expect("a device"), [1, 0, 0, 0, 2, 0, 0, 0]);
        let second = ours.slice_with_length(4, 4).expect("within");
        drop(ours);
        second.fill(3).expect("a device");
        assert_eq!(second.to_vec().expect("a device"), [3; 4]);
        assert!(second.block().is_none(), "the memory is not ours");
    });
}

#[test]
fn memory_of_cudarc_comes_after_its_work_on_every_stream() {
    with_cudarc(SLOW, || {
        let [first, second] = two_streams();
        let mut theirs = first.clone_htod(&vec![1u8; 1 << 20]).expect("room");
        // Queued on another stream than the slice's.
        second.memset_zeros(&mut theirs).expect("a device");
        let ours = DeviceBuffer::from_cudarc(theirs).expect("a buffer");
        // A stream that is ordered with no other sees it, too.
        assert!(second.is_idle() && first.is_idle());
        assert_eq!(ours.to_vec().expect("a device"), vec![0; 1 << 20]);
    });
}

#[test]
fn memory_of_cudarc_is_released_on_any_thread_behind_our_work() {
    with_cudarc(SLOW, || {
        let [stream, _] = two_streams();
        let before = live_allocations();
        let ours = DeviceBuffer::from_cudarc(stream.clone_htod(&[1u8; 4096]).expect("room"));
        let ours = ours.expect("a buffer");
        // As a kernel of a program that does not retain the buffer.  The simulator ends the context if the work
        // finds the memory freed.
        for _ in 0..3 {
            let address = ours.address(&Ready::by_caller());
            // SAFETY: the memory of the buffer, which waits for the default stream when it is dropped.
            let code = unsafe { cuMemsetD8Async(address, 7, 4096, std::ptr::null_mut()) };
            assert_eq!(code, 0);
        }
        // That thread has no current context, so cudarc alone would leak the memory.
        thread::spawn(move || drop(ours)).join().expect("no panic");
        stream.synchronize().expect("nothing fails");
        self::ours().synchronize().expect("nothing fails");
        assert_eq!(live_allocations(), before);
    });
}

#[test]
fn a_slice_that_others_own_is_read_only() {
    with_cudarc(SLOW, || {
        let [first, second] = two_streams();
        let mut theirs = first.clone_htod(&[1u16, 2]).expect("room");
        second.memcpy_htod(&[3u16, 4], &mut theirs).expect("a device");
        let theirs = Arc::new(theirs);
        let ours = DeviceBuffer::from_shared_cudarc(Arc::clone(&theirs)).expect("a buffer");
        assert_eq!(ours.to_vec().expect("a device"), [3, 0, 4, 0]);
        assert_eq!(ours.fill(0), Err(Error::ReadOnly));
        drop(ours);
        assert_eq!(first.clone_dtoh(&*theirs).expect("alive"), [3, 4]);
    });
}

#[test]
fn our_memory_is_a_slice_behind_our_work_and_before_it() {
    with_cudarc(SLOW, || {
        let context = ours();
        let cudarc = context.to_cudarc().expect("a primary context");
        let (first, second) = (stream(&cudarc), stream(&cudarc));
        let buffer = DeviceBuffer::allocate(&context, 8).expect("room");
        // Begun one after the other, so that what does not wait for the last one comes earlier.
        for byte in 3..=5 {
            let order = CopyOrder::On(&Stream::default_of(&context));
            drop(buffer.fill_in(order, byte).expect("a device"));
        }
        let mut theirs = buffer.as_cudarc_mut::<u32>(&first).expect("a slice");
        assert_eq!(theirs.len(), 2);
        assert_eq!(first.clone_dtoh(&*theirs).expect("a device"), [0x0505_0505; 2]);
        // On another stream of cudarc's, for which the slice's waits.
        second.memset_zeros(&mut theirs.as_view_mut()).expect("a device");
        drop(theirs);
        assert_eq!(buffer.to_vec().expect("a device"), [0; 8]);
        assert!(first.is_idle() && second.is_idle());
        let part = buffer.slice_with_length(4, 4).expect("within");
        let theirs = part.as_cudarc::<u32>(&first).expect("a slice");
        assert_eq!(theirs.device_ptr(&first).0, buffer.address(&Ready::by_caller()) + 4);
    });
}

#[test]
fn a_slice_does_not_free_our_memory_nor_leave_anything_behind() {
    with_cudarc(&[], || {
        let context = ours();
        let cudarc = context.to_cudarc().expect("a primary context");
        let stream = stream(&cudarc);
        let buffer = DeviceBuffer::allocate(&context, 8).expect("room");
        // The first one makes what is kept, such as events for later use.
        drop(buffer.as_cudarc::<u8>(&stream).expect("a slice"));
        let left =
            || (live_allocations(), Arc::strong_count(&stream), live(c"cuda_sim_live_events"));
        let before = left();
        drop(buffer.as_cudarc::<u64>(&stream).expect("a slice"));
        assert_eq!(left(), before);
        cudarc.check_err().expect("nothing has failed");
        buffer.fill(1).expect("it is alive");
        assert_eq!(buffer.to_vec().expect("it is alive"), [1; 8]);
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    with_cudarc(&[("CUDA_SIM_DEVICES", "2")], || {
        let context = ours();
        let cudarc = context.to_cudarc().expect("a primary context");
        let stream = stream(&cudarc);
        let buffer = DeviceBuffer::allocate(&context, 10).expect("room");
        let words = |at, size| {
            let part = buffer.slice_with_length(at, size).expect("within");
            part.as_cudarc::<u32>(&stream).map(|slice| slice.len())
        };
        let refused = |at, size| words(at, size).expect_err("it does not fit").to_string();
        assert!(refused(0, 10).contains("not a multiple"));
        assert!(refused(1, 8).contains("not aligned"));
        assert_eq!(words(8, 0), Ok(0));
        let read_only = buffer.read_only();
        let refused = read_only.as_cudarc_mut::<u8>(&stream).map(drop);
        assert_eq!(refused.expect_err("read-only"), Error::ReadOnly);
        if Device::count().expect("a driver") < 2 {
            return;
        }
        let other = Context::primary(1).and_then(|other| other.to_cudarc()).expect("a device");
        let refused = buffer.as_cudarc::<u8>(&other.default_stream()).map(drop);
        assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    });
}

#[test]
fn conversions_leave_the_current_context_as_it_is() {
    with_cudarc(&[("CUDA_SIM_DEVICES", "2")], || {
        let Some(last) = Device::count().expect("a driver").checked_sub(1) else { return };
        let context = Context::primary(last).expect("a device");
        let stream = stream(&context.to_cudarc().expect("a primary context"));
        let slice = stream.clone_htod(&[1u8]).expect("room");
        let first = ours();
        let _other = first.enter().expect("alive");
        let current = result::ctx::get_current().expect("a driver");
        let buffer = DeviceBuffer::from_cudarc(slice).expect("a buffer");
        drop(buffer.as_cudarc::<u8>(&stream).expect("a slice"));
        drop(buffer);
        assert_eq!(result::ctx::get_current().expect("a driver"), current);
    });
}

/// Whether a stream has nothing to do.
trait IsIdle {
    fn is_idle(&self) -> bool;
}

impl IsIdle for Arc<CudaStream> {
    fn is_idle(&self) -> bool {
        Stream::from_cudarc(Arc::clone(self)).and_then(|s| s.is_complete()).expect("nothing fails")
    }
}
