//! What a test may ask and tell the simulator, beside the driver interface.

use std::ffi::{CStr, c_char};

use crate::code::{Code, INVALID_VALUE, SUCCESS};
use crate::driver::Driver;
use crate::fault;
use crate::gate::is_forked;
use crate::handles::lock;
use crate::region::{Kind, Region};

/// Replaces the failures to inject by those of `spec`; null or nothing clears them.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_fault(spec: *const c_char) -> Code {
    if is_forked() {
        return INVALID_VALUE;
    }
    match fault::set_rules(text(spec)) {
        Ok(()) => SUCCESS,
        Err(part) => {
            eprintln!("cuda-sim: {part} is no fault rule");
            INVALID_VALUE
        }
    }
}

/// How often a function was called, with or without `_v2`; `*` for all together.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_call_count(name: *const c_char) -> u64 {
    match is_forked() {
        true => 0,
        false => fault::call_count(text(name)),
    }
}

/// Allocations of device and managed memory that are not freed.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_allocations() -> u64 {
    count(|region| region.is_device_allocation() || region.kind == Kind::Managed)
}

/// Allocations and registrations of page-locked host memory that were not taken back.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_host_allocations() -> u64 {
    count(|region| matches!(region.kind, Kind::Pinned | Kind::Registered))
}

/// Mappings of other processes' memory that are not closed.
#[unsafe(no_mangle)]
pub extern "C" fn cuda_sim_live_imports() -> u64 {
    count(|region| matches!(region.kind, Kind::Imported { .. }))
}

/// Retains of a device's primary context; -1 for no such device.
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
    // SAFETY: the caller gives null or a C string that lives through the call.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}
