//! Streams.

use crate::base::code::{Code, INVALID_VALUE, NOT_READY, Result};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::driver::Driver;
use crate::entry::call::call;
use crate::entry::out::Out;
use crate::streams::stream::Stream;
use crate::work::capture;
use crate::work::order::Order;

/// The flag of a stream that is not ordered with the legacy default stream.
const NON_BLOCKING: u32 = 1;
/// The lowest number is the greatest priority.
const PRIORITIES: (i32, i32) = (-5, 0);

/// Creates a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamCreate(stream: Out<Handle>, flags: u32) -> Code {
    call(|driver| create(driver, stream, flags, 0))
}

/// Creates a stream with a priority, which is clamped to the range.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamCreateWithPriority(
    stream: Out<Handle>,
    flags: u32,
    priority: i32,
) -> Code {
    call(|driver| create(driver, stream, flags, priority))
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

/// Destroys a stream; its queued work is still done.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(stream: Handle) -> Code {
    call(|driver| {
        // Default streams are not in the table, so they are refused like any invalid handle.
        let stream = driver.streams.remove(stream)?;
        stream.close();
        capture::forget(|place| stream.is_at(place));
        stream.context.check()
    })
}

/// Waits for the work of a stream.  For the legacy default stream this includes the blocking streams.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: Handle) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        capture::refuse_waiting_for(&stream.place())?;
        stream.synchronize();
        stream.context.check()
    })
}

/// Returns whether the work for which `cuStreamSynchronize` waits is done.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(stream: Handle) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        capture::refuse_waiting_for(&stream.place())?;
        match stream.is_idle() {
            true => Ok(()),
            false => Err(NOT_READY),
        }
    })
}

/// Holds a stream's later work back until an event is reached.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        let event = driver.event(event)?;
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        event.hold_back(&stream)
    })
}

/// Returns the context of a stream; for a default stream, the current one.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        context.required()?.set(stream.context.handle());
        Ok(())
    })
}

/// Returns the flags with which a stream was created.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetFlags(stream: Handle, flags: Out<u32>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        let is_non_blocking = stream.order == Order::NonBlocking;
        flags.required()?.set(u32::from(is_non_blocking) * NON_BLOCKING);
        Ok(())
    })
}

/// Returns the priority of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetPriority(stream: Handle, priority: Out<i32>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        priority.required()?.set(stream.priority);
        Ok(())
    })
}
