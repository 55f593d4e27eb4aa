//! Functions for tests, beside the driver interface.

use std::ffi::{CStr, c_char};
use std::ptr;

use crate::base::code::{Code, INVALID_VALUE, SUCCESS};
use crate::base::{is_forked, lock};
use crate::driver::Driver;
use crate::entry::fault;
use crate::memory::{Kind, Region};

/// Replaces the fault rules by those of `spec`; null or an empty text clears them.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_fault(spec: *const c_char) -> Code {
    if is_forked() {
        return INVALID_VALUE;
    }
    match fault::set_rules(text(spec)) {
        Ok(()) => SUCCESS,
        Err(part) => {
            eprintln!("cuda-sim: '{part}' is not a fault rule; write FUNCTION:N=CODE");
            INVALID_VALUE
        }
    }
}

/// Returns how often a function was called; `*` means all functions together.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_call_count(name: *const c_char) -> u64 {
    match is_forked() {
        true => 0,
        false => fault::call_count(text(name)),
    }
}

/// Writes a line for each function that was called: its name, a space, and how often.
///
/// Returns the length of the text, which ends with a zero and is cut off at `size` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_call_counts(text: *mut c_char, size: usize) -> usize {
    if is_forked() {
        return 0;
    }
    let counts = fault::call_counts();
    if let Some(room) = size.checked_sub(1).filter(|_| !text.is_null()) {
        let length = counts.len().min(room);
        // SAFETY: the caller passes null or the address of `size` bytes, of which there are more than
        // `length`.
        unsafe {
            ptr::copy_nonoverlapping(counts.as_ptr().cast(), text, length);
            text.add(length).write(0);
        }
    }
    counts.len()
}

/// Returns the number of allocations of device and managed memory that are not freed.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_allocations() -> u64 {
    count(|region| region.is_device_allocation() || region.kind == Kind::Managed) + chunks()
}

/// Returns the number of allocations and registrations of page-locked memory that are live.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_host_allocations() -> u64 {
    count(|region| matches!(region.kind, Kind::Pinned | Kind::Registered { .. }))
}

/// Returns the number of imports that are not closed.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_imports() -> u64 {
    count(|region| matches!(region.kind, Kind::Imported { .. }))
}

/// Returns the number of streams that are not destroyed, and whose contexts exist.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_streams() -> u64 {
    driver().map_or(0, |driver| driver.streams.count(|stream| !stream.context.is_destroyed()))
}

/// Returns the number of events that are not destroyed, and whose contexts exist.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_events() -> u64 {
    driver().map_or(0, |driver| driver.events.count(|event| !event.context.is_destroyed()))
}

/// Returns the number of modules that are not unloaded, and whose contexts exist.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_modules() -> u64 {
    driver().map_or(0, |driver| driver.modules.count(|module| !module.context.is_destroyed()))
}

/// Returns the retain count of a device's primary context; -1 if there is no such device.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_primary_retains(device: i32) -> i32 {
    let ordinal = driver().and_then(|driver| Some((driver, driver.ordinal(device).ok()?)));
    ordinal.map_or(-1, |(driver, ordinal)| lock(&driver.devices[ordinal].primary).retains)
}

/// The driver, unless it is not initialised or this is a forked child.
fn driver() -> Option<&'static Driver> {
    match is_forked() {
        true => None,
        false => Driver::get().ok(),
    }
}

/// Chunks that are not released, or still mapped.
fn chunks() -> u64 {
    driver().map_or(0, |driver| driver.memory().chunks.alive.len() as u64)
}

fn count(which: impl Fn(&Region) -> bool) -> u64 {
    driver().map_or(0, |driver| {
        driver.memory().regions.values().filter(|region| which(region)).count() as u64
    })
}

fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller passes null or a C string that lives through the call.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}
