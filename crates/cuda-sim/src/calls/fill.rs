//! Filling memory with a value.
//!
//! Each call returns when the work is queued, except for a synchronous fill of memory that the host
//! can read: CUDA's documentation calls it "fully synchronous", and Numba's tests rely on it.

use crate::base::Handle;
use crate::base::code::{ILLEGAL_ADDRESS, INVALID_VALUE, Result};
use crate::contexts::stack;
use crate::driver::{Driver, STREAM_DEFAULT};
use crate::entry::exported;
use crate::work::capture;

exported! { driver:
    [3020, per_thread] call cuMemsetD8_v2(to: u64, value: u8, count: usize) {
        fill(driver, to, [value], count, None)?;
    }

    [3020, per_thread] call cuMemsetD32_v2(to: u64, value: u32, count: usize) {
        fill(driver, to, value.to_ne_bytes(), count, None)?;
    }

    [3020, per_thread] call cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) {
        fill(driver, to, [value], count, Some(stream))?;
    }

    [3020, per_thread] call cuMemsetD32Async(to: u64, value: u32, count: usize, stream: Handle) {
        fill(driver, to, value.to_ne_bytes(), count, Some(stream))?;
    }
}

/// Fills memory in the order of a stream; `None` is a synchronous call.
fn fill<const WIDTH: usize>(
    driver: &'static Driver,
    to: u64,
    value: [u8; WIDTH],
    count: usize,
    stream: Option<Handle>,
) -> Result {
    let is_synchronous = stream.is_none();
    let context = stack::current()?;
    let stream = driver.stream(stream.unwrap_or(STREAM_DEFAULT))?;
    let size = count.checked_mul(WIDTH).ok_or(INVALID_VALUE)?;
    if size == 0 {
        return Ok(());
    }
    if !to.is_multiple_of(WIDTH as u64) {
        return Err(INVALID_VALUE);
    }
    let is_on_host = {
        let memory = driver.memory();
        if memory.is_read_only(to) {
            return Err(INVALID_VALUE);
        }
        memory.resolve_accessible(context, to, size as u64)?.is_on_host
    };
    let waits = is_synchronous && is_on_host;
    if waits {
        // One that only queues its work leaves captures alone, as on an H200.
        capture::refuse_unsafe()?;
    }
    let end = stream.submit(move || {
        let found = driver.memory().resolve(to, size as u64);
        let contents = found.map_err(|_| ILLEGAL_ADDRESS)?.contents as *mut [u8; WIDTH];
        // SAFETY: `count` values lie in a live region, whose contents stay mapped.
        unsafe {
            match value.iter().all(|byte| *byte == value[0]) {
                true => contents.cast::<u8>().write_bytes(value[0], size),
                false => (0..count).for_each(|index| contents.add(index).write(value)),
            }
        }
        Ok(())
    })?;
    if waits {
        end.wait();
        context.check()?;
    }
    Ok(())
}
