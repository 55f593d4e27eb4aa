//! Messages whose bodies are on their way to a device, for C++.

use super::batch_copies::{all, store};
use crate::fault::done;
use crate::ffi::{
    BufferPlace, Callback, Failure, HostRange, IndexedMessage, RustBodyReader, RustContext,
};
use std::ptr;

exported! {
    answer indexed_message(reader: &RustBodyReader<'_>, number: usize) -> IndexedMessage {
        let found = reader.messages.all().get(number);
        let (metadata, (address, size)) = found
            .map_or((ptr::slice_from_raw_parts(ptr::null(), 0), (0, 0)), |message| {
                (ptr::from_ref(message.metadata.as_slice()), message.body)
            });
        let metadata = HostRange { data: metadata.cast(), size: metadata.len() };
        IndexedMessage { metadata, address, body_size: size.cast_signed() }
    }

    /// As `copies_of_host`, with the bytes of buffers at addresses of bodies that are not read yet.  Threads write to
    /// the copies while `use_copies` takes them.
    attempted copies_of_bodies(
        reader: &RustBodyReader<'_>,
        context: &RustContext,
        addresses: *const u64,
        sizes: *const u64,
        count: usize,
        out: *mut BufferPlace,
        use_copies: Callback,
    ) -> Failure {
        // SAFETY: C++ passes `count` of each.
        let (addresses, sizes) = unsafe { (all(addresses, count), all(sizes, count)) };
        let mut buffers = Vec::with_capacity(count);
        for (address, size) in addresses.iter().zip(sizes) {
            buffers.push(reader.messages.buffer(*address, *size)?);
        }
        reader.copy(context, &buffers, |made| {
            // SAFETY: room for as many buffers; C++ has passed the callback for this call.
            let outcome = unsafe {
                store(out, made.to_vec());
                (use_copies.call)(use_copies.called)
            };
            done(outcome)
        })
    }
}
