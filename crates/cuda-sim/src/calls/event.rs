//! Events.

use std::sync::Arc;

use crate::base::code::{Code, INVALID_HANDLE, INVALID_VALUE, NOT_READY};
use crate::base::handles::Handle;
use crate::contexts::stack;
use crate::entry::call::call;
use crate::entry::out::Out;
use crate::streams::event::Event;
use crate::work::capture;

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
const FLAGS: u32 = 7;

/// Creates an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventCreate(event: Out<Handle>, flags: u32) -> Code {
    call(|driver| {
        let context = stack::current()?;
        let event = event.required()?;
        let has_timing = flags & DISABLE_TIMING == 0;
        if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && has_timing) {
            return Err(INVALID_VALUE);
        }
        event.set(driver.events.insert(Arc::new(Event::new(context, has_timing))));
        Ok(())
    })
}

/// Records the end of a stream's work so far.
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

/// Records the ends of the work so far of all streams of a context.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxRecordEvent(context: Handle, event: Handle) -> Code {
    call(|driver| {
        let context = driver.context(context)?;
        let event = driver.event(event)?;
        if event.context.id != context.id {
            return Err(INVALID_HANDLE);
        }
        capture::refuse_in_context(context.id)?;
        event.record_all();
        Ok(())
    })
}

/// Returns whether an event is reached.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: Handle) -> Code {
    call(|driver| {
        let event = driver.event(event)?;
        event.refuse_waiting()?;
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
        event.refuse_waiting()?;
        event.synchronize();
        event.context.check()
    })
}

/// Returns the milliseconds between two events.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) -> Code {
    call(|driver| {
        let milliseconds = milliseconds.required()?;
        let (start, end) = (driver.event(start)?, driver.event(end)?);
        milliseconds.set(Event::elapsed(&start, &end)?);
        Ok(())
    })
}

/// Destroys an event.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(event: Handle) -> Code {
    call(|driver| driver.events.remove(event)?.context.check())
}
