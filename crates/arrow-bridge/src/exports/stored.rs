//! Messages whose bodies are on their way to a device, for C++.

use super::batch_copies::{all, store};
use super::context;
use crate::fault::{attempted, done};
use crate::ffi::{BufferPlace, Callback, Failure, HostRange, RustStored, StoredMessage};
use std::ptr;

pub(super) unsafe extern "C" fn message(stored: &RustStored<'_>, number: usize) -> StoredMessage {
    let found = stored.messages.all().get(number);
    let (metadata, (address, size)) = found
        .map_or((ptr::slice_from_raw_parts(ptr::null(), 0), (0, 0)), |message| {
            (ptr::from_ref(message.metadata.as_slice()), message.body)
        });
    let metadata = HostRange { data: metadata.cast(), size: metadata.len() };
    StoredMessage { metadata, address, body_size: size.cast_signed() }
}

pub(super) unsafe extern "C" fn copies(
    stored: &RustStored<'_>,
    device: i32,
    addresses: *const u64,
    sizes: *const u64,
    count: usize,
    out: *mut BufferPlace,
    use_copies: Callback,
) -> Failure {
    let work = || {
        // SAFETY: C++ passes `count` of each.
        let (addresses, sizes) = unsafe { (all(addresses, count), all(sizes, count)) };
        let mut buffers = Vec::with_capacity(count);
        for (address, size) in addresses.iter().zip(sizes) {
            buffers.push(stored.messages.buffer(*address, *size)?);
        }
        stored.copy(&context(device)?, &buffers, |made| {
            // SAFETY: room for as many buffers; C++ has passed the callback for this call.
            let outcome = unsafe {
                store(out, made.to_vec());
                (use_copies.call)(use_copies.called)
            };
            done(outcome)
        })
    };
    attempted(work)
}
