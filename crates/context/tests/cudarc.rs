//! Contexts, streams, events and kernels that this crate and `cudarc` share.

#![cfg(feature = "cudarc")]

#[path = "../../driver/tests/common/another_driver.rs"]
mod another_driver;
#[path = "../../driver/tests/common/cudarc.rs"]
mod common;

use another_driver::another_driver;
use arrow_cuda_context::{Context, Device, Event, Function, Stream, StreamHandle};
use arrow_cuda_driver::{CudaError, codes};
use common::simulator::{self, live};
use common::with_cudarc;
use cudarc::driver::{CudaContext, CudaStream, result};
use cudarc::nvrtc::Ptx;
use std::sync::Arc;
use std::thread;

const PTX: &str =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";

/// The driver's current context of this thread.
fn current() -> Option<usize> {
    result::ctx::get_current().expect("a driver").map(|handle| handle as usize)
}

fn their_stream() -> Arc<CudaStream> {
    CudaContext::new(0).and_then(|context| context.new_stream()).expect("a stream")
}

#[test]
fn both_agree_on_the_context_that_is_current() {
    with_cudarc(&[("CUDA_SIM_DEVICES", "2")], || {
        if Device::count().expect("a driver") < 2 {
            return;
        }
        let [first, second] = [0, 1].map(|device| Context::primary(device).expect("a device"));
        let guard = first.enter().expect("alive");
        let theirs = second.to_cudarc().expect("a primary context");
        assert_eq!(current(), Some(first.handle()));
        // cudarc's functions leave their context current, which ends with the guard.
        theirs.synchronize().expect("alive");
        assert_eq!(current(), Some(second.handle()));
        drop(guard);
        assert_eq!(current(), None);
        assert!(Context::from_cudarc(&theirs).expect("alive").is_same(&second));
        // Each has retained it.
        drop(theirs);
        second.synchronize().expect("alive");
    });
}

#[test]
fn a_context_that_is_not_primary_is_refused() {
    with_cudarc(&[], || {
        Device::count().expect("a device");
        let device = result::device::get(0).expect("a device");
        let mut made: cudarc::driver::sys::CUcontext = std::ptr::null_mut();
        // SAFETY: stores a handle.
        let code =
            unsafe { arrow_cuda_driver::sys::cuCtxCreate_v2((&raw mut made).cast(), 0, device) };
        assert_eq!(code, 0);
        // SAFETY: a new context of the device, which the result owns.
        let theirs = unsafe { CudaContext::from_raw_context(0, device, made) }.expect("alive");
        let refused = Context::from_cudarc(&theirs).expect_err("not a primary context");
        assert_eq!(refused.code(), Some(codes::INVALID_CONTEXT));
        // SAFETY: a live context, which `theirs` keeps.
        let ours = unsafe { Context::borrowed(0, made as usize) }.expect("alive");
        let refused = ours.to_cudarc().expect_err("not a primary context");
        assert_eq!(refused.code(), Some(codes::INVALID_CONTEXT));
        let stream = Stream::new(&ours).expect("a stream");
        let other = CudaContext::new(0).expect("a device");
        let refused = stream.to_cudarc(&other).expect_err("another context");
        assert_eq!(refused.code(), Some(codes::INVALID_CONTEXT));
    });
}

#[test]
fn another_driver_is_refused_by_every_conversion() {
    // In a process of its own, nothing of ours may come before cudarc.
    let is_parent = !simulator::is_own_process();
    if is_parent && !arrow_cuda_driver::is_simulated().expect("a driver") {
        return;
    }
    let theirs = is_parent.then(another_driver);
    let folder = theirs.iter().filter_map(|folder| folder.path().to_str()).collect::<String>();
    simulator::in_own_process(&[("LD_LIBRARY_PATH", &folder)], || {
        CudaContext::device_count().expect("theirs, which comes first");
        let ours = Context::primary(0).expect("a device");
        let refused = ours.to_cudarc().expect_err("another driver, or none");
        assert!(matches!(refused, CudaError::OtherDriver(_)), "{refused}");
    });
}

