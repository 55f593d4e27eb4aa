//! Copies.
//!
//! A copy between host and device is complete when a synchronous call returns.  A copy between
//! devices is only queued by then, as on hardware, so that work of a non-blocking stream does not
//! wait for it.  The same holds for a small copy from pageable memory, on a stream or not: by then, the
//! driver has staged its bytes.  Other copies of pageable memory are complete when the call returns, on a stream,
//! too: programs rely on that, and NVIDIA promises it of those to the host.

use crate::base::code::{ILLEGAL_ADDRESS, INVALID_VALUE, LAUNCH_FAILED, Result};
use crate::base::{Handle, lock};
use crate::contexts::{Context, stack};
use crate::driver::Driver;
use crate::entry::exported;
use crate::streams::Stream;
use crate::work::capture;

#[derive(Clone, Copy)]
enum End {
    Host(usize),
    Device(u64),
    /// The address says which of the two.
    Any(u64),
}

/// Up to this size in bytes, copies from pageable memory are staged.
const STAGED: usize = 64 << 10;

#[derive(Clone, Copy)]
struct Copy {
    to: End,
    from: End,
    size: usize,
}

impl Copy {
    /// Copies on the legacy default stream, and waits where a synchronous call does.  Captures are left alone, as on
    /// an H200.
    fn synchronous(self, driver: &'static Driver) -> Result {
        let context = stack::current()?;
        if self.size == 0 {
            return Ok(());
        }
        let (_, to_device) = self.to.resolve_destination(driver, self.size)?;
        let (_, from_device) = self.from.resolve(driver, self.size)?;
        let stream = Stream::legacy(context);
        if to_device && from_device {
            stream.submit(move || self.carry_out(driver).map_err(|_| ILLEGAL_ADDRESS))?;
            return Ok(());
        }
        if let Some(bytes) = self.staged(driver) {
            context.check()?;
            stream.submit(move || self.carry_out_from(&bytes, driver))?;
            return Ok(());
        }
        let mut outcome = Ok(());
        let _one_at_a_time = lock(&context.copying);
        stream.run(|| {
            // A copy that is refused does not end the context.
            outcome = context.check().and_then(|()| self.carry_out(driver));
            Ok(())
        })?;
        outcome
    }

    /// Queues the copy, which reads and writes pinned memory when its turn comes.
    fn asynchronous(self, driver: &'static Driver, stream: Handle) -> Result {
        stack::current()?;
        let stream = driver.stream(stream)?;
        if self.size == 0 {
            return Ok(());
        }
        self.to.resolve_destination(driver, self.size)?;
        self.from.resolve(driver, self.size)?;
        match self.staged(driver) {
            Some(bytes) => stream.submit(move || self.carry_out_from(&bytes, driver))?,
            None => {
                let pinned = [self.to, self.from].map(|end| end.pinned_region(driver));
                // An H200 says this of a copy whose memory is gone when its turn comes.
                let carry_out = move || match pinned.iter().flatten().all(|it| it.is_live(driver)) {
                    true => self.carry_out(driver).map_err(|_| LAUNCH_FAILED),
                    false => Err(LAUNCH_FAILED),
                };
                if [self.to, self.from].iter().any(|end| end.is_pageable(driver, self.size)) {
                    return stream.run(carry_out);
                }
                stream.submit(carry_out)?
            }
        };
        Ok(())
    }

    /// The bytes, if they are few, and come to a device from pageable memory.
    fn staged(self, driver: &Driver) -> Option<Vec<u8>> {
        let End::Host(address) = self.from else { return None };
        let is_upload = self.to.resolve(driver, self.size).is_ok_and(|(_, to_device)| to_device);
        (self.size <= STAGED && is_upload && self.from.is_pageable(driver, self.size)).then(|| {
            // SAFETY: the caller promises that `size` bytes are readable there.
            unsafe { std::slice::from_raw_parts(address as *const u8, self.size) }.to_vec()
        })
    }

    fn carry_out_from(self, bytes: &[u8], driver: &Driver) -> Result {
        let staged = Self { from: End::Host(bytes.as_ptr() as usize), ..self };
        staged.carry_out(driver).map_err(|_| ILLEGAL_ADDRESS)
    }

    fn carry_out(self, driver: &Driver) -> Result {
        let (to, _) = self.to.resolve(driver, self.size)?;
        let (from, _) = self.from.resolve(driver, self.size)?;
        for (at, length) in parts_in_spoiling_order(to, from, self.size) {
            // SAFETY: device ends lie in live regions, whose contents stay mapped; of host ends
            // the caller promises it.  Each part is apart from its source.
            unsafe { libc::memcpy((to + at) as *mut _, (from + at) as *const _, length) };
        }
        Ok(())
    }
}

/// Pinned memory of the host, which a queued copy has to find as it was.
#[derive(Clone, Copy)]
struct PinnedRegion {
    address: u64,
    id: u64,
}

impl PinnedRegion {
    fn is_live(self, driver: &Driver) -> bool {
        let memory = driver.memory();
        memory.containing(self.address).is_some_and(|region| region.id == self.id)
    }
}

/// The parts of a copy, each with its offset and length.  A device copies in no order, so where the ranges overlap,
/// the parts go in the order in which they overwrite what the next ones read.
fn parts_in_spoiling_order(to: usize, from: usize, size: usize) -> Vec<(usize, usize)> {
    let distance = to.abs_diff(from).min(size).max(1);
    let mut parts: Vec<_> =
        (0..size).step_by(distance).map(|at| (at, distance.min(size - at))).collect();
    if to < from {
        parts.reverse();
    }
    parts
}

