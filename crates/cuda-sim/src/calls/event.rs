//! `cuEvent*` and `cuCtxRecordEvent`.

use std::sync::Arc;

use crate::base::Handle;
use crate::base::code::{INVALID_HANDLE, INVALID_VALUE, NOT_READY};
use crate::contexts::stack;
use crate::entry::{Out, exported};
use crate::streams::Event;
use crate::work::capture;

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;
const FLAGS: u32 = 7;

exported! { driver:
    [2000] call cuEventCreate(event: Out<Handle>, flags: u32) {
        stack::await_copy();
        let context = stack::current()?;
        let event = event.required()?;
        let has_timing = flags & DISABLE_TIMING == 0;
        if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && has_timing) {
            return Err(INVALID_VALUE);
        }
        event.set(driver.events.insert(Arc::new(Event::new(context, has_timing))));
    }

    /// Records the end of a stream's work so far.
    [2000, per_thread] call cuEventRecord(event: Handle, stream: Handle) {
        stack::await_copy();
        let event = driver.event(event)?;
        let stream = driver.stream(stream)?;
        if event.context.id != stream.context.id {
            return Err(INVALID_HANDLE);
        }
        event.record(&stream)?;
    }

    /// Records the ends of the work so far of all streams of a context.
    [12050] call cuCtxRecordEvent(context: Handle, event: Handle) {
        let context = driver.context(context)?;
        let event = driver.event(event)?;
        if event.context.id != context.id {
            return Err(INVALID_HANDLE);
        }
        capture::refuse_in_context(context.id)?;
        context.await_copy();
        event.record_all();
    }

    [2000] call cuEventQuery(event: Handle) {
        let event = driver.event(event)?;
        event.refuse_waiting()?;
        if !event.is_reached() {
            return Err(NOT_READY);
        }
    }

    [2000] call cuEventSynchronize(event: Handle) {
        let event = driver.event(event)?;
        event.refuse_waiting()?;
        event.synchronize();
        event.context.check()?;
    }

    [2000 to 12080] call cuEventElapsedTime(milliseconds: Out<f32>, start: Handle, end: Handle) {
        let milliseconds = milliseconds.required()?;
        let (start, end) = (driver.event(start)?, driver.event(end)?);
        milliseconds.set(Event::elapsed(&start, &end)?);
    }

    [4000] call cuEventDestroy_v2(event: Handle) {
        driver.events.remove(event)?.context.check()?;
    }
}
