//! Streams, and functions of the caller that run on them.

use std::ffi::c_void;
use std::sync::Arc;

use crate::base::Handle;
use crate::base::code::{Code, INVALID_VALUE, NOT_READY, Result, SUCCESS};
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::{Out, exported, in_callback};
use crate::streams::Stream;
use crate::work::{Order, capture};

/// The flag of a stream that is not ordered with the legacy default stream.
const NON_BLOCKING: u32 = 1;
/// The lowest number is the greatest priority.
const PRIORITIES: (i32, i32) = (-5, 0);

type StreamCallback = extern "C" fn(stream: Handle, status: Code, data: *mut c_void);
type HostFunction = extern "C" fn(data: *mut c_void);

exported! { driver:
    [2000] call cuStreamCreate(stream: Out<Handle>, flags: u32) {
        stack::await_copy();
        create(driver, stream, flags, 0)?;
    }

    /// Creates a stream with a priority, which is clamped to the range.
    [5050] call cuStreamCreateWithPriority(stream: Out<Handle>, flags: u32, priority: i32) {
        create(driver, stream, flags, priority)?;
    }

    /// Destroys a stream; its queued work is still done.
    [4000] call cuStreamDestroy_v2(stream: Handle) {
        // Default streams are not in the table, so they are refused like any invalid handle.
        let stream = driver.streams.remove(stream)?;
        stream.queue.close();
        capture::forget(|queue| Arc::ptr_eq(queue, &stream.queue));
        stream.context.check()?;
    }

    /// Waits for the work of a stream.  For the legacy default stream this includes the blocking streams.
    [2000, per_thread] call cuStreamSynchronize(stream: Handle) {
        let stream = driver.stream(stream)?;
        capture::refuse_waiting_for(&stream.queue)?;
        stream.synchronize();
        stream.context.check()?;
    }

    /// Returns whether the work for which `cuStreamSynchronize` waits is done.
    [2000, per_thread] call cuStreamQuery(stream: Handle) {
        let stream = driver.stream(stream)?;
        capture::refuse_waiting_for(&stream.queue)?;
        if !stream.is_idle() {
            return Err(NOT_READY);
        }
    }

    /// Holds a stream's later work back until an event is reached.
    [3020, per_thread] call cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        let stream = driver.stream(stream)?;
        let event = driver.event(event)?;
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        event.hold_back(&stream)?;
    }

    /// Returns the context of a stream; for a default stream, the current one.
    [9020 to 12050, per_thread] call cuStreamGetCtx(stream: Handle, context: Out<Handle>) {
        let stream = driver.stream(stream)?;
        context.required()?.set(stream.context.handle());
    }

    [5050, per_thread] call cuStreamGetFlags(stream: Handle, flags: Out<u32>) {
        let stream = driver.stream(stream)?;
        let is_non_blocking = stream.queue.order == Order::NonBlocking;
        flags.required()?.set(u32::from(is_non_blocking) * NON_BLOCKING);
    }

    [5050, per_thread] call cuStreamGetPriority(stream: Handle, priority: Out<i32>) {
        let stream = driver.stream(stream)?;
        priority.required()?.set(stream.priority);
    }

    /// Queues a call of `callback`, which receives the error of the stream's context.
    [5000, per_thread] call cuStreamAddCallback(
        stream: Handle,
        callback: Option<StreamCallback>,
        data: *mut c_void,
        flags: u32,
    ) {
        stack::current()?;
        let target = driver.stream(stream)?;
        let callback = callback.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        let data = data.expose_provenance();
        let context = target.context;
        target.submit_function(move || {
            let data = std::ptr::with_exposed_provenance_mut(data);
            in_callback(|| callback(stream, context.error(), data));
        })?;
    }

    [10000, per_thread] call cuLaunchHostFunc(
        stream: Handle,
        function: Option<HostFunction>,
        data: *mut c_void,
    ) {
        stack::current()?;
        let target = driver.stream(stream)?;
        let function = function.ok_or(INVALID_VALUE)?;
        let data = data.expose_provenance();
        let context = target.context;
        target.submit_function(move || {
            let data = std::ptr::with_exposed_provenance_mut(data);
            if context.error() == SUCCESS {
                in_callback(|| function(data));
            }
        })?;
    }
}

fn create(driver: &Driver, stream: Out<Handle>, flags: u32, priority: i32) -> Result {
    let context = stack::current()?;
    let stream = stream.required()?;
    let order = match flags {
        0 => Order::Blocking,
        NON_BLOCKING => Order::NonBlocking,
        _ => return Err(INVALID_VALUE),
    };
    let priority = priority.clamp(PRIORITIES.0, PRIORITIES.1);
    stream.set(driver.streams.insert(Stream::create(context, order, priority)));
    Ok(())
}
