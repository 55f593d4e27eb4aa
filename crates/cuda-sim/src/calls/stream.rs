//! Streams.

use crate::border::Out;
use crate::code::{Answer, Code, INVALID_VALUE, NOT_READY};
use crate::driver::Driver;
use crate::gate::call;
use crate::handles::Handle;
use crate::queue::{Mark, Order};
use crate::stack;

/// The flag of a stream that is not ordered with the legacy default stream.
const NON_BLOCKING: u32 = 1;
/// The lowest number is the greatest priority.
const PRIORITIES: (i32, i32) = (-5, 0);

/// Makes a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamCreate(stream: Out<Handle>, flags: u32) -> Code {
    call(|driver| create(driver, stream, flags, 0))
}

/// Makes a stream; priorities outside the range are brought into it.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamCreateWithPriority(
    stream: Out<Handle>,
    flags: u32,
    priority: i32,
) -> Code {
    call(|driver| create(driver, stream, flags, priority))
}

fn create(driver: &Driver, stream: Out<Handle>, flags: u32, priority: i32) -> Answer {
    let context = stack::current()?;
    let stream = stream.place()?;
    let order = match flags {
        0 => Order::Blocking,
        NON_BLOCKING => Order::NonBlocking,
        _ => return Err(INVALID_VALUE),
    };
    let priority = priority.clamp(PRIORITIES.0, PRIORITIES.1);
    stream.set(driver.create_stream(context, order, priority));
    Ok(())
}

/// Ends a stream; what it still has to do is done.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(stream: Handle) -> Code {
    call(|driver| {
        // The default streams have no entry, so they are refused like any wrong handle.
        let stream = driver.streams.remove(stream)?;
        stream.close();
        stream.context.healthy()
    })
}

/// Waits for everything that was queued in a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: Handle) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        let tails = stream.context.tails_of(&stream);
        tails.iter().for_each(Mark::wait);
        stream.context.healthy()
    })
}

/// Tells whether everything that was queued in a stream is done.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamQuery(stream: Handle) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        match stream.context.tails_of(&stream).is_empty() {
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
        event.marks().into_iter().try_for_each(|mark| stream.wait_for(mark))
    })
}

/// Gives the context of a stream; that of a default stream is the current one.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetCtx(stream: Handle, context: Out<Handle>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        context.place()?.set(stream.context.handle());
        Ok(())
    })
}

/// Tells whether work is captured into a graph instead of done: here never.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamIsCapturing(stream: Handle, status: Out<i32>) -> Code {
    call(|driver| {
        driver.stream(stream)?;
        status.place()?.set(0);
        Ok(())
    })
}

/// Gives the flags with which a stream was made.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetFlags(stream: Handle, flags: Out<u32>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        let is_non_blocking = stream.order == Order::NonBlocking;
        flags.place()?.set(u32::from(is_non_blocking) * NON_BLOCKING);
        Ok(())
    })
}

/// Gives the priority of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamGetPriority(stream: Handle, priority: Out<i32>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        priority.place()?.set(stream.priority);
        Ok(())
    })
}
