//! Capturing the work of streams into graphs.  The graphs are empty: nothing runs them.

use crate::base::Handle;
use crate::base::code::INVALID_VALUE;
use crate::entry::{Out, exported};
use crate::work::capture::{self, Mode, Status};

exported! { driver:
    [10010, per_thread] call cuStreamBeginCapture_v2(stream: Handle, mode: i32) {
        capture::begin(driver.stream(stream)?.queue, Mode::of(mode)?)?;
    }

    /// Ends a capture, and returns a graph; null where the capture was invalidated.
    [10000, per_thread] call cuStreamEndCapture(stream: Handle, graph: Out<Handle>) {
        let stream = driver.stream(stream)?;
        let graph = graph.required()?;
        graph.set(0);
        capture::end(&stream.queue)?;
        graph.set(driver.graphs.insert(()));
    }

    [10000, per_thread] call cuStreamIsCapturing(stream: Handle, status: Out<Status>) {
        let stream = driver.stream(stream)?;
        status.required()?.set(capture::status(&stream.queue)?);
    }

    /// Sets which captures the calling thread respects, and returns what it was.
    [10010] call cuThreadExchangeStreamCaptureMode(mode: *mut i32) {
        if mode.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes the address of a number.
        unsafe { mode.write(capture::exchange_mode(Mode::of(mode.read())?) as i32) };
    }

    [10000] call cuGraphDestroy(graph: Handle) {
        driver.graphs.remove(graph)?;
    }
}
