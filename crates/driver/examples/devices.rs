//! Lists the devices of the driver that `PYARROW_CUDA_DRIVER` chooses.
//!
//! ```sh
//! PYARROW_CUDA_DRIVER=sim cargo run -p arrow-cuda-driver --example devices
//! ```

#![allow(clippy::disallowed_macros, reason = "shows the driver itself")]

use arrow_cuda_driver::{CudaResult, call, is_simulated, library_name};
use std::ffi::CStr;

fn main() {
    if let Err(error) = list_devices() {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn list_devices() -> CudaResult<()> {
    let (mut version, mut count) = (0i32, 0i32);
    // SAFETY: both results outlive the calls.
    unsafe {
        call!(cuInit(0))?;
        call!(cuDriverGetVersion((&raw mut version).cast()))?;
        call!(cuDeviceGetCount((&raw mut count).cast()))?;
    }
    let kind = if is_simulated()? { "simulated" } else { "real" };
    let (major, minor) = (version / 1000, version % 1000 / 10);
    println!("{}: {kind} driver for CUDA {major}.{minor}", library_name()?);
    for number in 0..count {
        let (name, bytes) = device(number)?;
        println!("device {number}: {name}, {bytes} bytes");
    }
    Ok(())
}

/// A device's name, and the size of its memory in bytes.
fn device(number: i32) -> CudaResult<(String, usize)> {
    let (mut device, mut bytes, mut name) = (0i32, 0usize, [0u8; 100]);
    // SAFETY: the results outlive the calls, and the driver gets the length of the name's buffer.
    unsafe {
        call!(cuDeviceGet((&raw mut device).cast(), number))?;
        call!(cuDeviceGetName((&raw mut name).cast(), name.len() as i32, device))?;
        call!(cuDeviceTotalMem_v2((&raw mut bytes).cast(), device))?;
    }
    let name = CStr::from_bytes_until_nul(&name).unwrap_or_default();
    Ok((name.to_string_lossy().into_owned(), bytes))
}