#[test]
fn a_stream_of_cudarc_is_shared() {
    with_cudarc(&[], || {
        let theirs = their_stream();
        let before = live(c"cuda_sim_live_streams");
        let ours = Stream::from_cudarc(Arc::clone(&theirs)).expect("a stream");
        assert_eq!(ours.as_raw(), theirs.cu_stream().cast());
        let event = ours.record().expect("room");
        theirs.synchronize().expect("nothing fails");
        assert!(event.is_complete().expect("nothing fails"));
        drop(theirs);
        ours.synchronize().expect("alive");
        assert_eq!(live(c"cuda_sim_live_streams"), before);
        // The last owner destroys it, even on a thread without a current context.
        thread::spawn(move || drop(ours)).join().expect("no panic");
        assert_eq!(live(c"cuda_sim_live_streams"), before.map(|count| count - 1));
    });
}

#[test]
fn default_streams_of_cudarc_are_ours() {
    with_cudarc(&[], || {
        let theirs = CudaContext::new(0).expect("a device");
        for stream in [theirs.default_stream(), theirs.per_thread_stream()] {
            let ours = Stream::from_cudarc(stream.clone()).expect("a stream");
            assert_eq!(ours.as_raw(), stream.cu_stream().cast());
            ours.synchronize().expect("nothing fails");
        }
    });
}

#[test]
fn our_stream_lives_as_long_as_what_cudarc_has_on_it() {
    with_cudarc(&[], || {
        let context = Context::primary(0).expect("a device");
        let theirs = context.to_cudarc().expect("a primary context");
        let before = live(c"cuda_sim_live_streams");
        let stream = Stream::new(&context).expect("room").to_cudarc(&theirs).expect("a stream");
        let slice = stream.clone_htod(&[1u8, 2]).expect("room");
        assert_eq!(stream.clone_dtoh(&slice).expect("a device"), [1, 2]);
        drop(slice);
        drop(stream);
        assert_eq!(live(c"cuda_sim_live_streams"), before, "it is destroyed");
        let stream = Stream::new(&context).expect("room").to_cudarc(&theirs).expect("a stream");
        let slice = stream.clone_htod(&[3u8]).expect("room");
        drop(stream);
        assert_eq!(slice.stream().clone_dtoh(&slice).expect("the stream is alive"), [3]);
    });
}

#[test]
fn an_event_of_cudarc_is_shared() {
    with_cudarc(&[("CUDA_SIM_LATENCY", "20000")], || {
        let stream = their_stream();
        let mut slice = stream.alloc_zeros::<u8>(1 << 20).expect("room");
        stream.memset_zeros(&mut slice).expect("a device");
        let theirs = Arc::new(stream.record_event(None).expect("room"));
        let before = live(c"cuda_sim_live_events");
        let ours = Event::from_cudarc(Arc::clone(&theirs)).expect("an event");
        assert_eq!(ours.as_raw(), theirs.cu_event().cast());
        drop(theirs);
        ours.synchronize().expect("nothing fails");
        assert!(ours.is_complete().expect("nothing fails"));
        thread::spawn(move || drop(ours)).join().expect("no panic");
        assert_eq!(live(c"cuda_sim_live_events"), before.map(|count| count - 1));
    });
}

#[test]
fn a_kernel_keeps_its_module_loaded() {
    with_cudarc(&[], || {
        let context = Context::primary(0).expect("a device");
        let module = context.to_cudarc().expect("one").load_module(Ptx::from_src(PTX));
        let kernel = module.expect("PTX").load_function("kernel").expect("a kernel");
        let kernel = Function::from_cudarc(&context, kernel).expect("the same driver");
        let clone = kernel.clone();
        drop(kernel);
        assert_eq!(live(c"cuda_sim_live_modules").unwrap_or(1), 1);
        let current = context.enter().expect("alive");
        // SAFETY: the kernel takes no arguments, and does nothing.
        unsafe { current.launch(&clone, (1, 1), &mut [], StreamHandle::DEFAULT) }.expect("loaded");
        current.synchronize().expect("nothing fails");
        thread::spawn(move || drop(clone)).join().expect("no panic");
        assert_eq!(live(c"cuda_sim_live_modules").unwrap_or(0), 0);
    });
}
