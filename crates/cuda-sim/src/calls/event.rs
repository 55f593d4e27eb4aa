//! Events.

use std::sync::Arc;

use crate::border::Out;
use crate::code::{Code, INVALID_HANDLE, INVALID_VALUE, NOT_READY};
use crate::event::Event;
use crate::gate::call;
use crate::handles::Handle;
use crate::queue::Mark;
use crate::stack;

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
const FLAGS: u32 = 7;

/// Makes an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventCreate(event: Out<Handle>, flags: u32) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let event = event.place()?;
        let has_timing = flags & DISABLE_TIMING == 0;
        if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && has_timing) {
            return Err(INVALID_VALUE);
        }
        let made = Arc::new(Event::new(context, has_timing));
        event.set(driver.events.insert(made));
        Ok(())
    })
}

/// Records what a stream has to do now.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: Handle, stream: Handle) -> Code {
    call(|driver| {
        let event = driver.event(event)?;
        let stream = driver.stream(stream)?;
        if event.context.id != stream.context.id {
            return Err(INVALID_HANDLE);
        }
        event.record(&stream)
    })
}

/// Records what all streams of a context have to do now.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxRecordEvent(context: Handle, event: Handle) -> Code {
    call(|driver| {
        let context = driver.context(context)?;
        let event = driver.event(event)?;
        if event.context.id != context.id {
            return Err(INVALID_HANDLE);
        }
        event.record_all();
        Ok(())
    })
}

/// Tells whether an event is reached.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: Handle) -> Code {
    call(|driver| {
        let event = driver.event(event)?;
        match event.is_reached() {
            true => Ok(()),
            false => Err(NOT_READY),
        }
    })
}

/// Waits for an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(event: Handle) -> Code {
    call(|driver| {
        let event = driver.event(event)?;
        event.marks().iter().for_each(Mark::wait);
        event.context.healthy()
    })
}

/// Gives the milliseconds between two events.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) -> Code {
    call(|driver| {
        let milliseconds = milliseconds.place()?;
        let (start, end) = (driver.event(start)?, driver.event(end)?);
        milliseconds.set(Event::elapsed(&start, &end)?);
        Ok(())
    })
}

/// Ends an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: Handle) -> Code {
    call(|driver| driver.events.remove(event)?.context.healthy())
}
