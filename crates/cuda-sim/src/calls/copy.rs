//! Copies.
//!
//! A copy between host and device is over when a synchronous call returns.  One between devices
//! is only queued then, as on hardware: work of a non-blocking stream does not wait for it.  Nor
//! does it for a small copy from pageable memory, of which the driver has taken the bytes by then.

use crate::code::{Answer, Code, ILLEGAL_ADDRESS, INVALID_VALUE};
use crate::context::Context;
use crate::driver::Driver;
use crate::gate::call;
use crate::handles::Handle;
use crate::stack;

/// One end of a copy.
#[derive(Clone, Copy)]
enum End {
    Host(usize),
    Device(u64),
    /// Whatever lies there.
    Any(u64),
}

/// Up to this size, copies from pageable memory are over when the driver has taken the bytes.
const STAGED: usize = 64 << 10;

#[derive(Clone, Copy)]
struct Copy {
    to: End,
    from: End,
    size: usize,
}

impl Copy {
    fn new(to: End, from: End, size: usize) -> Self {
        Self { to, from, size }
    }

    /// Copies in turn of the legacy default stream; returns when it is over unless both ends
    /// are on devices.
    fn now(self, driver: &'static Driver) -> Answer {
        let context = stack::current()?;
        if self.size == 0 {
            return Ok(());
        }
        let (_, to_device) = self.to.resolve(driver, self.size)?;
        let (_, from_device) = self.from.resolve(driver, self.size)?;
        let stream = context.legacy_stream();
        if to_device && from_device {
            stream.submit(move || self.carry_out(driver).map_err(|_| ILLEGAL_ADDRESS))?;
            return Ok(());
        }
        if let End::Host(address) = self.from
            && to_device
            && self.size <= STAGED
            && driver.memory().resolve(address as u64, self.size as u64).is_err()
        {
            context.healthy()?;
            // SAFETY: the caller promises that so many bytes are readable there.
            let taken = unsafe { std::slice::from_raw_parts(address as *const u8, self.size) };
            let taken = taken.to_vec();
            stream.submit(move || {
                let staged = Self { from: End::Host(taken.as_ptr() as usize), ..self };
                staged.carry_out(driver).map_err(|_| ILLEGAL_ADDRESS)
            })?;
            return Ok(());
        }
        let mut outcome = Ok(());
        stream.perform(|| {
            // A refused copy is the caller's mistake, not a failure of the context.
            outcome = context.healthy().and_then(|()| self.carry_out(driver));
            Ok(())
        })?;
        outcome
    }

    /// Copies in turn of a stream, with host memory as it is then.
    fn later(self, driver: &'static Driver, stream: Handle) -> Answer {
        stack::current()?;
        let stream = driver.stream(stream)?;
        if self.size == 0 {
            return Ok(());
        }
        self.to.resolve(driver, self.size)?;
        self.from.resolve(driver, self.size)?;
        stream.submit(move || self.carry_out(driver).map_err(|_| ILLEGAL_ADDRESS))?;
        Ok(())
    }

    fn carry_out(self, driver: &Driver) -> Answer {
        let (to, _) = self.to.resolve(driver, self.size)?;
        let (from, _) = self.from.resolve(driver, self.size)?;
        // SAFETY: device ends lie in live regions, whose contents stay mapped; of host ends
        // the caller promises it.  The ranges may overlap.
        unsafe { libc::memmove(to as *mut _, from as *const _, self.size) };
        Ok(())
    }
}

impl End {
    /// Where the host finds it, and whether it is on a device.
    ///
    /// # Errors
    /// `INVALID_VALUE` for null, and for memory that does not belong to this end.
    fn resolve(self, driver: &Driver, size: usize) -> Result<(usize, bool), Code> {
        let length = size as u64;
        let memory = driver.memory();
        match self {
            Self::Host(address) => {
                let is_wrong = address == 0 || memory.is_device_address(address as u64, length);
                match is_wrong {
                    true => Err(INVALID_VALUE),
                    false => Ok((address, false)),
                }
            }
            Self::Device(address) => {
                let found = memory.resolve(address, length)?;
                Ok((found.contents, !found.is_on_host))
            }
            Self::Any(address) => {
                let is_device = memory.is_device_address(address, length);
                drop(memory);
                match is_device {
                    true => Self::Device(address).resolve(driver, size),
                    false => Self::Host(address as usize).resolve(driver, size),
                }
            }
        }
    }
}

/// Copies from the host to a device.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyHtoD_v2(to: u64, from: usize, size: usize) -> Code {
    call(|driver| Copy::new(End::Device(to), End::Host(from), size).now(driver))
}

/// Copies from a device to the host.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoH_v2(to: usize, from: u64, size: usize) -> Code {
    call(|driver| Copy::new(End::Host(to), End::Device(from), size).now(driver))
}

/// Copies between device addresses.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) -> Code {
    call(|driver| Copy::new(End::Device(to), End::Device(from), size).now(driver))
}

/// Copies between addresses of any kind.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpy(to: u64, from: u64, size: usize) -> Code {
    call(|driver| Copy::new(End::Any(to), End::Any(from), size).now(driver))
}

/// Copies between the devices of two contexts.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyPeer(
    to: u64,
    to_context: Handle,
    from: u64,
    from_context: Handle,
    size: usize,
) -> Code {
    call(|driver| {
        stack::current()?;
        // It comes after all that is queued in both contexts.
        for context in contexts(driver, [to_context, from_context])? {
            context.synchronize();
        }
        Copy::new(End::Device(to), End::Device(from), size).now(driver)
    })
}

/// Queues a copy from the host to a device.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyHtoDAsync_v2(to: u64, from: usize, size: usize, stream: Handle) -> Code {
    call(|driver| Copy::new(End::Device(to), End::Host(from), size).later(driver, stream))
}

/// Queues a copy from a device to the host.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoHAsync_v2(to: usize, from: u64, size: usize, stream: Handle) -> Code {
    call(|driver| Copy::new(End::Host(to), End::Device(from), size).later(driver, stream))
}

/// Queues a copy between device addresses.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, stream: Handle) -> Code {
    call(|driver| Copy::new(End::Device(to), End::Device(from), size).later(driver, stream))
}

/// Queues a copy between addresses of any kind.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyAsync(to: u64, from: u64, size: usize, stream: Handle) -> Code {
    call(|driver| Copy::new(End::Any(to), End::Any(from), size).later(driver, stream))
}

/// Queues a copy between the devices of two contexts.
#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyPeerAsync(
    to: u64,
    to_context: Handle,
    from: u64,
    from_context: Handle,
    size: usize,
    stream: Handle,
) -> Code {
    call(|driver| {
        stack::current()?;
        contexts(driver, [to_context, from_context])?;
        Copy::new(End::Device(to), End::Device(from), size).later(driver, stream)
    })
}

/// Contexts have to be alive.  That the memory is theirs is not checked, as on hardware: an
/// address says itself where it lies.
fn contexts(driver: &Driver, ends: [Handle; 2]) -> Result<[&'static Context; 2], Code> {
    Ok([driver.context(ends[0])?, driver.context(ends[1])?])
}
