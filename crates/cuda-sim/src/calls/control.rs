//! Functions for tests, beside the driver interface.

use std::ffi::{CStr, c_char};

use crate::base::code::{Code, INVALID_VALUE, SUCCESS};
use crate::base::fork::is_forked;
use crate::base::lock::lock;
use crate::driver::Driver;
use crate::entry::fault;
use crate::memory::region::{Kind, Region};

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

/// Returns the number of allocations of device and managed memory that are not freed.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_allocations() -> u64 {
    count(|region| region.is_device_allocation() || region.kind == Kind::Managed)
}

/// Returns the number of allocations and registrations of page-locked memory that are live.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_host_allocations() -> u64 {
    count(|region| matches!(region.kind, Kind::Pinned | Kind::Registered))
}

/// Returns the number of imports that are not closed.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_imports() -> u64 {
    count(|region| matches!(region.kind, Kind::Imported { .. }))
}

/// Returns the retain count of a device's primary context; -1 if there is no such device.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_primary_retains(device: i32) -> i32 {
    if is_forked() {
        return -1;
    }
    let device = Driver::get().and_then(|driver| Ok(&driver.devices[driver.ordinal(device)?]));
    device.map_or(-1, |device| lock(&device.primary).retains)
}

fn count(which: impl Fn(&Region) -> bool) -> u64 {
    match Driver::get() {
        Ok(driver) if !is_forked() => {
            let memory = driver.memory();
            memory.regions.iter().filter(|region| which(region)).count() as u64
        }
        _ => 0,
    }
}

fn text<'a>(text: *const c_char) -> &'a str {
    if text.is_null() {
        return "";
    }
    // SAFETY: the caller passes null or a C string that lives through the call.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}