impl End {
    fn address(self) -> u64 {
        match self {
            Self::Host(address) => address as u64,
            Self::Any(address) | Self::Device(address) => address,
        }
    }

    fn pinned_region(self, driver: &Driver) -> Option<PinnedRegion> {
        let address = self.address();
        let memory = driver.memory();
        let region = memory.containing(address).filter(|region| region.is_on_host())?;
        Some(PinnedRegion { address, id: region.id })
    }

    fn is_pageable(self, driver: &Driver, size: usize) -> bool {
        let address = match self {
            Self::Host(address) => address as u64,
            Self::Any(address) => address,
            Self::Device(_) => return false,
        };
        driver.memory().resolve(address, size as u64).is_err()
    }

    /// As `resolve`, for what is written to: not memory that is pinned for reading, as on an H200.
    fn resolve_destination(self, driver: &Driver, size: usize) -> Result<(usize, bool)> {
        let is_read_only = driver.memory().is_read_only(self.address());
        if is_read_only { Err(INVALID_VALUE) } else { self.resolve(driver, size) }
    }

    /// The host address of the contents, and whether they are on a device.  Fails with
    /// `INVALID_VALUE` for null, and for memory of the other kind.
    fn resolve(self, driver: &Driver, size: usize) -> Result<(usize, bool)> {
        let length = size as u64;
        let memory = driver.memory();
        match self {
            Self::Host(address) => {
                let is_wrong = address == 0
                    || memory.is_device_address(address as u64, length)
                    || memory.leaves_pinned(address as u64, length);
                match is_wrong {
                    true => Err(INVALID_VALUE),
                    false => Ok((address, false)),
                }
            }
            Self::Device(address) => {
                let found = memory.resolve(address, length)?;
                // An H200 copies it as host memory only, whether the device has access or not.
                match memory.is_of_host_pool(address) {
                    true => Err(INVALID_VALUE),
                    false => Ok((found.contents, !found.is_on_host)),
                }
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

exported! { driver:
    [3020, per_thread] call cuMemcpyHtoD_v2(to: u64, from: usize, size: usize) {
        Copy { to: End::Device(to), from: End::Host(from), size }.synchronous(driver)?;
    }

    [3020, per_thread] call cuMemcpyDtoH_v2(to: usize, from: u64, size: usize) {
        Copy { to: End::Host(to), from: End::Device(from), size }.synchronous(driver)?;
    }

    [3020, per_thread] call cuMemcpyDtoD_v2(to: u64, from: u64, size: usize) {
        Copy { to: End::Device(to), from: End::Device(from), size }.synchronous(driver)?;
    }

    /// Copies between addresses of any kind.
    [4000, per_thread] call cuMemcpy(to: u64, from: u64, size: usize) {
        Copy { to: End::Any(to), from: End::Any(from), size }.synchronous(driver)?;
    }

    /// Copies between the devices of two contexts, in the order of the default streams of these and of the current one,
    /// without waiting for any.
    [4000, per_thread] call cuMemcpyPeer(
        to: u64,
        to_context: Handle,
        from: u64,
        from_context: Handle,
        size: usize,
    ) {
        capture::refuse_unsafe()?;
        let here = Stream::legacy(stack::current()?);
        let ends = contexts(driver, [to_context, from_context])?.map(Stream::legacy);
        let others = ends.iter().filter(|end| end.context.id != here.context.id);
        for mark in others.clone().flat_map(Stream::tails) {
            here.wait_for(mark)?;
        }
        Copy { to: End::Device(to), from: End::Device(from), size }.synchronous(driver)?;
        for other in others {
            here.queue.tail().into_iter().try_for_each(|mark| other.wait_for(mark))?;
        }
    }

    /// Queues a copy from the host to a device.
    [3020, per_thread] call cuMemcpyHtoDAsync_v2(
        to: u64,
        from: usize,
        size: usize,
        stream: Handle,
    ) {
        stack::await_copy();
        Copy { to: End::Device(to), from: End::Host(from), size }.asynchronous(driver, stream)?;
    }

    /// Queues a copy from a device to the host.
    [3020, per_thread] call cuMemcpyDtoHAsync_v2(
        to: usize,
        from: u64,
        size: usize,
        stream: Handle,
    ) {
        Copy { to: End::Host(to), from: End::Device(from), size }.asynchronous(driver, stream)?;
    }

    [3020, per_thread] call cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, stream: Handle) {
        Copy { to: End::Device(to), from: End::Device(from), size }.asynchronous(driver, stream)?;
    }

    /// Queues a copy between addresses of any kind.
    [4000, per_thread] call cuMemcpyAsync(to: u64, from: u64, size: usize, stream: Handle) {
        Copy { to: End::Any(to), from: End::Any(from), size }.asynchronous(driver, stream)?;
    }

    /// Queues a copy between the devices of two contexts.
    [4000, per_thread] call cuMemcpyPeerAsync(
        to: u64,
        to_context: Handle,
        from: u64,
        from_context: Handle,
        size: usize,
        stream: Handle,
    ) {
        stack::current()?;
        contexts(driver, [to_context, from_context])?;
        Copy { to: End::Device(to), from: End::Device(from), size }.asynchronous(driver, stream)?;
    }
}

/// Checks that contexts are live.  Whether the memory is theirs is not checked, as on hardware,
/// where the addresses decide.
fn contexts(driver: &Driver, ends: [Handle; 2]) -> Result<[&'static Context; 2]> {
    Ok([driver.context(ends[0])?, driver.context(ends[1])?])
}
