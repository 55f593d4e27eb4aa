//! Capturing the work of streams into graphs.  The graphs are empty: nothing runs them.

use crate::base::code::{Code, INVALID_VALUE};
use crate::base::handles::Handle;
use crate::entry::call::call;
use crate::entry::out::Out;
use crate::work::capture::{self, Mode, Status};

/// Captures a stream's work from now on.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamBeginCapture_v2(stream: Handle, mode: i32) -> Code {
    call(|driver| capture::begin(driver.stream(stream)?.place(), Mode::of(mode)?))
}

/// Ends a capture, and returns a graph; null where the capture was invalidated.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamEndCapture(stream: Handle, graph: Out<Handle>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        let graph = graph.required()?;
        graph.set(0);
        capture::end(&stream.place())?;
        graph.set(driver.graphs.insert(()));
        Ok(())
    })
}

/// Returns whether a stream's work is captured.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamIsCapturing(stream: Handle, status: Out<Status>) -> Code {
    call(|driver| {
        let stream = driver.stream(stream)?;
        status.required()?.set(capture::status(&stream.place())?);
        Ok(())
    })
}

/// Sets which captures the calling thread respects, and returns what it was.
#[unsafe(no_mangle)]
pub extern "C" fn cuThreadExchangeStreamCaptureMode(mode: *mut i32) -> Code {
    call(|_| {
        if mode.is_null() {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller passes the address of a number.
        unsafe { mode.write(capture::exchange_mode(Mode::of(mode.read())?) as i32) };
        Ok(())
    })
}

/// Destroys a graph.
#[unsafe(no_mangle)]
pub extern "C" fn cuGraphDestroy(graph: Handle) -> Code {
    call(|driver| driver.graphs.remove(graph))
}
