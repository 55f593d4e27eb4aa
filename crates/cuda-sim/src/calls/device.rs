//! Initialisation, and queries of devices.

use std::ffi::c_char;

use crate::base::code::INVALID_VALUE;
use crate::driver::{Config, Driver};
use crate::entry::{Out, exported};

/// CUDA 13.0, the version of the driver that was recorded.
pub const DRIVER_VERSION: i32 = 13000;

exported! { driver:
    /// Initialises the driver; the environment is read at the first call.
    [2000] initialising cuInit(flags: u32) {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        Driver::initialise()?;
    }

    [2020] early cuDriverGetVersion(version: Out<i32>) {
        version.required()?.set(DRIVER_VERSION);
    }

    [2000] call cuDeviceGetCount(count: Out<i32>) {
        count.required()?.set(driver.devices.len() as i32);
    }

    /// Returns the handle of a device, which is its number.
    [2000] call cuDeviceGet(device: Out<i32>, number: i32) {
        let device = device.required()?;
        driver.ordinal(number)?;
        device.set(number);
    }

    /// Returns the name, cut to `length` bytes with its final zero.
    [2000] call cuDeviceGetName(name: *mut c_char, length: i32, device: i32) {
        let number = driver.ordinal(device)?;
        let capacity = usize::try_from(length).map_err(|_| INVALID_VALUE)?;
        if name.is_null() || capacity == 0 {
            return Err(INVALID_VALUE);
        }
        let text = format!("CUDA Simulator {number}");
        let shown = text.len().min(capacity - 1);
        // SAFETY: the caller passes `length` bytes at `name`, and `shown` is less than that.
        unsafe {
            name.copy_from_nonoverlapping(text.as_ptr().cast(), shown);
            name.add(shown).write(0);
        }
    }

    [3020] call cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) {
        let bytes = bytes.required()?;
        driver.ordinal(device)?;
        bytes.set(driver.config.memory as usize);
    }

    /// Returns an attribute; 0 for one that means nothing here.
    [2000] call cuDeviceGetAttribute(value: Out<i32>, attribute: i32, device: i32) {
        let value = value.required()?;
        let ordinal = driver.ordinal(device)?;
        if !(1..LAST_ATTRIBUTE).contains(&attribute) {
            return Err(INVALID_VALUE);
        }
        value.set(attribute_of(&driver.config, ordinal, attribute));
    }

    [9020 to 11040] call cuDeviceGetUuid(uuid: Out<[u8; 16]>, device: i32) {
        uuid.required()?.set(uuid_of(driver.ordinal(device)?));
    }

    /// Returns the same bytes, because simulated devices are not divided.
    [11040] call cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, device: i32) {
        uuid.required()?.set(uuid_of(driver.ordinal(device)?));
    }
}

fn uuid_of(ordinal: usize) -> [u8; 16] {
    let mut uuid = *b"cuda-simulator-\0";
    uuid[15] = ordinal as u8;
    uuid
}

/// One more than the last attribute of the interface version.
const LAST_ATTRIBUTE: i32 = 146;

fn attribute_of(config: &Config, ordinal: usize, attribute: i32) -> i32 {
    match attribute {
        1..=3 => 1024,                               // threads of a block, its x and y
        4 => 64,                                     // its z
        5 => i32::MAX,                               // blocks of a grid in x
        6 | 7 => 65535,                              // and in y and z
        8 => 48 << 10,                               // shared memory of a block
        9 => 64 << 10,                               // constant memory
        10 => 32,                                    // threads of a warp
        11 => i32::MAX,                              // pitch of a copy
        12 => 64 << 10,                              // registers of a block
        13 | 36 => 1_000_000,                        // clocks, in kHz
        14 => 512,                                   // alignment of textures
        15 | 31 | 41 | 78 | 79 | 80 | 83 | 115 => 1, // overlap, concurrent kernels, unified
        // addresses, stream priorities, caches, managed memory, memory pools
        16 => 16,                                         // multiprocessors
        19 => 1,                                          // can map host memory
        33 => ordinal as i32 + 1,                         // number on the PCI bus
        37 => 512,                                        // width of the memory bus, in bits
        38 => (config.memory / 256).min(32 << 20) as i32, // second-level cache
        39 => 2048,                                       // threads of a multiprocessor
        40 => 3,                                          // copy engines
        75 => 9,                                          // compute capability, major
        76 => 0,                                          // and minor
        // Chunks can be mapped, as memory that network cards reach.
        102 | 110 => 1,
        113 => 1,        // pins memory of the host for reading
        81 => 228 << 10, // shared memory of a multiprocessor
        82 => 64 << 10,  // its registers
        106 => 32,       // its blocks
        _ => 0,
    }
}
